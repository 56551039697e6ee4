// Command cgc condenses a labelled graph, trains graph neural networks on the result and tests them on the original.
// Package cli is its body.
package main

import (
	"github.com/graph-condensation/cgc/cli"

	_ "github.com/graph-condensation/cgc/tables" // registers Parquet, SQLite and PostgreSQL
)

func main() { cli.Main() }

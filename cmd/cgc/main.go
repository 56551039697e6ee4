// Command cgc condenses a labelled graph, trains graph neural networks on the result and tests them on the original.
// Package cli implements it.
package main

import (
	"github.com/graph-condensation/cgc/cmd/cgc/cli"

	_ "github.com/graph-condensation/cgc/tables" // registers Parquet, SQLite and PostgreSQL
)

//go:generate go run ./internal/pages ../..

func main() { cli.Main() }

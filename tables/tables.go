// Package tables registers the formats of graphs that are tables: Parquet, SQLite and PostgreSQL.
//
// They bring large libraries with them, so they are a module of their own. A program that imports the library has none
// of them. One that wants them imports this package for its effect:
//
//	import _ "github.com/graph-condensation/cgc/tables"
package tables

import (
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/tables/parquet"
	"github.com/graph-condensation/cgc/tables/postgres"
	"github.com/graph-condensation/cgc/tables/sqlite"
)

func init() {
	format.Register(parquet.Name, parquet.Format{})
	format.Register(sqlite.Name, sqlite.Format{})
	format.Register(postgres.Name, postgres.Format{})
}

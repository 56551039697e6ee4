// Package tables registers the formats of graphs that are tables: Parquet, SQLite and PostgreSQL.
//
// They need large libraries, so they are in a separate module. A program that needs them imports this package for its
// side effect:
//
//	import _ "github.com/graph-condensation/cgc/tables"
package tables

import (
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/tables/internal/parquet"
	"github.com/graph-condensation/cgc/tables/internal/postgres"
	"github.com/graph-condensation/cgc/tables/internal/sqlite"
)

func init() {
	format.Register(parquet.Name, parquet.Format{})
	format.Register(sqlite.Name, sqlite.Format{})
	format.Register(postgres.Name, postgres.Format{})
}

module github.com/graph-condensation/cgc/tables

go 1.26.0

require (
	github.com/graph-condensation/cgc v0.1.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/parquet-go/parquet-go v0.32.0
	modernc.org/sqlite v1.60.0
)

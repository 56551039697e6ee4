// Package sqlite reads graphs from SQLite files.
package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/tables/internal/query"
)

// Name is the name of the format.
const Name = "sqlite"

// magic is the beginning of every SQLite file.
const magic = "SQLite format 3\x00"

// Format reads the tables nodes (id, label, split and features) and edges (source, target and weight) of an SQLite
// file, or the results of two queries, as table.Pair does. Nodes are numbered in the order of their ids.
//
// The file is opened read-only. Nothing in it is executed except the views called nodes and edges, or the views that a
// query uses. They can only read.
type Format struct {
	unlabelled bool // the column of labels may be missing
}

// Unlabelled implements format.Unlabeller.
func (Format) Unlabelled() format.Format { return Format{unlabelled: true} }

// Describe implements format.Format. A file may have any extension.
func (Format) Describe() format.Description {
	return format.Description{
		Title: "SQLite", File: "an SQLite file with the tables nodes and edges",
		Extensions: []string{".sqlite", ".sqlite3", ".db"},
	}
}

// Recognise checks the first bytes of a file.
func (Format) Recognise(path string) format.Certainty {
	f, err := os.Open(path)
	if err != nil {
		return format.No
	}
	defer f.Close()
	var begin [len(magic)]byte
	if _, err := io.ReadFull(f, begin[:]); err != nil || string(begin[:]) != magic {
		return format.No
	}
	return format.Certain
}

// Read reads the tables nodes and edges.
func (f Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	return f.ReadQueries(ctx, path, format.Queries{})
}

// ReadQueries reads the graph that the queries return.
func (f Format) ReadQueries(ctx context.Context, path string, q format.Queries) (*graph.Graph, []string, error) {
	return table.Read(ctx, f, path, q, f.unlabelled)
}

// Tables implements table.Tabular.
func (Format) Tables(
	ctx context.Context, path string, q format.Queries, use func(context.Context, table.Pair) error,
) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: url.Values{
		"mode": {"ro"}, "_pragma": {"query_only(1)", "trusted_schema(0)"},
	}.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return &format.ReadError{File: path, Err: err}
	}
	base := filepath.Base(path)
	return query.Database{DB: db, File: path, Begin: begin, Plain: plain, Missing: missing}.Tables(
		ctx, strings.TrimSuffix(base, filepath.Ext(base)), q, use)
}

// begin begins a transaction.
func begin(ctx context.Context, c *sql.Conn) error {
	const longest = 64 << 20 // bytes of a row: a view can make far longer values than the file holds
	if _, err := sqlite.Limit(c, sqlite3.SQLITE_LIMIT_LENGTH, longest); err != nil {
		return err
	}
	_, err := c.ExecContext(ctx, "begin")
	return err
}

// plain returns an SQLite error without its prefix and error number.
func plain(err error) error {
	text := strings.TrimPrefix(err.Error(), "SQL logic error: ")
	if at := strings.LastIndex(text, " ("); at > 0 && strings.HasSuffix(text, ")") {
		text = text[:at] // the number of the error
	}
	return fmt.Errorf("SQLite says: %s", text)
}

// missing returns an error if there is no table or view called name. It lists the names in the file.
func missing(ctx context.Context, c *sql.Conn, name string) error {
	var all string
	err := c.QueryRowContext(ctx, "select coalesce(group_concat(name, ', '), 'none') from (select name from "+
		"sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\' order by name)").Scan(&all)
	if err != nil || slices.Contains(strings.Split(strings.ToLower(all), ", "), name) {
		return nil
	}
	return fmt.Errorf("there is no such table, the tables are %.200s: select the %s with --%s-sql", all, name, name)
}

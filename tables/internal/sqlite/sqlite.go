// Package sqlite reads graphs from SQLite files.
package sqlite

import (
	"cmp"
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
	d, err := open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer d.close()
	nodes, rows, err := d.table(ctx, "nodes", q.Nodes)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	base := filepath.Base(path)
	p := table.Pair{Name: strings.TrimSuffix(base, filepath.Ext(base)), Nodes: nodes, Sort: true, Unlabelled: f.unlabelled}
	p.Edges = func(ctx context.Context) (table.Table, error) {
		if err := rows.Close(); err != nil {
			return nil, nodes.Fail(-1, err)
		}
		var edges *query.Table
		edges, rows, err = d.table(ctx, "edges", q.Edges)
		return edges, err
	}
	return p.Graph(ctx)
}

// database is an open file.
type database struct {
	path       string
	db         *sql.DB
	connection *sql.Conn
	in         *sql.Tx // used for all reads, so that nodes and edges are consistent
}

// open opens a file for reading.
func open(ctx context.Context, path string) (*database, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: url.Values{
		"mode": {"ro"}, "_pragma": {"query_only(1)", "trusted_schema(0)"},
	}.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, &format.ReadError{File: path, Err: err}
	}
	d := &database{path: path, db: db}
	const longest = 64 << 20 // bytes of a row: a view can make far longer values than the file holds
	if d.connection, err = db.Conn(ctx); err == nil {
		_, err = sqlite.Limit(d.connection, sqlite3.SQLITE_LIMIT_LENGTH, longest)
	}
	if err == nil {
		d.in, err = d.connection.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	}
	if err != nil {
		d.close()
		return nil, &format.ReadError{File: path, Err: plain(err)}
	}
	return d, nil
}

// close closes the file. An open transaction would keep it open.
func (d *database) close() {
	if d.in != nil {
		_ = d.in.Rollback() // nothing was written
	}
	if d.connection != nil {
		d.connection.Close()
	}
	d.db.Close()
}

// plain returns an SQLite error without its prefix and error number.
func plain(err error) error {
	text := strings.TrimPrefix(err.Error(), "SQL logic error: ")
	if at := strings.LastIndex(text, " ("); at > 0 && strings.HasSuffix(text, ")") {
		text = text[:at] // the number of the error
	}
	return fmt.Errorf("SQLite says: %s", text)
}

// table starts the query for a table, or the given query. The caller closes rows.
func (d *database) table(ctx context.Context, name, statement string) (*query.Table, *sql.Rows, error) {
	given := statement != ""
	t, statement := query.New(d.path, name, statement)
	fail := func(err error) (*query.Table, *sql.Rows, error) {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, t.Fail(-1, err)
	}
	rows, err := d.in.QueryContext(ctx, statement)
	if err != nil {
		err = plain(err)
		if !given {
			err = cmp.Or(d.missing(ctx, name), err)
		}
		return fail(err)
	}
	if t.Columns, err = rows.Columns(); err == nil {
		err = t.Check()
	}
	if err != nil {
		rows.Close()
		return fail(err)
	}
	values := make([]any, len(t.Columns))
	places := make([]any, len(values))
	for i := range values {
		places[i] = &values[i]
	}
	read := 0
	t.Next = func(cells []table.Cell) error {
		if !rows.Next() {
			if err := rows.Err(); err != nil && ctx.Err() == nil {
				return t.Fail(read, plain(err))
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return io.EOF
		}
		if err := rows.Scan(places...); err != nil {
			return t.Fail(read, err)
		}
		read++
		for i, v := range values {
			if t.Reads(i) && !set(&cells[i], v) {
				return t.Fail(read-1, fmt.Errorf("column %s holds times, must hold numbers, text or lists of numbers",
					t.Columns[i]))
			}
		}
		return nil
	}
	return t, rows, nil
}

// missing returns an error if there is no table or view called name. It lists the names in the file.
func (d *database) missing(ctx context.Context, name string) error {
	var all string
	err := d.in.QueryRowContext(ctx, "select coalesce(group_concat(name, ', '), 'none') from (select name from "+
		"sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\' order by name)").Scan(&all)
	if err != nil || slices.Contains(strings.Split(strings.ToLower(all), ", "), name) {
		return nil
	}
	return fmt.Errorf("there is no such table, the tables are %.200s: select the %s with --%s-sql", all, name, name)
}

// set sets a cell to a value of the driver. It returns false for a value that graphs do not support.
func set(cell *table.Cell, value any) bool {
	switch v := value.(type) {
	case nil:
		cell.Kind = table.Null
	case int64:
		cell.Kind, cell.Int = table.Int, v
	case float64:
		cell.Kind, cell.Float = table.Float, v
	case string:
		cell.Kind, cell.Text = table.Text, []byte(v)
	case []byte:
		cell.Kind, cell.Text = table.Text, v
	case bool:
		if cell.Kind, cell.Int = table.Int, 0; v {
			cell.Int = 1
		}
	default: // time values, which the driver returns for some declared types
		return false
	}
	return true
}

// Package query reads graphs from databases.
package query

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
)

// Database is what distinguishes one kind of database from another. Everything is read over one connection, in one
// transaction, so that nodes and edges are consistent.
type Database struct {
	*sql.DB
	// File names the database in errors.
	File string
	// Begin begins a transaction that can only read.
	Begin func(ctx context.Context, c *sql.Conn) error
	// Plain returns the text of an error of the driver for people.
	Plain func(err error) error
	// Missing returns an error if there is no table called name, and otherwise nil. It may be nil.
	Missing func(ctx context.Context, c *sql.Conn, name string) error
	// Column returns how values of a type are set if the driver gives their bytes (nil means as text), or what a type that
	// graphs do not support holds. It may be nil.
	Column func(databaseType string) (set Setter, unsupported string)
}

// Setter sets a cell to a value that the driver gives as bytes, which the cell may keep.
type Setter func(raw []byte, cell *table.Cell) error

// Tables calls use with the tables nodes and edges, or with the results of the queries that are not empty, and closes
// the database.
func (d Database) Tables(
	ctx context.Context, name string, q format.Queries, use func(context.Context, table.Pair) error,
) error {
	defer d.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c, err := d.Conn(ctx)
	if err == nil {
		defer c.Close()
		defer stop() // of a query that failed, c.Close would read all rows
		err = d.Begin(ctx, c)
	}
	if err != nil {
		return cmp.Or(ctx.Err(), error(&format.ReadError{File: d.File, Err: d.Plain(err)}))
	}
	nodes, err := d.query(ctx, c, "nodes", q.Nodes)
	if err != nil {
		return err
	}
	p := table.Pair{Name: name, Nodes: nodes, Sort: true}
	p.Edges = func(ctx context.Context) (table.Table, error) {
		nodes.rows.Close() // a connection runs one query at a time
		return d.query(ctx, c, "edges", q.Edges)
	}
	return use(ctx, p)
}

// result is the result of a query. It is read once, by one reader.
type result struct {
	Database
	ctx     context.Context
	title   string // "table NAME" or "the query for NAME"
	rows    *sql.Rows
	header  []string
	columns []column
	values  []any // of the current row
	places  []any // pointers to values
	cells   []table.Cell
	count   int // of the rows that were read
}

// column is how a column is read.
type column struct {
	read        bool
	set         Setter
	unsupported string
}

// query runs a query, or reads all rows of the table called name.
func (d Database) query(ctx context.Context, c *sql.Conn, name, statement string) (*result, error) {
	t := &result{Database: d, ctx: ctx, title: "the query for " + name}
	given := statement != ""
	if !given {
		t.title, statement = "table "+name, "select * from "+name
	}
	var err error
	if t.rows, err = c.QueryContext(ctx, statement); err != nil && !given && d.Missing != nil {
		if missing := d.Missing(ctx, c, name); missing != nil {
			return nil, cmp.Or(ctx.Err(), t.Fail(-1, missing))
		}
	}
	var types []*sql.ColumnType
	if err == nil {
		types, err = t.rows.ColumnTypes()
	}
	if err != nil {
		return nil, t.fail(-1, err)
	}
	if len(types) == 0 {
		return nil, t.Fail(-1, errors.New("it gives no rows, expected a select"))
	}
	count := len(types)
	t.columns, t.values, t.cells = make([]column, count), make([]any, count), make([]table.Cell, count)
	for i, typ := range types {
		if slices.Contains(t.header, typ.Name()) {
			return nil, t.Fail(-1, fmt.Errorf("the column %.50q appears twice", typ.Name()))
		}
		t.header, t.places = append(t.header, typ.Name()), append(t.places, &t.values[i])
		if d.Column != nil {
			t.columns[i].set, t.columns[i].unsupported = d.Column(typ.DatabaseTypeName())
		}
	}
	return t, nil
}

// Name returns the name of the table in messages.
func (t *result) Name() string { return t.title }

// File names the table in errors.
func (t *result) File() string { return t.Database.File + ", " + t.title }

// Header returns the names of the columns.
func (t *result) Header() []string { return t.header }

// Place names a row by its number, counted from 1.
func (t *result) Place(row int) string { return fmt.Sprintf("row %d", row+1) }

// Fail returns an error about a row, or about the table if row is −1.
func (t *result) Fail(row int, err error) error {
	if row >= 0 {
		err = fmt.Errorf("%s: %w", t.Place(row), err)
	}
	return &format.ReadError{File: t.File(), Err: err}
}

// fail is Fail for an error of the driver.
func (t *result) fail(row int, err error) error {
	return cmp.Or(t.ctx.Err(), t.Fail(row, t.Plain(err)))
}

// holds returns an error about a column that holds values that graphs do not support.
func (t *result) holds(row, column int, what string) error {
	const text = "column %s holds %s, must hold numbers, text or lists of numbers"
	return t.Fail(row, fmt.Errorf(text, t.header[column], what))
}

// Bytes returns 0: no file is read.
func (t *result) Bytes() int64 { return 0 }

// Most returns 0: the number of rows is unknown until the last one is read.
func (t *result) Most() (int64, error) { return 0, nil }

// Runs calls use once, with a reader of all rows. A second call reads nothing.
func (t *result) Runs(ctx context.Context, columns []int, use func(run int, r table.Rows) error) error {
	for i := range t.columns {
		c := &t.columns[i]
		if c.read = columns == nil || slices.Contains(columns, i); c.read && c.unsupported != "" {
			return t.holds(-1, i, c.unsupported)
		}
	}
	t.ctx = ctx
	return use(0, t)
}

// At returns the number of the last row that was read, counted from 0.
func (t *result) At() int { return t.count - 1 }

// About returns a guess at the number of rows, which is unknown until the last one is read.
func (t *result) About() int { return 1024 }

// Read reads a row. It returns io.EOF after the last one.
func (t *result) Read() ([]table.Cell, error) {
	if !t.rows.Next() {
		if err := cmp.Or(t.ctx.Err(), t.rows.Err()); err != nil {
			return nil, t.fail(t.count, err)
		}
		return nil, io.EOF
	}
	if err := t.rows.Scan(t.places...); err != nil {
		return nil, t.fail(t.count, err)
	}
	t.count++
	for i, value := range t.values {
		if !t.columns[i].read {
			continue
		}
		cell := &t.cells[i]
		switch v := value.(type) {
		case nil:
			cell.Kind = table.Null
		case int64:
			cell.Kind, cell.Int = table.Int, v
		case float64:
			cell.Kind, cell.Float = table.Float, v
		case string:
			cell.Kind, cell.Text = table.Text, []byte(v)
		case bool:
			if cell.Kind, cell.Int = table.Int, 0; v {
				cell.Int = 1
			}
		case []byte:
			if set := t.columns[i].set; set == nil {
				cell.Kind, cell.Text = table.Text, v
			} else if err := set(v, cell); err != nil {
				return nil, t.Fail(t.count-1, fmt.Errorf("column %s: %w", t.header[i], err))
			}
		default: // time values, which the driver of SQLite returns for some declared types
			return nil, t.holds(t.count-1, i, "times")
		}
	}
	return t.cells, nil
}

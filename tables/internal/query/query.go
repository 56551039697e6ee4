// Package query presents the result of a database query as a table.
package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
)

// Table is the result of a query. It is read once, by one reader.
type Table struct {
	// Source names the database in errors.
	Source string
	// Title names the table or the query in messages: "table NAME" or "the query for NAME".
	Title string
	// Columns are the names of the columns.
	Columns []string
	// Next sets the cells of the next row, or returns io.EOF.
	Next func(cells []table.Cell) error

	only []int // the columns that are read; nil means all
}

// New returns a result without rows, and its query. An empty query means all rows of the table called name.
func New(source, name, query string) (t *Table, statement string) {
	if query == "" {
		return &Table{Source: source, Title: "table " + name}, "select * from " + name
	}
	return &Table{Source: source, Title: "the query for " + name}, query
}

// Check returns an error if two columns have the same name.
func (t *Table) Check() error {
	for i, name := range t.Columns {
		if slices.Contains(t.Columns[:i], name) {
			return t.Fail(-1, fmt.Errorf("the column %.50q appears twice", name))
		}
	}
	return nil
}

// Name returns the name of the table in messages.
func (t *Table) Name() string { return t.Title }

// File names the table in errors.
func (t *Table) File() string { return t.Source + ", " + t.Title }

// Header returns the names of the columns.
func (t *Table) Header() []string { return t.Columns }

// Place names a row by its number, counted from 1.
func (t *Table) Place(row int) string { return fmt.Sprintf("row %d", row+1) }

// Fail returns an error about a row, or about the table if row is −1.
func (t *Table) Fail(row int, err error) error {
	if row >= 0 {
		err = fmt.Errorf("%s: %w", t.Place(row), err)
	}
	return &format.ReadError{File: t.File(), Err: err}
}

// Bytes returns 0: no file is read.
func (t *Table) Bytes() int64 { return 0 }

// Most returns 0: the number of rows is unknown until the last one is read.
func (t *Table) Most() (int64, error) { return 0, nil }

// Reads reports whether Next must set the cell of column i.
func (t *Table) Reads(i int) bool { return t.only == nil || slices.Contains(t.only, i) }

// Runs calls use once, with a reader of all rows. A second call reads nothing.
func (t *Table) Runs(ctx context.Context, columns []int, use func(run int, r table.Rows) error) error {
	t.only = columns
	return use(0, &rows{Table: t, ctx: ctx, cells: make([]table.Cell, len(t.Columns))})
}

// rows reads the result.
type rows struct {
	*Table
	ctx   context.Context
	cells []table.Cell
	read  int
}

// At returns the number of the last row that was read, counted from 0.
func (r *rows) At() int { return r.read - 1 }

// About returns a guess at the number of rows, which is unknown until the last one is read.
func (r *rows) About() int { return 1024 }

// Read reads a row. It returns io.EOF after the last one.
func (r *rows) Read() ([]table.Cell, error) {
	if r.read&0xfff == 0 && r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	r.read++
	return r.cells, r.Next(r.cells)
}

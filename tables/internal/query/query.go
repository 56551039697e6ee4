// Package query makes a table of what a database answers.
package query

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
)

// Table is the answer to a query. It is read once, by one reader.
type Table struct {
	// Source stands for the database in errors.
	Source string
	// Title says what was asked: Title returns it.
	Title string
	// Columns are the names of the columns.
	Columns []string
	// Next sets the cells of the next row, or returns io.EOF.
	Next func(cells []table.Cell) error
}

// Title returns how sentences call the answer: the table of that name, unless there is a query.
func Title(name, query string) string {
	if query == "" {
		return "table " + name
	}
	return "the query for " + name
}

// Check returns an error if two columns have one name.
func (t *Table) Check() error {
	for i, name := range t.Columns {
		if slices.Contains(t.Columns[:i], name) {
			return t.Fail(-1, fmt.Errorf("there is the column %.50q twice", name))
		}
	}
	return nil
}

// Name returns how the table of edges calls the table of nodes.
func (t *Table) Name() string { return t.Title }

// File returns what stands for the table in errors.
func (t *Table) File() string { return t.Source + ", " + t.Title }

// Header returns the names of the columns.
func (t *Table) Header() []string { return t.Columns }

// Place says which row of the answer one is, from 1.
func (t *Table) Place(row int) string { return fmt.Sprintf("row %d", row+1) }

// Fail returns an error about a row, or about the table if row is −1.
func (t *Table) Fail(row int, err error) error {
	if row >= 0 {
		err = fmt.Errorf("%s: %w", t.Place(row), err)
	}
	return &format.ReadError{File: t.File(), Err: err}
}

// Parts returns the one reader.
func (t *Table) Parts(ctx context.Context) ([]table.Rows, error) {
	return []table.Rows{&rows{Table: t, ctx: ctx, cells: make([]table.Cell, len(t.Columns))}}, nil
}

// rows reads the answer.
type rows struct {
	*Table
	ctx   context.Context
	cells []table.Cell
	read  int
}

// At returns the number of the last row that was read, from 0.
func (r *rows) At() int { return r.read - 1 }

// About returns a guess at the number of rows, which a query does not tell before its end.
func (r *rows) About() int { return 1024 }

// Read reads a row. It returns io.EOF after the last one.
func (r *rows) Read() ([]table.Cell, error) {
	if r.read&0xfff == 0 && r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	err := r.Next(r.cells)
	r.read++
	var wrong *Wrong
	if errors.As(err, &wrong) {
		err = r.Fail(r.At(), wrong)
	}
	return r.cells, err
}

// Wrong is an error of Next about the row: it has a value that no graph has.
type Wrong struct {
	// Column is the name of the column, and Value what it holds.
	Column, Value string
}

// Error names the column and what it holds.
func (e *Wrong) Error() string {
	return fmt.Sprintf("column %s holds %s, want numbers, text or lists of numbers", e.Column, e.Value)
}

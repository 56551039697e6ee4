package parquet

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format/table"
)

// rows reads a row group.
type rows struct {
	ctx     context.Context
	table   *parts
	file    *file
	group   int       // its number in the file
	at      int       // the next row of the table
	left    int       // the number of rows that are not read yet
	only    []int     // the columns that are read; nil means all
	columns []*column // nil where a column is not read
	cells   []table.Cell
}

// At returns the number of the last row that was read, counted from 0.
func (r *rows) At() int { return r.at - 1 }

// Fail adds the file and the row to an error.
func (r *rows) Fail(row int, err error) error { return r.table.Fail(row, err) }

// About returns the number of rows that are not read yet.
func (r *rows) About() int { return r.left }

// Read reads a row of all columns.
func (r *rows) Read() ([]table.Cell, error) {
	if r.left == 0 {
		r.release()
		return nil, io.EOF
	}
	if r.columns == nil {
		if err := r.open(); err != nil {
			return nil, err
		}
	}
	if r.left&0xfff == 0 && r.ctx.Err() != nil { // a row may hold thousands of features
		return nil, r.ctx.Err()
	}
	for i, c := range r.columns {
		if c == nil {
			r.cells[i].Kind = table.Null
			continue
		}
		if err := c.read(&r.cells[i]); err != nil {
			if err == io.EOF {
				rows := r.file.content.RowGroups()[r.group].NumRows()
				err = fmt.Errorf("the column ends before it, and the row group has %d rows", rows)
			}
			return nil, r.table.Fail(r.at, fmt.Errorf("column %s: %w", r.table.header[i], err))
		}
	}
	r.at, r.left = r.at+1, r.left-1
	return r.cells, nil
}

// release releases the memory of pages.
func (r *rows) release() {
	for _, c := range r.columns {
		if c != nil {
			c.release()
		}
	}
}

// open begins to read.
func (r *rows) open() error {
	return safely(func() error {
		r.cells = make([]table.Cell, len(r.file.columns))
		for i := range r.file.columns {
			if r.only != nil && !slices.Contains(r.only, i) {
				r.columns = append(r.columns, nil)
				continue
			}
			c, err := r.file.newColumn(i)
			if err != nil {
				return failed(r.file.path, fmt.Errorf("column %s %w", r.table.header[i], err))
			}
			if c.pages, err = r.file.pages(r.group, c.leaf); err != nil {
				return failed(r.file.path, fmt.Errorf("column %s: %w", r.table.header[i], err))
			}
			r.columns = append(r.columns, c)
		}
		return nil
	})
}

package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"

	pq "github.com/parquet-go/parquet-go"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
)

// ReadMetadata reads the end of nodes.parquet.
func (Format) ReadMetadata(_ context.Context, path string) (map[string]string, error) {
	nodes, err := openTable(path, nodesFile)
	if err != nil {
		return nil, err
	}
	defer nodes.close()
	return nodes.metadata(), nil
}

// ReadTables reads a folder as tables of int64, float32, strings, and lists of these. The metadata is in nodes.parquet.
func (Format) ReadTables(ctx context.Context, path string) (*format.Tables, error) {
	t := &format.Tables{}
	for _, part := range []struct {
		name string
		to   *format.Table
	}{{nodesFile, &t.Nodes}, {edgesFile, &t.Edges}} {
		p, err := openTable(path, part.name)
		if err != nil {
			return nil, err
		}
		if part.name == nodesFile {
			t.Metadata = p.metadata()
		}
		*part.to, err = p.all(ctx)
		p.close()
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// all returns the complete table.
func (t *parts) all(ctx context.Context) (whole format.Table, err error) {
	for _, f := range t.files {
		whole.Rows += int(f.content.NumRows())
	}
	for i, name := range t.header {
		var v values
		for _, f := range t.files {
			for group := range f.content.RowGroups() {
				if err := ctx.Err(); err != nil {
					return whole, err
				}
				if err := safely(func() error { return v.add(f, i, group) }); err != nil {
					return whole, failed(f.path, fmt.Errorf("column %s %w", name, err))
				}
			}
		}
		whole.Columns = append(whole.Columns, v.column(name))
	}
	return whole, nil
}

// values are the values of a column, all of one type.
type values struct {
	kind    table.Kind // Null before the first row group
	texts   []string
	wholes  []int64
	reals   []float32
	list    bool
	offsets []int64 // the index at which the list of each row begins
}

// count returns the number of values.
func (v *values) count() int { return len(v.texts) + len(v.wholes) + len(v.reals) }

// add adds the values of a column of a row group.
func (v *values) add(f *file, i, number int) error {
	c, err := f.newColumn(i)
	if err != nil {
		return err
	}
	group := f.content.RowGroups()[number]
	kind := table.Int
	switch group.ColumnChunks()[c.leaf].Type().Kind() {
	case pq.ByteArray, pq.FixedLenByteArray:
		kind = table.Text
	case pq.Float, pq.Double:
		kind = table.Float
	}
	if v.kind != table.Null && (v.kind != kind || v.list != c.list) {
		return errors.New("has another type in another file of the table")
	}
	v.kind, v.list = kind, c.list
	if c.pages, err = f.pages(number, c.leaf); err != nil {
		return err
	}
	defer c.pages.Close()
	for row := int64(0); ; {
		err := c.next()
		switch {
		case err == io.EOF && row == group.NumRows():
			return nil
		case err == io.EOF:
			return fmt.Errorf("has %d rows in a row group of %d", row, group.NumRows())
		case err != nil:
			return err
		}
		value := &c.held[0]
		c.held = c.held[1:]
		if value.RepetitionLevel() == 0 {
			v.offsets = append(v.offsets, int64(v.count()))
			row++
		}
		if err := v.take(c, value); err != nil {
			return fmt.Errorf("has in row %d of a row group %w", row, err)
		}
	}
}

// take adds a value of column c, which may be an element of a list.
func (v *values) take(c *column, value *pq.Value) error {
	var cell table.Cell
	switch {
	case !value.IsNull():
		c.set(value, &cell)
	case c.list && value.DefinitionLevel() != c.element:
		return nil // an empty list
	case v.kind != table.Text:
		return errors.New("null, must be a number")
	default:
		cell.Kind = table.Text
	}
	if cell.Kind != v.kind {
		return fmt.Errorf("%s, must be numbers or text", &cell)
	}
	switch v.kind {
	case table.Text:
		v.texts = append(v.texts, string(cell.Text))
	case table.Int:
		v.wholes = append(v.wholes, cell.Int)
	default:
		v.reals = append(v.reals, float32(cell.Float))
	}
	return nil
}

// column returns the values as a column with the given name.
func (v *values) column(name string) format.Column {
	c := format.Column{Name: name, Data: v.texts}
	switch v.kind {
	case table.Int:
		c.Data = v.wholes
	case table.Float:
		c.Data = v.reals
	}
	if v.list {
		c.Offsets = append(v.offsets, int64(v.count()))
	}
	return c
}

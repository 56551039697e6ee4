package format

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Tables holds a graph as a table of nodes and a table of edges, and strings that describe the graph.
type Tables struct {
	// Metadata maps keys to strings. The key "format" names the kind of content.
	Metadata map[string]string
	// Nodes has a row for each node, and the column id.
	Nodes Table
	// Edges has a row for each undirected edge, and the columns source and target, which hold ids. Source is the lower
	// node. Both returns a table with both directions. Readers accept edges in one direction or both.
	Edges Table
}

// Table consists of named columns, each with one cell per row.
type Table struct {
	Rows    int
	Columns []Column
}

// Column is a column of a table. A cell holds one value, or Width values, or a list of any length.
type Column struct {
	Name string
	// Width is the number of values of each cell; 0 for a single value.
	Width int
	// Offsets, if not nil, says that a cell holds a list. The list of row i is Data[Offsets[i]:Offsets[i+1]].
	Offsets []int64
	// Data holds the values of all rows, in order: []float32, []int64, []int32 or []string, or a mat.Matrix of Width
	// columns (see Table.Blocks).
	Data any
	// Dictionary, if not nil, lists the strings that the values encode: v means Dictionary[v], and −1 means an empty cell.
	// Data is then []int32.
	Dictionary []string
}

// Check returns an error if t has no nodes, or if a column does not have one cell per row. Columns must be slices.
func (t *Tables) Check() error {
	if t.Nodes.Rows == 0 {
		return errors.New("the table of nodes is empty, must have at least 1 row")
	}
	for part, table := range []*Table{&t.Nodes, &t.Edges} {
		for _, c := range table.Columns {
			if !c.fits(table.Rows) {
				return fmt.Errorf("%s: column %s does not have a cell for each of %d rows",
					[]string{"nodes", "edges"}[part], c.Name, table.Rows)
			}
		}
	}
	return nil
}

// fits reports whether c has one cell per row.
func (c *Column) fits(rows int) bool {
	n := int64(length(c.Data))
	if c.Offsets == nil {
		return n == int64(rows)*int64(max(1, c.Width))
	}
	return len(c.Offsets) == rows+1 && slices.IsSorted(c.Offsets) && c.Offsets[0] == 0 && c.Offsets[rows] == n
}

// length returns the number of elements of a slice, or −1 for other data.
func length(data any) int {
	if v := reflect.ValueOf(data); v.Kind() == reflect.Slice {
		return v.Len()
	}
	return -1
}

// Find returns the column of that name, or nil.
func (t *Table) Find(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// Blocks yields blocks of consecutive rows, as tables whose data are slices: a mat.Matrix is read in blocks. A block is
// valid until the next one. An error ends the sequence.
func (t *Table) Blocks() iter.Seq2[*Table, error] {
	const values = 1 << 20 // in a block, and at most 4096 rows
	return func(yield func(*Table, error) bool) {
		width := 1
		for _, c := range t.Columns {
			width = max(width, c.Width)
		}
		step := max(1, min(4096, values/width))
		read := make([]mat.Dense, len(t.Columns))
		for lo := 0; lo < t.Rows; lo += step {
			hi := min(lo+step, t.Rows)
			block := &Table{Rows: hi - lo}
			for k, c := range t.Columns {
				if x, is := c.Data.(mat.Matrix); is {
					if err := mat.Read(&read[k], x, memory.Range(lo, hi), 0, c.Width); err != nil {
						yield(nil, err)
						return
					}
					c.Data = read[k].Data
				} else {
					c = c.slice(lo, hi)
				}
				block.Columns = append(block.Columns, c)
			}
			if !yield(block, nil) {
				return
			}
		}
	}
}

// slice returns rows lo to hi−1 of a column whose data are a slice.
func (c Column) slice(lo, hi int) Column {
	from, _ := c.Range(lo)
	_, to := c.Range(hi - 1)
	if c.Offsets != nil {
		offsets := make([]int64, 0, hi-lo+1)
		for _, o := range c.Offsets[lo : hi+1] {
			offsets = append(offsets, o-c.Offsets[lo])
		}
		c.Offsets = offsets
	}
	c.Data = reflect.ValueOf(c.Data).Slice(from, to).Interface()
	return c
}

// IsList reports whether a cell holds several values.
func (c *Column) IsList() bool { return c.Width > 0 || c.Offsets != nil }

// Range returns the values of row i: Data[from:to].
func (c *Column) Range(i int) (from, to int) {
	switch {
	case c.Offsets != nil:
		return int(c.Offsets[i]), int(c.Offsets[i+1])
	case c.Width > 0:
		return i * c.Width, (i + 1) * c.Width
	}
	return i, i + 1
}

// Text returns the cell of row i as a string: a number in its shortest form, a string unchanged, several values as a
// JSON list. Scalars and Lists parse such text. Data must be a slice, as in Blocks.
func (c *Column) Text(i int) string {
	from, to := c.Range(i)
	if !c.IsList() {
		return c.value(from)
	}
	text := []byte{'['}
	_, quoted := c.Data.([]string)
	for k := from; k < to; k++ {
		if k > from {
			text = append(text, ',')
		}
		if v := c.value(k); quoted || c.Dictionary != nil {
			word, _ := json.Marshal(v) // marshalling a string cannot fail
			text = append(text, word...)
		} else {
			text = append(text, v...)
		}
	}
	return string(append(text, ']'))
}

// value returns value k as text.
func (c *Column) value(k int) string {
	switch data := c.Data.(type) {
	case []float32:
		return strconv.FormatFloat(float64(data[k]), 'g', -1, 32)
	case []int64:
		return strconv.FormatInt(data[k], 10)
	case []string:
		return data[k]
	case []int32:
		switch {
		case c.Dictionary == nil:
			return strconv.FormatInt(int64(data[k]), 10)
		case data[k] < 0:
			return ""
		}
		return c.Dictionary[data[k]]
	}
	return ""
}

// Gather replaces the columns name0, name1, … of t with one column called name, for stores without lists of values.
// Without name0 it does nothing. An error names a value that is not a number.
func (t *Table) Gather(name string) error {
	var parts [][]float32
	for {
		c := t.Find(name + strconv.Itoa(len(parts)))
		if c == nil {
			break
		}
		part, err := Scalars[float32](c)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return nil
	}
	data := memory.Make[float32](t.Rows * len(parts))[:0]
	for i := range t.Rows {
		for _, part := range parts {
			data = append(data, part[i])
		}
	}
	gathered := Column{Name: name, Width: len(parts), Data: data}
	at := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name+"0" })
	t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool {
		number, is := strings.CutPrefix(c.Name, name)
		j, err := strconv.Atoi(number)
		return is && err == nil && j < len(parts) && strconv.Itoa(j) == number
	})
	t.Columns = slices.Insert(t.Columns, min(at, len(t.Columns)), gathered)
	return nil
}

// Value lists the Go types for the values of a column.
type Value interface{ int64 | float32 | string }

// Scalars returns the value of each cell of a column from ReadTables. Text is parsed. An error names the row.
func Scalars[V Value](c *Column) ([]V, error) {
	if c.IsList() {
		return nil, fmt.Errorf("column %s holds lists, expected one value in each row", c.Name)
	}
	return valuesOf[V](c)
}

// Lists returns the lists of a column from ReadTables: row i has values[offsets[i]:offsets[i+1]]. Text is parsed as
// JSON. An error names the row.
func Lists[V Value](c *Column) (offsets []int64, values []V, err error) {
	text, isText := c.Data.([]string)
	if isText && !c.IsList() {
		offsets, values = make([]int64, 1, len(text)+1), []V{}
		for i, cell := range text {
			var list []V
			if json.Unmarshal([]byte(cell), &list) != nil {
				return nil, nil, fmt.Errorf("column %s: row %d is %.40q, must be a JSON list", c.Name, i, cell)
			}
			values = append(values, list...)
			offsets = append(offsets, int64(len(values)))
		}
		return offsets, values, nil
	}
	if !c.IsList() {
		return nil, nil, fmt.Errorf("column %s holds one value in each row, must hold lists", c.Name)
	}
	if values, err = valuesOf[V](c); err != nil {
		return nil, nil, err
	}
	if offsets = c.Offsets; offsets == nil {
		for at := 0; at <= len(values); at += c.Width {
			offsets = append(offsets, int64(at))
		}
	}
	return offsets, values, nil
}

// valuesOf returns all values of a column, converted to V by way of their text. It returns Data itself if its type is
// []V.
func valuesOf[V Value](c *Column) ([]V, error) {
	if same, ok := c.Data.([]V); ok {
		return same, nil
	}
	n := length(c.Data)
	if n < 0 {
		return nil, fmt.Errorf("column %s holds a %T, must hold values", c.Name, c.Data)
	}
	values := make([]V, n)
	for i := range values {
		var err error
		switch v := any(&values[i]).(type) {
		case *string:
			*v = c.value(i)
		case *int64:
			*v, err = strconv.ParseInt(c.value(i), 10, 64)
		case *float32:
			var wide float64
			wide, err = strconv.ParseFloat(c.value(i), 32)
			*v = float32(wide)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: row %d is %.40q, must be a number", c.Name, i, c.value(i))
		}
	}
	return values, nil
}

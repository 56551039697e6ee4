package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"

	pq "github.com/parquet-go/parquet-go"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/internal/kernel"
)

// column reads a column of a row group.
type column struct {
	leaf int // its index among the leaf columns
	list bool
	// most is the definition level of a value, and element is the level of a null in a list, or −1.
	most, element int
	set           func(v *pq.Value, cell *table.Cell) // sets a cell to a value that is not null
	keeps         bool                                // whether cells refer to the memory of a page

	pages  pq.Pages
	page   pq.Page
	values pq.ValueReader
	buffer [256]pq.Value
	held   []pq.Value // values that were read but not used yet
}

// newColumn returns a reader for the type of column i. It is an error if graphs do not support that type.
func (f *file) newColumn(i int) (*column, error) {
	leaf := f.columns[i]
	for !leaf.Leaf() {
		if len(leaf.Columns()) != 1 {
			return nil, errors.New("holds records, must hold numbers, text or lists of numbers")
		}
		leaf = leaf.Columns()[0]
	}
	c := &column{leaf: leaf.Index(), most: leaf.MaxDefinitionLevel(), element: -1, list: leaf.MaxRepetitionLevel() > 0}
	if leaf.MaxRepetitionLevel() > 1 {
		return nil, errors.New("holds lists of lists, must hold numbers, text or lists of numbers")
	}
	if c.list && leaf.Optional() {
		c.element = c.most - 1
	}
	if leaf.Type().Kind() == pq.FixedLenByteArray && f.isHalf(c.leaf) {
		c.set = half
		return c, nil
	}
	var err error
	c.set, c.keeps, err = setter(leaf.Type())
	return c, err
}

// isHalf reports whether a column holds 16-bit floats, which the library returns only as bytes.
func (f *file) isHalf(leaf int) bool {
	for _, e := range f.content.Metadata().Schema {
		if e.Type.Valid { // not a group
			if leaf == 0 {
				_, is := e.LogicalType.Value.(*pqformat.Float16Type)
				return is && e.TypeLength.V == 2
			}
			leaf--
		}
	}
	return false
}

// release releases the memory of the page, unless cells refer to it.
func (c *column) release() {
	if c.page != nil && !c.keeps {
		pq.Release(c.page)
	}
	c.page = nil
}

// next makes the next value the first of held. It returns io.EOF after the last.
func (c *column) next() error {
	if len(c.held) > 0 {
		return nil
	}
	return safely(func() error {
		for {
			if c.page == nil {
				page, err := c.pages.ReadPage()
				if err != nil {
					return err
				}
				c.page, c.values = page, page.Values()
			}
			n, err := c.values.ReadValues(c.buffer[:])
			if c.held = c.buffer[:n]; n > 0 {
				return nil
			}
			if err != nil && err != io.EOF {
				return err
			}
			c.release()
		}
	})
}

// read sets cell to the next value, or to the next list of values.
func (c *column) read(cell *table.Cell) error {
	if err := c.next(); err != nil {
		return err
	}
	v := &c.held[0]
	c.held = c.held[1:]
	if !c.list {
		if cell.Kind = table.Null; !v.IsNull() {
			c.set(v, cell)
		}
		return nil
	}
	if v.RepetitionLevel() != 0 {
		return errors.New("the file is damaged: a list without a beginning")
	}
	if cell.Kind = table.List; v.DefinitionLevel() == 0 && c.most > 1 {
		cell.Kind = table.Null
	}
	cell.List = cell.List[:0]
	for {
		switch level := v.DefinitionLevel(); level {
		case c.most:
			var element table.Cell
			c.set(v, &element)
			number := float32(element.Float)
			if element.Kind == table.Int {
				number = float32(element.Int)
			}
			cell.List = append(cell.List, number)
		case c.element:
			cell.List = append(cell.List, float32(math.NaN()))
		}
		err := c.next()
		if err == io.EOF || err == nil && c.held[0].RepetitionLevel() == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		v = &c.held[0]
		c.held = c.held[1:]
	}
}

// setter returns a function that sets a cell to a value of a type, and whether the cell then refers to memory of the
// page.
func setter(t pq.Type) (set func(v *pq.Value, cell *table.Cell), keeps bool, err error) {
	var logical pqformat.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	wrong := func(what string) error {
		return fmt.Errorf("holds %s, must hold numbers, text or lists of numbers", what)
	}
	switch logical := logical.(type) {
	case *pqformat.DecimalType:
		return decimal(t.Kind(), logical.Scale), false, nil
	case *pqformat.DateType, *pqformat.TimeType, *pqformat.TimestampType:
		return nil, false, wrong("times")
	case *pqformat.UUIDType:
		return func(v *pq.Value, cell *table.Cell) {
			b := v.ByteArray()
			cell.Kind = table.Text
			cell.Text = fmt.Appendf(nil, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}, false, nil
	case *pqformat.NullType: // a column without values
		return func(*pq.Value, *table.Cell) {}, false, nil
	case *pqformat.IntType:
		if !logical.IsSigned {
			return unsigned(t.Kind()), false, nil
		}
	}
	switch t.Kind() {
	case pq.Boolean:
		return func(v *pq.Value, cell *table.Cell) {
			cell.Kind, cell.Int = table.Int, 0
			if v.Boolean() {
				cell.Int = 1
			}
		}, false, nil
	case pq.Int32:
		return func(v *pq.Value, cell *table.Cell) { cell.Kind, cell.Int = table.Int, int64(v.Int32()) }, false, nil
	case pq.Int64:
		return func(v *pq.Value, cell *table.Cell) { cell.Kind, cell.Int = table.Int, v.Int64() }, false, nil
	case pq.Float:
		return func(v *pq.Value, cell *table.Cell) { cell.Kind, cell.Float = table.Float, float64(v.Float()) }, false, nil
	case pq.Double:
		return func(v *pq.Value, cell *table.Cell) { cell.Kind, cell.Float = table.Float, v.Double() }, false, nil
	case pq.ByteArray:
		return func(v *pq.Value, cell *table.Cell) { cell.Kind, cell.Text = table.Text, v.ByteArray() }, true, nil
	case pq.Int96:
		return nil, false, wrong("times")
	}
	return nil, false, wrong("bytes")
}

// half sets a cell to a float16 number.
func half(v *pq.Value, cell *table.Cell) {
	var number [1]float32
	kernel.WidenFloat16(number[:], []uint16{binary.LittleEndian.Uint16(v.ByteArray())})
	cell.Kind, cell.Float = table.Float, float64(number[0])
}

// unsigned returns a setter for unsigned integers.
func unsigned(kind pq.Kind) func(v *pq.Value, cell *table.Cell) {
	return func(v *pq.Value, cell *table.Cell) {
		cell.Kind = table.Int
		if kind == pq.Int32 {
			cell.Int = int64(v.Uint32())
			return
		}
		if cell.Int = int64(v.Uint64()); cell.Int < 0 {
			cell.Kind, cell.Text = table.Text, strconv.AppendUint(nil, v.Uint64(), 10)
		}
	}
}

// decimal returns a setter for numbers that are stored as integers times 10^−scale.
func decimal(kind pq.Kind, scale int32) func(v *pq.Value, cell *table.Cell) {
	power := math.Pow10(int(scale))
	return func(v *pq.Value, cell *table.Cell) {
		cell.Kind = table.Float
		switch kind {
		case pq.Int32:
			cell.Float = float64(v.Int32()) / power
		case pq.Int64:
			cell.Float = float64(v.Int64()) / power
		default: // the bytes of an integer, big-endian
			b := v.ByteArray()
			whole := new(big.Int).SetBytes(b)
			if len(b) > 0 && b[0] >= 0x80 {
				whole.Sub(whole, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
			n, _ := new(big.Float).SetInt(whole).Float64()
			cell.Float = n / power
		}
	}
}

package table

import (
	"fmt"
	"math"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
)

// Kind says what a cell holds.
type Kind uint8

// The kinds of cells.
const (
	// Null: nothing.
	Null Kind = iota
	// Text: bytes, which may be the text of a number.
	Text
	// Int: a whole number. A truth value is 0 or 1.
	Int
	// Float: a number.
	Float
	// List: numbers. Null elements are NaN.
	List
)

// Cell is the value in one column of a row. The field that Kind names holds it.
type Cell struct {
	Kind  Kind
	Text  []byte
	Int   int64
	Float float64
	List  []float32
}

// exact bounds the whole numbers that every float64 holds.
const exact = 1 << 53

// String returns the value as errors show it.
func (c *Cell) String() string {
	switch c.Kind {
	case Text:
		return fmt.Sprintf("%.50q", c.Text)
	case Int:
		return strconv.FormatInt(c.Int, 10)
	case Float:
		return strconv.FormatFloat(c.Float, 'g', -1, 64)
	case List:
		return fmt.Sprintf("a list of %d numbers", len(c.List))
	}
	return "null"
}

// text returns the value as a name: text as it is, a whole number by its digits. A new one is appended to arena. ok is
// false for a list and for a number with a fraction. Null and NaN are the empty name.
func (c *Cell) text(arena []byte) (name, grown []byte, ok bool) {
	from := len(arena)
	switch {
	case c.Kind == Text:
		return c.Text, arena, true
	case c.Kind == Int:
		arena = strconv.AppendInt(arena, c.Int, 10)
		return arena[from:], arena, true
	case c.Kind == Float && c.Float == math.Trunc(c.Float) && math.Abs(c.Float) < exact:
		arena = strconv.AppendInt(arena, int64(c.Float), 10)
		return arena[from:], arena, true
	}
	return nil, arena, c.Kind == Null || c.Kind == Float && math.IsNaN(c.Float)
}

// number returns the value as a number. ok is false if it is none, or not finite.
func (c *Cell) number() (v float32, ok bool) {
	switch c.Kind {
	case Text:
		var err error
		if v, err = decimal.Float(c.Text); err != nil {
			return 0, false
		}
	case Int:
		v = float32(c.Int)
	case Float:
		v = float32(c.Float)
	default:
		return 0, false
	}
	return v, finite(v)
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float32) bool { return v-v == 0 }

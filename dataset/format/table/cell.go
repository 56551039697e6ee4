package table

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/internal/content"
)

// Kind is the kind of value in a cell.
type Kind uint8

// The kinds of cells.
const (
	// Null: no value.
	Null Kind = iota
	// Text: bytes, which may be the text of a number.
	Text
	// Int: an integer. A boolean is 0 or 1.
	Int
	// Float: a number.
	Float
	// List: numbers. Null elements are NaN.
	List
)

// Cell is the value in one column of a row, in the field that Kind names.
type Cell struct {
	Kind  Kind
	Text  []byte
	Int   int64
	Float float64
	List  []float32
}

// exact is the bound below which float64 represents all integers.
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

// text returns the value as a name: text unchanged, an integer by its digits, which are appended to arena. ok is false
// for a list and for a number with a fraction. Null and NaN are the empty name.
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

// number returns the value as a number: the text true is 1 and false is 0, in any case. ok is false if it is not a
// finite number.
func (c *Cell) number() (v float32, ok bool) {
	switch c.Kind {
	case Text:
		var err error
		if v, err = content.Float(c.Text); err != nil {
			if bytes.EqualFold(c.Text, []byte("true")) {
				return 1, true
			}
			return 0, bytes.EqualFold(c.Text, []byte("false"))
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

// decimalComma matches a number whose decimal point is a comma.
var decimalComma = regexp.MustCompile(`^[-+]?\d*,\d+([eE][-+]?\d+)?$`)

// missing reports whether the cell has no value, or a usual spelling of a missing one.
func (c *Cell) missing() bool {
	return c.Kind == Null || c.Kind == Float && math.IsNaN(c.Float) ||
		c.Kind == Text && content.Missing(string(bytes.TrimSpace(c.Text)))
}

// notNumber explains why the value is not a feature, and how to fix it. Without a column of labels (labelled is false),
// text may be the labels under a mistyped name.
func (c *Cell) notNumber(labelled bool) string {
	text := string(bytes.TrimSpace(c.Text))
	_, err := content.Float([]byte(text))
	part, isPart := classes.PartOf(c.Text)
	switch {
	case c.missing():
		return "missing value, must be a finite number: fill it in, or drop the column"
	case c.Kind == Text && decimalComma.MatchString(text):
		return fmt.Sprintf("%v, must be a number with a decimal point, not a comma", c)
	case c.Kind == Text && isPart && part != classes.NoPart:
		return fmt.Sprintf("the text %v, must be a finite number: drop the column, or call it split if it is the split", c)
	case c.Kind == Text && text[0] == '[':
		return fmt.Sprintf("the text %v, must be a finite number: give each number of a list its own column", c)
	case c.Kind == Text && err != nil && !errors.Is(err, strconv.ErrRange):
		if !labelled {
			return fmt.Sprintf("the text %v, must be a finite number: drop the column or one-hot encode it, or call it label "+
				"if it is the label", c)
		}
		return fmt.Sprintf("the text %v, must be a finite number: drop the column or one-hot encode it", c)
	}
	return fmt.Sprintf("%v, must be a finite number", c)
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float32) bool { return v-v == 0 }

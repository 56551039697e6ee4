package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format/table"
)

// Types of columns, by their numbers in the server's catalogue pg_type.
const (
	boolType, int8Type, int2Type, int4Type, float4Type, float8Type, numericType = 16, 20, 21, 23, 700, 701, 1700
	int2List, int4List, int8List, float4List, float8List, numericList           = 1005, 1007, 1016, 1021, 1022, 1231
)

// sizes maps the types of fixed-size numbers to their sizes in bytes.
var sizes = map[uint32]int{boolType: 1, int2Type: 2, int4Type: 4, int8Type: 8, float4Type: 4, float8Type: 8}

// elements maps the types of arrays to the types of their elements.
var elements = map[uint32]uint32{
	int2List: int2Type, int4List: int4Type, int8List: int8Type, float4List: float4Type, float8List: float8Type,
}

// others lists types that graphs do not support, with names for errors.
var others = map[uint32]string{
	17: "bytes", 114: "JSON", 3802: "JSON", 600: "points", 1082: "dates", 1083: "times", 1114: "times", 1184: "times",
	1266: "times", 1186: "intervals", 790: "amounts of money", 1000: "lists of booleans", 1009: "lists of strings",
	1015: "lists of strings", 2249: "rows", 2951: "lists of UUIDs",
}

// binaryFormat is the format of values in the server's own encoding. In the format 0 they are text.
const binaryFormat = 1

// setter sets a cell to a value. The bytes are valid only during the call.
type setter func(raw []byte, cell *table.Cell) error

// newSetter returns the setter for columns of a type, and the format of the values that it reads: binary for fixed-size
// types and arrays of them, else text. A type that graphs do not support is an error.
func newSetter(oid uint32) (set setter, format int16, err error) {
	if what := others[oid]; what != "" {
		return nil, 0, fmt.Errorf("holds %s, must hold numbers, text or lists of numbers", what)
	}
	switch {
	case sizes[oid] > 0:
		return func(raw []byte, cell *table.Cell) error { return setNumber(oid, raw, cell) }, binaryFormat, nil
	case elements[oid] != 0:
		return func(raw []byte, cell *table.Cell) error { return setList(elements[oid], raw, cell) }, binaryFormat, nil
	case oid == numericType:
		return setNumeric, 0, nil
	case oid == numericList:
		return setNumericList, 0, nil
	}
	return func(raw []byte, cell *table.Cell) error {
		cell.Kind, cell.Text = table.Text, bytes.Clone(raw)
		return nil
	}, 0, nil
}

// setNumber sets a cell to a fixed-size number.
func setNumber(oid uint32, raw []byte, cell *table.Cell) error {
	if len(raw) != sizes[oid] {
		return fmt.Errorf("the server sent %d bytes, expected %d", len(raw), sizes[oid])
	}
	cell.Kind = table.Int
	switch oid {
	case boolType:
		cell.Int = int64(raw[0])
	case int2Type:
		cell.Int = int64(int16(binary.BigEndian.Uint16(raw)))
	case int4Type:
		cell.Int = int64(int32(binary.BigEndian.Uint32(raw)))
	case int8Type:
		cell.Int = int64(binary.BigEndian.Uint64(raw))
	case float4Type:
		cell.Kind, cell.Float = table.Float, float64(math.Float32frombits(binary.BigEndian.Uint32(raw)))
	case float8Type:
		cell.Kind, cell.Float = table.Float, math.Float64frombits(binary.BigEndian.Uint64(raw))
	}
	return nil
}

// setNumeric sets a cell to an arbitrary-precision number, which the server sends as text. A number beyond float64
// becomes infinite.
func setNumeric(raw []byte, cell *table.Cell) (err error) {
	cell.Kind = table.Float
	if cell.Float, err = strconv.ParseFloat(string(raw), 64); errors.Is(err, strconv.ErrRange) {
		return nil
	}
	return err
}

// setNumericList sets a cell to an array of arbitrary-precision numbers, as in {1.5,NULL}. The text begins with the
// bounds of the indices if they are not the usual ones, as in [0:1]={1.5,NULL}.
func setNumericList(raw []byte, cell *table.Cell) error {
	raw = raw[bytes.IndexByte(raw, '=')+1:]
	raw, opens := bytes.CutPrefix(raw, []byte("{"))
	raw, closes := bytes.CutSuffix(raw, []byte("}"))
	if !opens || !closes {
		return errArray
	}
	cell.Kind, cell.List = table.List, cell.List[:0]
	switch nested := len(raw) - len(bytes.TrimLeft(raw, "{")); {
	case nested > 0:
		return fmt.Errorf("an array of %d dimensions, must be 1", nested+1)
	case len(raw) == 0:
		return nil
	}
	for word := range bytes.SplitSeq(raw, []byte(",")) {
		one := table.Cell{Float: math.NaN()}
		if string(word) != "NULL" {
			if err := setNumeric(word, &one); err != nil {
				return err
			}
		}
		cell.List = append(cell.List, float32(one.Float))
	}
	return nil
}

var errArray = errors.New("the server sent an array that is cut short")

// setList sets a cell to an array: the number of dimensions, whether there are nulls, the type of the elements, the
// length and the first index of each dimension, and then the length and the bytes of each element.
func setList(element uint32, raw []byte, cell *table.Cell) error {
	word := func() (v int32, err error) {
		if len(raw) < 4 {
			return 0, errArray
		}
		v, raw = int32(binary.BigEndian.Uint32(raw)), raw[4:]
		return v, nil
	}
	var head [3]int32
	for i := range head {
		var err error
		if head[i], err = word(); err != nil {
			return err
		}
	}
	if cell.Kind, cell.List = table.List, cell.List[:0]; head[0] == 0 {
		return nil
	}
	if head[0] != 1 {
		return fmt.Errorf("an array of %d dimensions, must be 1", head[0])
	}
	count, err := word()
	if err == nil {
		_, err = word()
	}
	for range count {
		var size int32
		if size, err = word(); err != nil {
			break
		}
		if size < 0 {
			cell.List = append(cell.List, float32(math.NaN()))
			continue
		}
		if int(size) > len(raw) {
			return errArray
		}
		var one table.Cell
		if err = setNumber(element, raw[:size], &one); err != nil {
			break
		}
		v := float32(one.Float)
		if one.Kind == table.Int {
			v = float32(one.Int)
		}
		cell.List, raw = append(cell.List, v), raw[size:]
	}
	return err
}

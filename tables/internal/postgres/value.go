package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/graph-condensation/cgc/dataset/format/table"
)

// setter sets a cell to a value in the server's encoding. The bytes are valid only during the call.
type setter func(raw []byte, cell *table.Cell) error

// sizes maps the types of fixed-size numbers to their sizes in bytes.
var sizes = map[uint32]int{
	pgtype.Int2OID: 2, pgtype.Int4OID: 4, pgtype.Int8OID: 8, pgtype.Float4OID: 4, pgtype.Float8OID: 8, pgtype.BoolOID: 1,
}

// elements maps the types of arrays to the types of their elements.
var elements = map[uint32]uint32{
	pgtype.Int2ArrayOID: pgtype.Int2OID, pgtype.Int4ArrayOID: pgtype.Int4OID, pgtype.Int8ArrayOID: pgtype.Int8OID,
	pgtype.Float4ArrayOID: pgtype.Float4OID, pgtype.Float8ArrayOID: pgtype.Float8OID,
	pgtype.NumericArrayOID: pgtype.NumericOID,
}

// others lists types that graphs do not support, with names for errors.
var others = map[uint32]string{
	pgtype.DateOID: "dates", pgtype.TimeOID: "times", pgtype.TimestampOID: "times", pgtype.TimestamptzOID: "times",
	pgtype.IntervalOID: "intervals", pgtype.ByteaOID: "bytes", pgtype.JSONOID: "JSON", pgtype.JSONBOID: "JSON",
	pgtype.PointOID: "points", pgtype.TextArrayOID: "lists of strings", pgtype.VarcharArrayOID: "lists of strings",
}

// newSetter returns the setter for the type of a column. It is an error if graphs do not support that type.
func newSetter(types *pgtype.Map, f pgconn.FieldDescription) (setter, error) {
	if what := others[f.DataTypeOID]; what != "" {
		return nil, fmt.Errorf("holds %s, must hold numbers, text or lists of numbers", what)
	}
	text := func(raw []byte, cell *table.Cell) error {
		cell.Kind, cell.Text = table.Text, bytes.Clone(raw)
		return nil
	}
	if f.Format != pgtype.BinaryFormatCode {
		return text, nil
	}
	if element := elements[f.DataTypeOID]; element != 0 {
		return func(raw []byte, cell *table.Cell) error { return setList(types, element, raw, cell) }, nil
	}
	switch f.DataTypeOID {
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID:
		return text, nil
	case pgtype.UUIDOID:
		return func(raw []byte, cell *table.Cell) error {
			var word string
			err := types.Scan(f.DataTypeOID, f.Format, raw, &word)
			cell.Kind, cell.Text = table.Text, []byte(word)
			return err
		}, nil
	case pgtype.NumericOID:
		return func(raw []byte, cell *table.Cell) error { return setNumeric(types, raw, cell) }, nil
	}
	if sizes[f.DataTypeOID] == 0 {
		name := "values of a type of their own"
		if known, is := types.TypeForOID(f.DataTypeOID); is {
			name = "values of the type " + known.Name
		}
		return nil, fmt.Errorf("holds %s, must hold numbers, text or lists of numbers", name)
	}
	return func(raw []byte, cell *table.Cell) error { return setNumber(f.DataTypeOID, raw, cell) }, nil
}

// setNumber sets a cell to a fixed-size number.
func setNumber(oid uint32, raw []byte, cell *table.Cell) error {
	if len(raw) != sizes[oid] {
		return fmt.Errorf("the server sent %d bytes, expected %d", len(raw), sizes[oid])
	}
	cell.Kind = table.Int
	switch oid {
	case pgtype.BoolOID:
		cell.Int = int64(raw[0])
	case pgtype.Int2OID:
		cell.Int = int64(int16(binary.BigEndian.Uint16(raw)))
	case pgtype.Int4OID:
		cell.Int = int64(int32(binary.BigEndian.Uint32(raw)))
	case pgtype.Int8OID:
		cell.Int = int64(binary.BigEndian.Uint64(raw))
	case pgtype.Float4OID:
		cell.Kind, cell.Float = table.Float, float64(math.Float32frombits(binary.BigEndian.Uint32(raw)))
	case pgtype.Float8OID:
		cell.Kind, cell.Float = table.Float, math.Float64frombits(binary.BigEndian.Uint64(raw))
	}
	return nil
}

// setNumeric sets a cell to an arbitrary-precision number.
func setNumeric(types *pgtype.Map, raw []byte, cell *table.Cell) error {
	cell.Kind = table.Float
	var v pgtype.Float8
	err := types.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, raw, &v)
	cell.Float = v.Float64
	return err
}

var errArray = errors.New("the server sent an array that is cut short")

// setList sets a cell to an array: the number of dimensions, whether there are nulls, the type of the elements, the
// length and the first index of each dimension, and then the length and the bytes of each element.
func setList(types *pgtype.Map, element uint32, raw []byte, cell *table.Cell) error {
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
		if element == pgtype.NumericOID {
			err = setNumeric(types, raw[:size], &one)
		} else {
			err = setNumber(element, raw[:size], &one)
		}
		if err != nil {
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

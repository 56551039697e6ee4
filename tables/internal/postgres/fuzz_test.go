package postgres

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/graph-condensation/cgc/dataset/format/table"
)

// columnTypes lists types that columns of a graph may have, and some that they cannot have.
var columnTypes = []uint32{
	pgtype.TextOID, pgtype.VarcharOID, pgtype.UUIDOID, pgtype.NumericOID, pgtype.BoolOID, pgtype.Int2OID, pgtype.Int4OID,
	pgtype.Int8OID, pgtype.Float4OID, pgtype.Float8OID, pgtype.Int2ArrayOID, pgtype.Int4ArrayOID, pgtype.Int8ArrayOID,
	pgtype.Float4ArrayOID, pgtype.Float8ArrayOID, pgtype.NumericArrayOID, pgtype.TimestampOID, pgtype.JSONBOID, 0,
}

// words returns four-byte numbers in the encoding of the server.
func words(list ...uint32) (raw []byte) {
	for _, v := range list {
		raw = binary.BigEndian.AppendUint32(raw, v)
	}
	return raw
}

// FuzzValue sets cells to arbitrary bytes as values of each type. A value is set completely or is an error. A list has
// no more numbers than its bytes can contain.
func FuzzValue(f *testing.F) {
	index := func(oid uint32) byte { return byte(slices.Index(columnTypes, oid)) }
	number := binary.BigEndian.AppendUint64(nil, math.Float64bits(2.5))
	f.Add(index(pgtype.TextOID), []byte("zoë"))
	f.Add(index(pgtype.Float8OID), number)
	f.Add(index(pgtype.Int2OID), []byte{0xff, 0xfe})
	f.Add(index(pgtype.UUIDOID), make([]byte, 16))
	f.Add(index(pgtype.BoolOID), []byte{1})
	f.Add(index(pgtype.Float4OID), words(math.Float32bits(2.5)))
	f.Add(index(pgtype.JSONBOID), []byte("{}"))
	f.Add(index(0), []byte("a type of its own"))
	f.Add(index(pgtype.NumericOID), []byte{0, 2, 0, 0, 0, 0, 0, 1, 0, 5, 0x13, 0x88}) // 5.5000, in two groups of digits
	f.Add(index(pgtype.NumericOID), []byte{0, 1, 0x7f, 0xff, 0, 0, 0, 0, 0x27, 0x0f}) // 9999·10⁴^32767
	f.Add(index(pgtype.NumericOID), []byte{0, 0, 0, 0, 0xc0, 0, 0, 0})                // not a number
	f.Add(index(pgtype.Float8ArrayOID),
		slices.Concat(words(1, 1, pgtype.Float8OID, 2, 1, 8), number, words(0xffffffff))) // 2.5 and null
	f.Add(index(pgtype.Int4ArrayOID), words(0, 0, pgtype.Int4OID))
	f.Add(index(pgtype.Int4ArrayOID), words(1, 0, pgtype.Int4OID, 0x7fffffff, 1))
	f.Add(index(pgtype.Int4ArrayOID), words(1, 0, pgtype.Int4OID, 0x80000000, 1, 4, 7))
	f.Add(index(pgtype.Int4ArrayOID), words(2, 0, pgtype.Int4OID, 1, 1, 1, 1, 4, 7))
	f.Add(index(pgtype.NumericArrayOID), words(1, 0, pgtype.NumericOID, 1, 1, 0x7fffffff))
	types := pgtype.NewMap()
	f.Fuzz(func(t *testing.T, column byte, raw []byte) {
		oid := columnTypes[int(column)%len(columnTypes)]
		set, err := newSetter(types, pgconn.FieldDescription{DataTypeOID: oid, Format: pgtype.BinaryFormatCode})
		if err != nil {
			return
		}
		before := slices.Clone(raw)
		var cell table.Cell
		if err := set(raw, &cell); err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if len(cell.List) > len(raw)/4 || len(cell.Text) > 2*len(raw)+4 {
			t.Errorf("%d numbers and %d bytes of text, of %d bytes", len(cell.List), len(cell.Text), len(raw))
		}
		if !slices.Equal(raw, before) {
			t.Error("the bytes of the server are changed")
		}
		var again table.Cell
		if err := set(raw, &again); err != nil || string(again.Text) != string(cell.Text) ||
			len(again.List) != len(cell.List) || again.Int != cell.Int {
			t.Errorf("%v: %+v, then %+v", err, cell, again)
		}
	})
}

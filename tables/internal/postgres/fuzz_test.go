package postgres

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/table"
)

const textType, timestampType = 25, 1114

// columnTypes lists types that columns of a graph may have, and some that they cannot have.
var columnTypes = []uint32{
	0, boolType, int2Type, int4Type, int8Type, float4Type, float8Type, numericType, int2List, int4List, int8List,
	float4List, float8List, numericList, textType, timestampType,
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
	f.Add(index(textType), []byte("zoë"))
	f.Add(index(timestampType), []byte("now"))
	f.Add(index(0), []byte("a type of its own"))
	f.Add(index(float8Type), number)
	f.Add(index(int2Type), []byte{0xff, 0xfe})
	f.Add(index(boolType), []byte{1})
	f.Add(index(float4Type), words(math.Float32bits(2.5)))
	f.Add(index(numericType), []byte("-5.5000"))
	f.Add(index(numericType), []byte("1e400"))
	f.Add(index(float8List), slices.Concat(words(1, 1, float8Type, 2, 1, 8), number, words(0xffffffff))) // 2.5 and null
	f.Add(index(int4List), words(0, 0, int4Type))
	f.Add(index(int4List), words(1, 0, int4Type, 0x7fffffff, 1))
	f.Add(index(int4List), words(1, 0, int4Type, 0x80000000, 1, 4, 7))
	f.Add(index(int4List), words(2, 0, int4Type, 1, 1, 1, 1, 4, 7))
	f.Add(index(numericList), []byte("[0:2]={1.5,NULL,NaN}"))
	f.Add(index(numericList), []byte("{{1}}"))
	f.Add(index(numericList), []byte("{"))
	f.Fuzz(func(t *testing.T, column byte, raw []byte) {
		oid := columnTypes[int(column)%len(columnTypes)]
		set, _, err := newSetter(oid)
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
		if len(cell.List) > len(raw)/2 || len(cell.Text) > len(raw) {
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

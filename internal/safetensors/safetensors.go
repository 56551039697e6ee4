// Package safetensors reads and writes files in the safetensors format, which
// https://github.com/huggingface/safetensors describes. A file has three parts:
//
//	8 bytes   the length of the header, little-endian
//	header    JSON: type, shape and offsets of each tensor, and a map of strings under __metadata__
//	data      the numbers of the tensors, little-endian, in C order
//
// A file is mapped into memory if the system can do that, so that a large tensor is not copied.
package safetensors

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// DType is the type of a tensor's elements, by its name in the header.
type DType string

// The types of elements.
const (
	F64  DType = "F64"
	F32  DType = "F32"
	F16  DType = "F16"
	BF16 DType = "BF16"
	I64  DType = "I64"
	I32  DType = "I32"
	I16  DType = "I16"
	I8   DType = "I8"
	U64  DType = "U64"
	U32  DType = "U32"
	U16  DType = "U16"
	U8   DType = "U8"
	Bool DType = "BOOL"
)

// Size returns the size of an element in bytes, or 0 if the type is unknown.
func (d DType) Size() int {
	switch d {
	case F64, I64, U64:
		return 8
	case F32, I32, U32:
		return 4
	case F16, BF16, I16, U16:
		return 2
	case I8, U8, Bool:
		return 1
	}
	return 0
}

// Element is a Go type for the elements of a tensor. A uint16 stands for U16, F16 and BF16, a uint8 for U8 and BOOL.
type Element interface {
	float64 | float32 | int64 | int32 | int16 | int8 | uint64 | uint32 | uint16 | uint8
}

// stored lists the types that are stored as each kind of Element, the plain one first.
var stored = map[reflect.Kind][]DType{
	reflect.Float64: {F64}, reflect.Float32: {F32}, reflect.Int64: {I64}, reflect.Int32: {I32}, reflect.Int16: {I16},
	reflect.Int8: {I8}, reflect.Uint64: {U64}, reflect.Uint32: {U32}, reflect.Uint16: {U16, F16, BF16},
	reflect.Uint8: {U8, Bool},
}

// dtypes returns the types that are stored as E, the plain one first.
func dtypes[E Element]() []DType { return stored[reflect.TypeFor[E]().Kind()] }

// Info describes a tensor in a file.
type Info struct {
	Name  string
	DType DType
	Shape []int
	// Begin and End are the tensor's range of bytes, counted from the end of the header.
	Begin, End int64
}

// Len returns the number of elements.
func (t Info) Len() int { return int(t.End-t.Begin) / t.DType.Size() }

const (
	// maxHeader limits the header, as in the reference implementation. A larger length means that the file has another
	// format.
	maxHeader = 100 << 20
	metadata  = "__metadata__"
)

// headerLength checks the first eight bytes of a file of the given size.
func headerLength(length uint64, size int64) (int64, error) {
	if size < 10 { // the length of the header, and {}
		return 0, fmt.Errorf("not a safetensors file: it has %d bytes, must be at least 10", size)
	}
	if length > uint64(size-8) || length > maxHeader || length < 2 {
		return 0, fmt.Errorf("not a safetensors file: its header would have %d bytes, must be 2 to %d", length,
			min(size-8, maxHeader))
	}
	return int64(length), nil
}

// parseHeader reads the header of a file that is followed by dataSize bytes. It returns the tensors in the order of
// their data. It checks that they are within the data and do not overlap, and that each length matches type and shape.
func parseHeader(header []byte, dataSize int64) (tensors []Info, meta map[string]string, err error) {
	var entries map[string]json.RawMessage
	if json.Unmarshal(header, &entries) != nil {
		return nil, nil, errors.New("not a safetensors file: its header is not a JSON object")
	}
	for name, raw := range entries {
		if name == metadata {
			if json.Unmarshal(raw, &meta) != nil {
				return nil, nil, fmt.Errorf("header: %s must be a map of strings", metadata)
			}
			continue
		}
		t, err := parseInfo(name, raw, dataSize)
		if err != nil {
			return nil, nil, fmt.Errorf("header: tensor %.100q: %w", name, err)
		}
		tensors = append(tensors, t)
	}
	slices.SortFunc(tensors, func(a, b Info) int { // empty tensors share an offset
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End), strings.Compare(a.Name, b.Name))
	})
	for i := 1; i < len(tensors); i++ {
		if a, b := tensors[i-1], tensors[i]; b.Begin < a.End {
			return nil, nil, fmt.Errorf("header: tensors %.100q and %.100q overlap at byte %d", a.Name, b.Name, b.Begin)
		}
	}
	return tensors, meta, nil
}

func parseInfo(name string, raw []byte, dataSize int64) (Info, error) {
	var entry struct {
		DType   DType   `json:"dtype"`
		Shape   []int64 `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	if json.Unmarshal(raw, &entry) != nil {
		return Info{}, errors.New("must have a dtype, a list of integers as shape, and two integers as data_offsets")
	}
	if entry.DType.Size() == 0 {
		return Info{}, fmt.Errorf("dtype %.20q is not known", entry.DType)
	}
	if len(entry.Offsets) != 2 {
		return Info{}, fmt.Errorf("%d data_offsets, must be 2", len(entry.Offsets))
	}
	t := Info{Name: name, DType: entry.DType, Begin: entry.Offsets[0], End: entry.Offsets[1]}
	if t.Begin < 0 || t.End < t.Begin || t.End > dataSize {
		return Info{}, fmt.Errorf("data_offsets %d to %d, must be ascending within 0 to %d", t.Begin, t.End, dataSize)
	}
	bytes, err := sizeOf(t.DType, entry.Shape)
	if err != nil {
		return Info{}, err
	}
	if bytes != t.End-t.Begin {
		return Info{}, fmt.Errorf("%s %v takes %d bytes, and data_offsets %d to %d give it %d",
			t.DType, entry.Shape, bytes, t.Begin, t.End, t.End-t.Begin)
	}
	for _, s := range entry.Shape {
		t.Shape = append(t.Shape, int(s))
	}
	return t, nil
}

// sizeOf returns the size of a tensor in bytes.
func sizeOf[I int | int64](d DType, shape []I) (int64, error) {
	bytes := int64(d.Size())
	for _, s := range shape {
		if s < 0 {
			return 0, fmt.Errorf("shape %v has a negative side", shape)
		}
		if s > 0 && bytes > math.MaxInt64/int64(s) {
			return 0, fmt.Errorf("shape %v is too large", shape)
		}
		bytes *= int64(s)
	}
	if bytes > math.MaxInt/2 {
		return 0, errors.New("tensor is larger than this machine can address")
	}
	return bytes, nil
}

// Package numpy reads the arrays of numpy: .npy files, .npz archives, and the CSR matrices that scipy stores in them.
package numpy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/mat"
)

// Array is a numpy array whose elements have not been read yet, from an .npy file, a member of an .npz file or a
// pickle.
type Array struct {
	DType
	Shape   []int
	Fortran bool // column-major
	R       io.Reader
	Strings []string // the elements of an array of strings that is in memory; R is then nil
	// At gives random access to the elements. It is nil if they are compressed.
	At io.ReaderAt

	begin int64 // the file offset of the elements
}

// DType is numpy's description of an element type.
type DType struct {
	Kind byte // b bool, i integer, u unsigned, f float, S bytes, U string, O Python objects; our own: e bfloat16
	Size int  // in bytes
	Big  bool // big-endian
}

// String returns the name of the type that numpy and torch use: "float32".
func (d DType) String() string {
	if name, known := map[byte]string{'b': "bool", 'S': "bytes", 'U': "text", Object: "object"}[d.Kind]; known {
		return name
	}
	name := map[byte]string{'f': "float", 'i': "int", 'u': "uint", 'e': "bfloat"}[d.Kind]
	return name + strconv.Itoa(8*d.Size)
}

// Object is the Kind of an array of Python objects. R then holds a pickle, and Size is 0.
const Object = 'O'

// ParseDType parses numpy's short form: byte order, kind, size, as in "<f4".
func ParseDType(s string) (DType, error) {
	short := strings.TrimLeft(s, "<>|=")
	if short == "" {
		return DType{}, fmt.Errorf("element type %q is not supported", s)
	}
	if short[0] == Object {
		return DType{Kind: Object}, nil
	}
	size, err := strconv.Atoi(short[1:])
	d := DType{Kind: short[0], Size: size, Big: s[0] == '>'}
	known := map[byte][]int{'b': {1}, 'i': {1, 2, 4, 8}, 'u': {1, 2, 4, 8}, 'f': {2, 4, 8}}[d.Kind]
	text := d.Kind == 'S' || d.Kind == 'U'
	const longest = math.MaxInt32 / 4 // numpy counts the bytes of an element in 31 bits
	if err != nil || !text && !slices.Contains(known, size) || text && (size < 1 || size > longest) {
		return DType{}, fmt.Errorf("element type %q, expected bool, integers of 1 to 8 bytes or floats of 2 to 8", s)
	}
	if d.Kind == 'U' {
		d.Size *= 4
	}
	return d, nil
}

// Length returns the number of elements. It is an error if their total size is not the given number of bytes.
func (a *Array) Length(bytes int64) (int, error) {
	n := int64(1)
	for _, s := range a.Shape {
		if s < 0 || s > 0 && n > math.MaxInt64/64/int64(s) {
			return 0, fmt.Errorf("shape %v is not possible", a.Shape)
		}
		n *= int64(s)
	}
	if n > math.MaxInt64/int64(max(1, a.Size)) || n*int64(a.Size) != bytes {
		return 0, fmt.Errorf("shape %v of %d-byte elements does not fit the %d bytes of data",
			a.Shape, a.Size, bytes)
	}
	return int(n), nil
}

// NewArray reads the header of an .npy file of the given size.
func NewArray(r io.Reader, size int64) (*Array, error) {
	start := make([]byte, 12)
	if _, err := io.ReadFull(r, start[:10]); err != nil || string(start[:6]) != "\x93NUMPY" {
		return nil, errors.New("not a numpy array: the magic word is missing")
	}
	used, length := int64(10), int64(binary.LittleEndian.Uint16(start[8:]))
	if start[6] >= 2 {
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return nil, errors.New("numpy header is cut short")
		}
		used, length = 12, int64(binary.LittleEndian.Uint32(start[8:]))
	}
	if length > size-used || length > 1<<20 {
		return nil, fmt.Errorf("numpy header of %d bytes in a file of %d, must be at most 1 MiB", length, size)
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, errors.New("numpy header is cut short")
	}
	a := &Array{R: r, begin: used + length}
	field := func(key string) string {
		_, value, _ := strings.Cut(string(header), "'"+key+"':")
		return strings.TrimSpace(value)
	}
	descr, quoted := strings.CutPrefix(field("descr"), "'")
	descr, _, closed := strings.Cut(descr, "'")
	if !quoted || !closed {
		return nil, errors.New("numpy array of records, must be one of numbers")
	}
	var err error
	if a.DType, err = ParseDType(descr); err != nil {
		return nil, err
	}
	a.Fortran = strings.HasPrefix(field("fortran_order"), "True")
	shape, open := strings.CutPrefix(field("shape"), "(")
	shape, _, closed = strings.Cut(shape, ")")
	if !open || !closed {
		return nil, errors.New("numpy header has no shape")
	}
	for s := range strings.SplitSeq(shape, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("numpy shape (%s) is not made of numbers", shape)
		}
		a.Shape = append(a.Shape, n)
	}
	if a.Kind != Object {
		_, err = a.Length(size - used - length)
	}
	return a, err
}

// Dense reads an array of two dimensions. A vector counts as one column.
func Dense(a *Array) (*mat.Dense, error) {
	if len(a.Shape) == 1 {
		a.Shape = append(a.Shape, 1)
	}
	if len(a.Shape) != 2 {
		return nil, fmt.Errorf("shape %v, expected rows and columns", a.Shape)
	}
	data, err := Numbers[float32](a)
	if err != nil {
		return nil, err
	}
	return &mat.Dense{Rows: a.Shape[0], Cols: a.Shape[1], Data: data}, nil
}

// Read reads an .npy file of one or two dimensions. It reports to package progress, and stops when ctx is done.
func Read(ctx context.Context, file string) (*mat.Dense, error) {
	a, f, err := openArray(ctx, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	x, err := Dense(a)
	if err != nil {
		return nil, &format.ReadError{File: file, Err: err}
	}
	return x, nil
}

package matlab

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"

	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
)

// The types of elements.
const (
	typeInt8       = 1
	typeInt32      = 5
	typeUint32     = 6
	typeMatrix     = 14
	typeCompressed = 15
)

// dtypes maps the types of elements that hold numbers to numpy's types.
var dtypes = map[uint32]numpy.DType{
	1: {Kind: 'i', Size: 1}, 2: {Kind: 'u', Size: 1}, 3: {Kind: 'i', Size: 2}, 4: {Kind: 'u', Size: 2},
	5: {Kind: 'i', Size: 4}, 6: {Kind: 'u', Size: 4}, 7: {Kind: 'f', Size: 4}, 9: {Kind: 'f', Size: 8},
	12: {Kind: 'i', Size: 8}, 13: {Kind: 'u', Size: 8},
}

// elements reads the elements of a matrix in order.
type elements struct {
	r     io.Reader
	order binary.ByteOrder
	left  int64 // the bytes of the matrix that are not read yet
	pad   int64 // the bytes before the next element
}

// elements returns the elements of a variable, decompressed.
func (f *file) elements(v *variable) (*elements, error) {
	section := f.meter.Reader(io.NewSectionReader(f, v.at, v.size))
	e := &elements{r: bufio.NewReaderSize(section, 1<<16), order: f.order, left: v.size}
	if !v.compressed {
		return e, nil
	}
	z, err := zlib.NewReader(e.r)
	if err != nil {
		return nil, fmt.Errorf("unpacking zlib: %w", err)
	}
	tag := make([]byte, tagSize)
	if _, err := io.ReadFull(z, tag); err != nil {
		return nil, fmt.Errorf("unpacking zlib: %w", err)
	}
	const ratio = 1032 // deflate cannot compress more: a larger size is wrong, and would only waste memory
	kind, size := f.order.Uint32(tag), int64(f.order.Uint32(tag[4:]))
	if kind != typeMatrix {
		return nil, fmt.Errorf("a compressed element of type %d, must be a matrix (%d)", kind, typeMatrix)
	}
	if size/ratio > v.size {
		return nil, fmt.Errorf("a matrix of %d bytes, which claims %d decompressed, must be at most %d times as many",
			v.size, size, ratio)
	}
	e.r, e.left = z, size
	return e, nil
}

// next returns the type and the size of the next element, and a reader of its content. The content must be read before
// the next call. Content of up to four bytes may be stored in the tag.
func (e *elements) next() (kind uint32, size int64, r io.Reader, err error) {
	tag := make([]byte, e.pad+tagSize)
	if e.left < int64(len(tag)) {
		return 0, 0, nil, errors.New("the matrix ends, must have another element")
	}
	if _, err := io.ReadFull(e.r, tag); err != nil {
		return 0, 0, nil, fmt.Errorf("reading an element: %w", err)
	}
	e.left -= int64(len(tag))
	tag = tag[e.pad:]
	kind, size = e.order.Uint32(tag), int64(e.order.Uint32(tag[4:]))
	if small := kind >> 16; small != 0 {
		if small > 4 {
			return 0, 0, nil, fmt.Errorf("a small element of %d bytes, must be at most 4", small)
		}
		e.pad = 0
		return kind & 0xffff, int64(small), bytes.NewReader(tag[4 : 4+small]), nil
	}
	if size > e.left {
		return 0, 0, nil, fmt.Errorf("an element of %d bytes, must be at most %d, the rest of the matrix", size, e.left)
	}
	e.left, e.pad = e.left-size, (8-size%8)%8
	return kind, size, io.LimitReader(e.r, size), nil
}

// read returns the content of the next element. It is an error if the element has another type, or more than most
// bytes.
func (e *elements) read(what string, kind uint32, most int64) ([]byte, error) {
	found, size, r, err := e.next()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if found != kind || size > most {
		return nil, fmt.Errorf("%s: type %d of %d bytes, must be type %d of at most %d", what, found, size, kind, most)
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return content, nil
}

// array returns the next element as an array. The shape must match the size of the element; nil means one dimension.
func (e *elements) array(shape []int) (*numpy.Array, error) {
	kind, size, r, err := e.next()
	if err != nil {
		return nil, err
	}
	d, known := dtypes[kind]
	if !known {
		return nil, fmt.Errorf("elements of type %d, must be numbers", kind)
	}
	d.Big = e.order == binary.ByteOrder(binary.BigEndian)
	if shape == nil {
		shape = []int{int(size) / d.Size}
	}
	a := &numpy.Array{DType: d, Shape: append([]int{}, shape...), R: r}
	_, err = a.Length(size)
	return a, err
}

// list returns the next element as numbers.
func list[T numpy.Number](e *elements) ([]T, error) {
	a, err := e.array(nil)
	if err != nil {
		return nil, err
	}
	return numpy.Numbers[T](a)
}

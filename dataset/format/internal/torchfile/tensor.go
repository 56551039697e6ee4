package torchfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// storage is a run of numbers in the file that tensors share.
type storage struct {
	numpy.DType
	size int64       // in bytes, according to the pickle
	from io.ReaderAt // nil until the offset in the file is known

	meter *reading.Meter // counts what is read from from; nil if it is in memory
}

// Tensor is a tensor whose elements have not been read yet.
type Tensor struct {
	numpy.DType
	Shape   []int
	stride  []int // in elements
	offset  int
	storage *storage
}

// maxExpanded bounds the elements of a tensor that repeats elements of its storage (a stride of 0).
const maxExpanded = 1 << 26

// Array returns the tensor as an array. If the tensor is contiguous, in C or Fortran order, its elements are read
// directly from the file. It is an error if the tensor does not fit into its storage.
func (t *Tensor) Array() (*numpy.Array, error) {
	elements, err := t.check()
	if err != nil {
		return nil, err
	}
	a := &numpy.Array{DType: t.DType, Shape: t.Shape, R: bytes.NewReader(nil)}
	switch {
	case elements == 0:
	case t.follows(true):
		a.R = t.section(elements)
	case len(t.Shape) == 2 && t.follows(false):
		a.R, a.Fortran = t.section(elements), true
	default:
		raw, err := t.gather(elements)
		if err != nil {
			return nil, err
		}
		a.R = bytes.NewReader(raw)
	}
	return a, nil
}

// section returns a reader of the given number of elements of the storage, from the first element of t on.
func (t *Tensor) section(elements int64) io.Reader {
	size := int64(t.Size)
	return t.storage.meter.Reader(io.NewSectionReader(t.storage.from, int64(t.offset)*size, elements*size))
}

// follows reports whether the elements are contiguous: in C order if c is true, else in Fortran order.
func (t *Tensor) follows(c bool) bool {
	want := 1
	for k := range t.Shape {
		side := k
		if c {
			side = len(t.Shape) - 1 - k
		}
		if t.Shape[side] != 1 && t.stride[side] != want {
			return false
		}
		want *= t.Shape[side]
	}
	return true
}

// check returns the number of elements, after checking that all are within the storage.
func (t *Tensor) check() (elements int64, err error) {
	held := t.storage.size / int64(t.Size)
	elements = 1
	most := max(held, maxExpanded)
	for k, n := range t.Shape {
		if n < 0 || t.stride[k] < 0 || t.offset < 0 {
			return 0, fmt.Errorf("shape %v with strides %v from %d, must be numbers of at least 0", t.Shape, t.stride, t.offset)
		}
		if n == 0 {
			return 0, nil
		}
	}
	last := int64(t.offset)
	for k, n := range t.Shape {
		if int64(n) > most/elements {
			return 0, fmt.Errorf("shape %v is not possible in a storage of %d elements", t.Shape, held)
		}
		elements *= int64(n)
		if s := int64(t.stride[k]); s > 0 && int64(n-1) > held/s || last >= held {
			last = held
			break
		} else {
			last += int64(n-1) * s
		}
	}
	if last >= held {
		return 0, fmt.Errorf("shape %v with strides %v from %d reaches beyond its storage of %d elements",
			t.Shape, t.stride, t.offset, held)
	}
	return elements, nil
}

// gather returns the bytes of the elements in C order.
func (t *Tensor) gather(elements int64) ([]byte, error) {
	span := 1
	for k, n := range t.Shape {
		span += (n - 1) * t.stride[k]
	}
	all := memory.Make[byte](span * t.Size)
	if _, err := io.ReadFull(t.section(int64(span)), all); err != nil {
		return nil, fmt.Errorf("reading %d bytes: %w", len(all), err)
	}
	out := memory.Make[byte](int(elements) * t.Size)[:0]
	index := make([]int, len(t.Shape))
	for range elements {
		at := 0
		for k, i := range index {
			at += i * t.stride[k]
		}
		out = append(out, all[at*t.Size:(at+1)*t.Size]...)
		for k := len(index) - 1; k >= 0; k-- {
			if index[k]++; index[k] < t.Shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return out, nil
}

// Sparse is a sparse matrix whose elements have not been read yet.
type Sparse struct {
	Rows, Cols int
	layout     string
	index      any // coo: 2×E positions, or rows; csr and csc: pointers
	columns    any // csr and coo: columns; csc: rows; nil if index holds positions
	values     any
}

// sparseOf returns the matrix that a SparseTensor of torch_sparse holds.
func sparseOf(r *Record) (*Sparse, error) {
	s, ok := r.Fields["storage"].(*Record)
	if !ok {
		return nil, errors.New("a SparseTensor without a storage")
	}
	layout, index := "csr", s.Fields["_rowptr"]
	if index == nil {
		layout, index = "coo", s.Fields["_row"]
	}
	return newSparse(layout, index, s.Fields["_col"], s.Fields["_value"], s.Fields["_sparse_sizes"])
}

// CSR returns the matrix with the columns of each row ascending, and repeated entries added up. n limits the number of
// rows, since even empty rows need memory.
func (s *Sparse) CSR(ctx context.Context, n int) (*mat.CSR, error) {
	if s.Rows < 0 || s.Cols < 0 || s.Cols > graph.MaxNodes || s.Rows > n {
		return nil, fmt.Errorf("shape %d×%d, must be at most %d×%d", s.Rows, s.Cols, n, graph.MaxNodes)
	}
	p := csr.Parts{Layout: s.layout, Rows: s.Rows, Cols: s.Cols}
	var err error
	if s.values != nil {
		p.Values, err = numbers[float32](s.values)
	}
	switch {
	case err != nil:
	case s.layout != "coo":
		p.Pointers, err = numbers[int64](s.index)
	default:
		p.Row, err = numbers[int32](s.index)
	}
	if err == nil && s.columns != nil {
		p.Col, err = numbers[int32](s.columns)
	} else if err == nil {
		p.Row, p.Col = p.Row[:len(p.Row)/2], p.Row[len(p.Row)/2:]
	}
	if err != nil {
		return nil, err
	}
	return p.CSR(ctx)
}

// numbers returns the elements of a tensor.
func numbers[T numpy.Number](v any) ([]T, error) {
	t, ok := v.(*Tensor)
	if !ok {
		return nil, errors.New("a sparse matrix has a part that is not a tensor")
	}
	a, err := t.Array()
	if err != nil {
		return nil, err
	}
	return numpy.Numbers[T](a)
}

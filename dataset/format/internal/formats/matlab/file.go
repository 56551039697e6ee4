package matlab

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

const (
	headerSize = 128
	tagSize    = 8 // type and size of an element

	// mostVariables limits the variables of a file. mostDimensions limits the dimensions of a variable, and mostName
	// limits the bytes of its name.
	mostVariables, mostDimensions, mostName = 1 << 12, 32, 1 << 10
)

// A file of version 5 begins with magic, and a file of version 7.3 with magicHDF5.
const magic, magicHDF5 = "MATLAB 5.0 MAT-file", "MATLAB 7.3 MAT-file"

// file is an open file. Its layout follows "MAT-File Format" by MathWorks: a header of 128 bytes, then a matrix for
// each variable, which may be compressed by zlib. A matrix consists of elements: flags, dimensions, name and numbers.
// The graphs of Facebook100 have a table of people instead of features and labels.
type file struct {
	*os.File
	variables []variable // in the order of the file
	order     binary.ByteOrder
	meter     *reading.Meter
	people    *people
}

// variable is a matrix whose numbers have not been read yet.
type variable struct {
	name       string
	shape      []int
	class      string // MATLAB's name of the type: "double", "sparse", "cell"
	complex    bool
	at, size   int64 // position and size of the content
	compressed bool
}

// sparse reports whether the matrix is sparse.
func (v *variable) sparse() bool { return v.class == classes[classSparse] }

// classes names MATLAB's types.
var classes = []string{
	"unknown", "cell", "struct", "object", "char", "sparse", "double", "single", "int8", "uint8", "int16", "uint16",
	"int32", "uint32", "int64", "uint64",
}

// classSparse is the class of sparse matrices. It and the following classes hold numbers.
const classSparse = 5

// open reads the headers of all variables. Reading reports to package progress, and stops when ctx is done. Close the
// file after use.
func open(ctx context.Context, path string) (*file, error) {
	opened, size, err := reading.Open(path)
	if err != nil {
		return nil, err
	}
	f := &file{File: opened, meter: reading.New(ctx, path, size)}
	if err := f.scan(ctx, size); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// find returns the variable of that name, or nil.
func (f *file) find(name string) *variable {
	if i := slices.IndexFunc(f.variables, func(v variable) bool { return v.name == name }); i >= 0 {
		return &f.variables[i]
	}
	return nil
}

// scan reads the header of the file and of each variable.
func (f *file) scan(ctx context.Context, size int64) error {
	header := make([]byte, headerSize)
	_, err := f.ReadAt(header, 0)
	switch {
	case bytes.HasPrefix(header, []byte(magicHDF5)):
		return errors.New("a file of MATLAB 7.3 (HDF5), must be of version 5: save it with '-v7'")
	case err != nil || !bytes.HasPrefix(header, []byte(magic)):
		return fmt.Errorf("not a MAT-file of version 5: it does not begin with %q", magic)
	}
	switch text := string(header[headerSize-2:]); text {
	case "IM":
		f.order = binary.LittleEndian
	case "MI":
		f.order = binary.BigEndian
	default:
		return fmt.Errorf("the byte order is %q, must be IM or MI", text)
	}
	for at := int64(headerSize); at < size; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		tag := make([]byte, tagSize)
		if _, err := f.ReadAt(tag, at); err != nil {
			return fmt.Errorf("byte %d: the file of %d bytes is cut short", at, size)
		}
		kind, length := f.order.Uint32(tag), int64(f.order.Uint32(tag[4:]))
		v := variable{at: at + tagSize, size: length, compressed: kind == typeCompressed}
		switch {
		case kind != typeMatrix && kind != typeCompressed:
			return fmt.Errorf("byte %d: an element of type %d, must be a matrix (%d), compressed or not (%d)",
				at, kind, typeMatrix, typeCompressed)
		case length > size-v.at:
			return fmt.Errorf("byte %d: an element of %d bytes, must be at most %d, the rest of the file", at, length, size-v.at)
		case len(f.variables) == mostVariables:
			return fmt.Errorf("more than %d variables", mostVariables)
		}
		if _, err := f.begin(&v); err != nil {
			return fmt.Errorf("byte %d: %w", at, err)
		}
		f.variables = append(f.variables, v)
		at = v.at + length
	}
	return nil
}

// begin reads the header of a variable, and returns the elements that follow.
func (f *file) begin(v *variable) (*elements, error) {
	e, err := f.elements(v)
	if err != nil {
		return nil, err
	}
	flags, err := e.read("flags", typeUint32, 8)
	if err != nil {
		return nil, err
	}
	if len(flags) != 8 {
		return nil, fmt.Errorf("flags of %d bytes, must be 8", len(flags))
	}
	word := f.order.Uint32(flags)
	v.complex, v.class = word&0x800 != 0, classes[0]
	if class := word & 0xff; class < uint32(len(classes)) {
		v.class = classes[class]
	}
	if v.class == classes[0] {
		return e, nil // such as a table of MATLAB, whose layout is not published
	}
	sides, err := e.read("dimensions", typeInt32, 4*mostDimensions)
	if err != nil {
		return nil, err
	}
	v.shape = nil
	for ; len(sides) >= 4; sides = sides[4:] {
		v.shape = append(v.shape, int(int32(f.order.Uint32(sides))))
	}
	name, err := e.read("name", typeInt8, mostName)
	v.name = string(name)
	return e, err
}

// numbers reads past the variable's name and returns a reader of its elements, which must be real numbers.
func (f *file) numbers(v *variable) (*elements, error) {
	if slices.Index(classes, v.class) < classSparse {
		return nil, fmt.Errorf("it is of the class %s, must be a matrix of numbers", v.class)
	}
	if v.complex {
		return nil, errors.New("complex numbers, must be real")
	}
	return f.begin(v)
}

// dense calls read with the numbers of a dense matrix.
func (f *file) dense(v *variable, read func(*numpy.Array) error) error {
	e, err := f.numbers(v)
	if err != nil {
		return err
	}
	a, err := e.array(v.shape)
	if err != nil {
		return err
	}
	a.Fortran = true
	return read(a)
}

// matrix returns a sparse matrix of at most n rows. The columns of a row are ascending.
func (f *file) matrix(ctx context.Context, v *variable, n int) (*mat.CSR, error) {
	if len(v.shape) != 2 || v.shape[0] < 0 || v.shape[1] < 0 || v.shape[1] > graph.MaxNodes {
		return nil, fmt.Errorf("shape %v, must be rows and at most %d columns", v.shape, graph.MaxNodes)
	}
	if v.shape[0] > n { // even empty rows need memory
		return nil, fmt.Errorf("shape %d×%d, must have %d rows, one for each label", v.shape[0], v.shape[1], n)
	}
	e, err := f.numbers(v)
	if err != nil {
		return nil, err
	}
	// MATLAB stores columns: the row of each entry, where each column begins, and the values.
	t := &mat.CSR{Rows: v.shape[1], Cols: v.shape[0]}
	if t.Indices, err = list[int32](e); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	if t.Indptr, err = list[int64](e); err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	if t.Data, err = list[float32](e); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	// The arrays may have room for more entries than the matrix has.
	if k := len(t.Indptr); k > 0 {
		used := t.Indptr[k-1]
		if used >= 0 && used <= int64(min(len(t.Indices), len(t.Data))) {
			t.Indices, t.Data = t.Indices[:used], t.Data[:used]
		}
	}
	return csr.Transpose(ctx, t)
}

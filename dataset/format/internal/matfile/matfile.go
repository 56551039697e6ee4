// Package matfile reads matrices of numbers, dense or sparse, from the MAT-files of MATLAB, version 5.
//
// The layout follows "MAT-File Format" by MathWorks: a header of 128 bytes, then a matrix for each variable, which may
// be zlib-compressed. A matrix consists of elements: flags, dimensions, name and numbers.
package matfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
)

const (
	headerSize = 128
	tagSize    = 8 // type and size of an element

	// mostVariables limits the variables of a file. mostDimensions limits the dimensions of a variable, and mostName the
	// bytes of its name.
	mostVariables, mostDimensions, mostName = 1 << 12, 32, 1 << 10
)

// Looks reports whether a file begins like a MAT-file of MATLAB 5 to 7.
func Looks(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	text := make([]byte, len(magic))
	_, err = io.ReadFull(f, text)
	return err == nil && string(text) == magic
}

// A file of version 5 begins with magic, and a file of version 7.3 with magicHDF5.
const magic, magicHDF5 = "MATLAB 5.0 MAT-file", "MATLAB 7.3 MAT-file"

// File is an open file.
type File struct {
	// Path is the path of the file.
	Path string
	// Variables are in the order of the file.
	Variables []Variable

	file  *os.File
	order binary.ByteOrder
	meter *reading.Meter
}

// Variable is a matrix whose numbers have not been read yet.
type Variable struct {
	Name  string
	Shape []int
	// Class is MATLAB's name of the type: "double", "sparse", "cell".
	Class string

	complex    bool
	at, size   int64 // position and size of the content
	compressed bool
}

// Sparse reports whether the matrix is sparse.
func (v *Variable) Sparse() bool { return v.Class == classes[classSparse] }

// classes names MATLAB's types.
var classes = []string{
	"unknown", "cell", "struct", "object", "char", "sparse", "double", "single", "int8", "uint8", "int16", "uint16",
	"int32", "uint32", "int64", "uint64",
}

// classSparse is the class of sparse matrices. It and the following classes hold numbers.
const classSparse = 5

// Open reads the headers of all variables. Reading reports to package progress, and stops when ctx is done. Close the
// file after use.
func Open(ctx context.Context, path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, file: file}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("a folder, must be a file")
	}
	if err == nil {
		f.meter = reading.New(ctx, "reading", path, info.Size())
		err = f.scan(ctx, info.Size())
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Find returns the variable of that name, or nil.
func (f *File) Find(name string) *Variable {
	for i := range f.Variables {
		if f.Variables[i].Name == name {
			return &f.Variables[i]
		}
	}
	return nil
}

// scan reads the header of the file and of each variable.
func (f *File) scan(ctx context.Context, size int64) error {
	header := make([]byte, headerSize)
	_, err := f.file.ReadAt(header, 0)
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
		if _, err := f.file.ReadAt(tag, at); err != nil {
			return fmt.Errorf("byte %d: the file of %d bytes is cut short", at, size)
		}
		kind, length := f.order.Uint32(tag), int64(f.order.Uint32(tag[4:]))
		v := Variable{at: at + tagSize, size: length, compressed: kind == typeCompressed}
		switch {
		case kind != typeMatrix && kind != typeCompressed:
			return fmt.Errorf("byte %d: an element of type %d, must be a matrix (%d), compressed or not (%d)",
				at, kind, typeMatrix, typeCompressed)
		case length > size-v.at:
			return fmt.Errorf("byte %d: an element of %d bytes, must be at most %d, the rest of the file", at, length, size-v.at)
		case len(f.Variables) == mostVariables:
			return fmt.Errorf("more than %d variables", mostVariables)
		}
		if _, err := f.begin(&v); err != nil {
			return fmt.Errorf("byte %d: %w", at, err)
		}
		f.Variables = append(f.Variables, v)
		at = v.at + length
	}
	return nil
}

// begin reads the header of a variable, and returns the elements that follow.
func (f *File) begin(v *Variable) (*elements, error) {
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
	v.complex, v.Class = word&0x800 != 0, classes[0]
	if class := word & 0xff; class < uint32(len(classes)) {
		v.Class = classes[class]
	}
	if v.Class == classes[0] {
		return e, nil // such as a table of MATLAB, whose layout is not published
	}
	sides, err := e.read("dimensions", typeInt32, 4*mostDimensions)
	if err != nil {
		return nil, err
	}
	v.Shape = nil
	for ; len(sides) >= 4; sides = sides[4:] {
		v.Shape = append(v.Shape, int(int32(f.order.Uint32(sides))))
	}
	name, err := e.read("name", typeInt8, mostName)
	v.Name = string(name)
	return e, err
}

// Read calls read with the numbers of a dense matrix.
func (f *File) Read(v *Variable, read func(*numpy.Array) error) error {
	e, err := f.numbers(v)
	if err != nil {
		return err
	}
	a, err := e.array(v.Shape)
	if err != nil {
		return err
	}
	a.Fortran = true
	return read(a)
}

// numbers reads past the variable's name and returns a reader of its elements, which must be real numbers.
func (f *File) numbers(v *Variable) (*elements, error) {
	if slices.Index(classes, v.Class) < classSparse {
		return nil, fmt.Errorf("it is of the class %s, must be a matrix of numbers", v.Class)
	}
	if v.complex {
		return nil, errors.New("complex numbers, must be real")
	}
	return f.begin(v)
}

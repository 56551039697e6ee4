package npy

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Rows is a file of an array to which rows can be added at the end. Rows after those of its header are not part of the
// array yet, so that an interrupted addition leaves the array as it was.
type Rows struct {
	file  *os.File
	kind  numpy.DType
	shape []int // of one row
}

// OpenRows opens a file that Write wrote in mat.F32, to read it or, with write, to change it too. The data of a have
// the type and the shape of its rows.
func OpenRows(path string, a format.Array, write bool) (*Rows, error) {
	kind, _, err := numpy.Encode(a)
	if err != nil {
		return nil, err
	}
	mode := os.O_RDONLY
	if write {
		mode = os.O_RDWR
	}
	file, err := os.OpenFile(path, mode, 0)
	if err != nil {
		return nil, err
	}
	r := &Rows{file, kind, a.Sides()[1:]}
	if err := r.check(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// check returns an error unless the file has the expected type and shape of rows.
func (r *Rows) check() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	a, err := numpy.NewArray(io.NewSectionReader(r.file, 0, info.Size()), info.Size())
	if a == nil {
		return fmt.Errorf("%s: %w", r.file.Name(), err)
	} // otherwise, an error says only that the file has more or fewer rows than its header
	if a.DType != r.kind || a.Fortran || len(a.Shape) == 0 || !slices.Equal(a.Shape[1:], r.shape) {
		return fmt.Errorf("%s is %s of shape %v, must be %s with rows of shape %v", r.file.Name(), a.DType, a.Shape,
			r.kind, r.shape)
	}
	return nil
}

// Close closes the file.
func (r *Rows) Close() error { return r.file.Close() }

// header returns the header of an array of n rows.
func (r *Rows) header(n int) []byte { return numpy.Header(r.kind, append([]int{n}, r.shape...)) }

// place returns where row n begins, and the bytes of a row.
func (r *Rows) place(n int) (at, size int64) {
	size = int64(r.kind.Size)
	for _, side := range r.shape {
		size *= int64(side)
	}
	return int64(len(r.header(n))) + int64(n)*size, size
}

// Append writes a after the first n rows, and to the disk. The array has these rows once Resize has counted them.
func (r *Rows) Append(n int, a format.Array) error {
	_, blocks, err := numpy.Encode(a)
	if err != nil {
		return err
	}
	at, _ := r.place(n)
	if more := n + a.Sides()[0]; len(r.header(more)) != len(r.header(n)) {
		return fmt.Errorf("%s: the header has no room for %d rows", r.file.Name(), more)
	}
	for raw, err := range blocks {
		if err != nil {
			return err
		}
		if _, err := r.file.WriteAt(raw, at); err != nil {
			return err
		}
		at += int64(len(raw))
	}
	return r.file.Sync()
}

// Resize gives the array its first n rows, which must be in the file, and removes what follows them.
func (r *Rows) Resize(n int) error {
	end, _ := r.place(n)
	if info, err := r.file.Stat(); err != nil || info.Size() < end {
		return errors.Join(err, fmt.Errorf("%s: fewer than %d rows, must have at least as many", r.file.Name(), n))
	}
	if _, err := r.file.WriteAt(r.header(n), 0); err != nil {
		return err
	}
	return r.file.Truncate(end)
}

// Read sets dst to the given rows, ascending and without repeats, of a matrix of float32.
func (r *Rows) Read(ctx context.Context, dst *mat.Dense, rows []int32) error {
	first, size := r.place(0)
	dst.Reshape(len(rows), int(size)/4)
	errs := make([]error, (len(rows)+readChunk-1)/readChunk)
	err := parallel.ForContext(ctx, len(rows), readChunk, func(lo, hi int) {
		var raw []byte
		for from, end := lo, lo; from < hi; from = end {
			for end = from + 1; end < hi && int64(rows[end]-rows[end-1]-1)*size <= readGap; end++ {
			}
			at := int64(rows[from]) * size
			raw = slices.Grow(raw[:0], int((int64(rows[end-1])+1)*size-at))
			raw = raw[:cap(raw)][:(int64(rows[end-1])+1)*size-at]
			if _, err := r.file.ReadAt(raw, first+at); err != nil {
				errs[lo/readChunk] = fmt.Errorf("reading row %d of %s: %w", rows[from], r.file.Name(), err)
				return
			}
			for i := from; i < end; i++ {
				numbers := dst.Row(i)
				copy(memory.Bytes(numbers), raw[int64(rows[i])*size-at:])
				copy(memory.Bytes(numbers), numpy.LittleEndian(numbers)) // swaps the bytes of a big-endian machine
			}
		}
	})
	return errors.Join(append(errs, err)...)
}

// Integers returns the first n elements of a vector of integers.
func (r *Rows) Integers(n int) ([]int32, error) {
	first, size := r.place(0)
	raw := make([]byte, int64(n)*size)
	if _, err := r.file.ReadAt(raw, first); err != nil {
		return nil, fmt.Errorf("reading %d elements of %s: %w", n, r.file.Name(), err)
	}
	numbers := make([]int32, n)
	for i := range numbers {
		numbers[i] = int32(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return numbers, nil
}

// Texts reads an array of strings.
func Texts(path string) ([]string, error) {
	file, size, err := reading.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	a, err := numpy.NewArray(bufio.NewReader(file), size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return numpy.Texts(a)
}

// readChunk is the number of rows that one task reads. Rows are read at once if less than readGap bytes separate them,
// because a system call costs more than copying that many.
const (
	readChunk = 1 << 12
	readGap   = 16 << 10
)

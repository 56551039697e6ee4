package numpy

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Archive is an .npz file: a zip of .npy members, stored or deflated.
type Archive struct {
	// Path is the path of the file, and File lists its members.
	Path string
	File []*zip.File

	file    *os.File
	members map[string]*zip.File // the first member of each name
	meter   *reading.Meter
}

// OpenArchive opens an .npz file. Reading arrays reports to package progress, and stops when ctx is done.
func OpenArchive(ctx context.Context, path string) (*Archive, error) {
	file, size, err := reading.Open(path)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(file, size)
	if err != nil {
		file.Close()
		if errors.Is(err, zip.ErrFormat) {
			err = format.Wrong(path, "not an .npz file: no zip directory at its end")
		}
		return nil, err
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	total, members := uint64(0), make(map[string]*zip.File, len(z.File))
	for _, f := range z.File {
		total += min(f.UncompressedSize64, 1<<50) // an upper bound for any file
		if members[f.Name] == nil {
			members[f.Name] = f
		}
	}
	return &Archive{path, z.File, file, members, reading.New(ctx, path, int64(total))}, nil
}

// Close closes the file.
func (z *Archive) Close() error { return z.file.Close() }

// Holds reports whether file is an .npz file with an array of one of the names. It reads only the directory.
func Holds(file string, names ...string) bool {
	z, err := OpenArchive(context.Background(), file)
	if err != nil {
		return false
	}
	defer z.Close()
	return slices.ContainsFunc(names, z.Has)
}

// member returns the entry that holds the array of that name, or nil.
func (z *Archive) member(name string) *zip.File { return z.members[name+".npy"] }

// Open calls read with the array of that name.
func (z *Archive) Open(name string, read func(*Array) error) error { return open(z, name, read) }

// Fail returns a *format.ReadError about an array.
func (z *Archive) Fail(name string, err error) error {
	return format.Wrong(z.Path, "array %s: %w", name, err)
}

// Reader opens the array of that name for reading. Several arrays may be open at the same time.
func (z *Archive) Reader(name string) (*Array, io.Closer, error) {
	f := z.member(name)
	if f == nil {
		return nil, nil, z.Fail(name, errors.New("missing"))
	}
	const ratio = 1032 // deflate cannot compress more: a larger size is wrong, and would only waste memory
	if f.UncompressedSize64/ratio > f.CompressedSize64 {
		return nil, nil, z.Fail(name, fmt.Errorf("claims %d bytes from %d", f.UncompressedSize64, f.CompressedSize64))
	}
	r, err := f.Open()
	if err != nil {
		return nil, nil, z.Fail(name, err)
	}
	a, err := NewArray(z.meter.Reader(r), int64(f.UncompressedSize64))
	if err == nil && f.Method == zip.Store {
		var begin int64
		begin, err = f.DataOffset()
		a.At = io.NewSectionReader(z.file, begin+a.begin, int64(f.UncompressedSize64)-a.begin)
	}
	if err != nil {
		r.Close()
		return nil, nil, z.Fail(name, err)
	}
	return a, r, nil
}

// Has reports whether there is an array of that name.
func (z *Archive) Has(name string) bool { return z.member(name) != nil }

// Where returns the path of the file.
func (z *Archive) Where() string { return z.Path }

// Member reads the array of that name, of any shape.
func Member[T Number](z Opener, name string) (numbers []T, err error) {
	err = z.Open(name, func(a *Array) error {
		numbers, err = Numbers[T](a)
		return err
	})
	return numbers, err
}

// CSR reads the arrays prefix+{indptr, indices, data, shape} of scipy's CSR matrix. Columns are in range, but may be
// unsorted and, unless data is boolean, repeated. CSR stops when ctx is done.
func (z *Archive) CSR(ctx context.Context, prefix string) (*mat.CSR, error) {
	if z.Has(prefix + "format") {
		var layout string
		if err := z.Open(prefix+"format", func(a *Array) error {
			text, err := io.ReadAll(a.R)
			layout = strings.ReplaceAll(string(text), "\x00", "")
			return err
		}); err != nil {
			return nil, err
		}
		if layout != "csr" {
			return nil, format.Wrong(z.Path, "matrix in %s format, must be csr (scipy: .tocsr())", layout)
		}
	}
	shape, err := Member[int64](z, prefix+"shape")
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 || shape[0] < 0 || shape[1] < 0 || max(shape[0], shape[1]) > graph.MaxNodes {
		return nil, format.Wrong(z.Path, "array %sshape is %v, expected rows and columns up to %d", prefix,
			shape, graph.MaxNodes)
	}
	m := &mat.CSR{Rows: int(shape[0]), Cols: int(shape[1])}
	if m.Indptr, err = Member[int64](z, prefix+"indptr"); err != nil {
		return nil, err
	}
	if m.Indices, err = Member[int32](z, prefix+"indices"); err != nil {
		return nil, err
	}
	truth := false
	if err := z.Open(prefix+"data", func(a *Array) error {
		truth = a.Kind == 'b'
		m.Data, err = Numbers[float32](a)
		return err
	}); err != nil {
		return nil, err
	}
	if err := csr.Check(ctx, m); err != nil {
		return nil, &format.ReadError{File: z.Path, Err: err}
	}
	if truth {
		err = csr.SortRows(ctx, m)
		for e := range m.Data { // true added to true is true
			m.Data[e] = min(1, m.Data[e])
		}
	}
	return m, err
}

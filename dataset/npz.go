package dataset

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/graph-condensation/cgc/mat"
)

// archive is an .npz file: a zip of .npy members, stored or deflated.
type archive struct {
	*zip.ReadCloser
	file string
}

func openArchive(file string) (*archive, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		if errors.Is(err, zip.ErrFormat) {
			err = &ReadError{File: file, Err: errors.New("not an .npz file: no zip directory at its end")}
		}
		return nil, err
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	return &archive{z, file}, nil
}

// member returns the entry that holds the array of that name, or nil.
func (z *archive) member(name string) *zip.File {
	for _, f := range z.File {
		if f.Name == name+".npy" {
			return f
		}
	}
	return nil
}

// open calls read with the array of that name.
func (z *archive) open(name string, read func(*array) error) error {
	fail := func(err error) error {
		return &ReadError{File: z.file, Err: fmt.Errorf("array %s: %w", name, err)}
	}
	f := z.member(name)
	if f == nil {
		return fail(errors.New("missing"))
	}
	const ratio = 1032 // the most that deflate can shrink: a larger claim is a lie, and not worth the memory
	if f.UncompressedSize64/ratio > f.CompressedSize64 {
		return fail(fmt.Errorf("claims %d bytes from %d", f.UncompressedSize64, f.CompressedSize64))
	}
	r, err := f.Open()
	if err != nil {
		return fail(err)
	}
	defer r.Close()
	a, err := newArray(r, int64(f.UncompressedSize64))
	if err == nil {
		err = read(a)
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

// readMember reads the array of that name, whatever its shape.
func readMember[T number](z *archive, name string) (numbers []T, err error) {
	err = z.open(name, func(a *array) error {
		numbers, err = readNumbers[T](a)
		return err
	})
	return numbers, err
}

// csr reads the arrays prefix+{indptr, indices, data, shape}, which scipy calls a CSR matrix. Columns need not ascend and may repeat,
// but they are in range.
func (z *archive) csr(prefix string) (*mat.CSR, error) {
	if z.member(prefix+"format") != nil {
		var format string
		if err := z.open(prefix+"format", func(a *array) error {
			text, err := io.ReadAll(a.r)
			format = strings.ReplaceAll(string(text), "\x00", "")
			return err
		}); err != nil {
			return nil, err
		}
		if format != "csr" {
			return nil, &ReadError{File: z.file, Err: fmt.Errorf("matrix in %s format, want csr (scipy: .tocsr())", format)}
		}
	}
	shape, err := readMember[int64](z, prefix+"shape")
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 || shape[0] < 0 || shape[1] < 0 || max(shape[0], shape[1]) > maxNodes {
		return nil, &ReadError{File: z.file, Err: fmt.Errorf("array %sshape is %v, want rows and columns up to %d", prefix, shape, maxNodes)}
	}
	m := &mat.CSR{Rows: int(shape[0]), Cols: int(shape[1])}
	if m.Indptr, err = readMember[int64](z, prefix+"indptr"); err != nil {
		return nil, err
	}
	if m.Indices, err = readMember[int32](z, prefix+"indices"); err != nil {
		return nil, err
	}
	if m.Data, err = readMember[float32](z, prefix+"data"); err != nil {
		return nil, err
	}
	if err := checkCSR(m); err != nil {
		return nil, &ReadError{File: z.file, Err: err}
	}
	return m, nil
}

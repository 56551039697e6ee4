package numpy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
)

// Folder is a folder of .npy files: the array NAME is the file NAME.npy.
type Folder struct {
	// Path is the path of the folder.
	Path string

	ctx context.Context
}

// OpenFolder returns the arrays of a folder. Reading reports to package progress, and stops when ctx is done.
func OpenFolder(ctx context.Context, path string) *Folder { return &Folder{path, ctx} }

// Close does nothing: files are open only while they are read.
func (*Folder) Close() error { return nil }

// Has reports whether there is an array of that name.
func (f *Folder) Has(name string) bool {
	info, err := os.Stat(f.file(name))
	return err == nil && info.Mode().IsRegular()
}

// Where returns the path of the folder.
func (f *Folder) Where() string { return f.Path }

func (f *Folder) file(name string) string { return filepath.Join(f.Path, name+".npy") }

// Fail returns a *format.ReadError about an array.
func (f *Folder) Fail(name string, err error) error {
	return &format.ReadError{File: f.file(name), Err: err}
}

// Open calls read with the array of that name.
func (f *Folder) Open(name string, read func(*Array) error) error { return open(f, name, read) }

// open implements Open for a Folder and an Archive.
func open(z Source, name string, read func(*Array) error) error {
	a, closer, err := z.Reader(name)
	if err != nil {
		return err
	}
	defer closer.Close()
	if err := read(a); err != nil {
		return z.Fail(name, err)
	}
	return nil
}

// Reader opens the array of that name for reading. Several arrays may be open at the same time.
func (f *Folder) Reader(name string) (*Array, io.Closer, error) {
	a, file, err := openArray(f.ctx, f.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		err = f.Fail(name, errors.New("missing"))
	}
	return a, file, err
}

// openArray opens an .npy file, and reads its header.
func openArray(ctx context.Context, path string) (*Array, *os.File, error) {
	file, size, err := reading.Open(path)
	if err != nil {
		return nil, nil, err
	}
	a, err := NewArray(reading.New(ctx, path, size).Reader(file), size)
	if err != nil {
		file.Close()
		return nil, nil, &format.ReadError{File: path, Err: err}
	}
	a.At = io.NewSectionReader(file, a.begin, size-a.begin)
	return a, file, nil
}

// Opener provides named arrays.
type Opener interface {
	// Open calls read with the array of that name. Every error, including one of read, is a *format.ReadError with the
	// name.
	Open(name string, read func(*Array) error) error
	// Has reports whether there is an array of that name.
	Has(name string) bool
	// Where returns the path of the file or the folder.
	Where() string
}

// Source is an Archive or a Folder.
type Source interface {
	Opener
	// Reader opens the array of that name for reading. Several arrays may be open at the same time.
	Reader(name string) (*Array, io.Closer, error)
	// Fail returns a *format.ReadError about the array of that name.
	Fail(name string, err error) error
	// Close closes the file, if there is one.
	Close() error
}

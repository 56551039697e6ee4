// Package matlab reads graphs from the .mat files of MATLAB 5 to 7, and those that scipy.io.savemat writes.
package matlab

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/dataset/format/internal/roles"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Name is the name of the format.
const Name = "matlab"

const extension = ".mat"

// Format reads one .mat file of matrices, which are found by their role, and the files of Facebook100.
type Format struct {
	unlabelled bool // the array of labels may be missing
}

var (
	_ format.Splitter   = Format{}
	_ format.Unlabeller = Format{}
)

// Unlabelled implements format.Unlabeller.
func (Format) Unlabelled() format.Format { return Format{unlabelled: true} }

// Describe implements format.Format. Files have the extension .mat.
func (Format) Describe() format.Description {
	return format.Description{Title: "MATLAB and Facebook100", File: "a .mat file", Extensions: []string{extension}}
}

// Recognise checks the file extension, and the start of the file.
func (Format) Recognise(path string) format.Certainty {
	if filepath.Ext(path) != extension {
		return format.No
	}
	f, err := os.Open(path)
	if err != nil {
		return format.Likely // Read reports the error
	}
	defer f.Close()
	start := make([]byte, len(magic))
	if _, err := io.ReadFull(f, start); err != nil || string(start) != magic {
		return format.Likely
	}
	return format.Certain
}

// Read reads a file. Labels that start at 1 are shifted to start at 0.
func (f Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	return f.ReadSplit(ctx, path, 0)
}

// ReadSplit implements format.Splitter: masks may hold several splits.
func (f Format) ReadSplit(ctx context.Context, path string, split int) (*graph.Graph, []string, error) {
	opened, err := open(ctx, path)
	if err != nil {
		return nil, nil, reading.Failed(path, err)
	}
	defer opened.Close()
	if err := opened.readPeople(); err != nil {
		return nil, nil, err
	}
	return roles.Read(ctx, opened, nil, strings.TrimSuffix(filepath.Base(path), extension), split, f.unlabelled)
}

// Where returns the path of the file.
func (f *file) Where() string { return f.Name() }

// Holds describes each variable.
func (f *file) Holds() (texts []string) {
	for _, v := range f.variables {
		texts = append(texts, roles.Shown(v.name, v.shape, v.class))
	}
	return texts
}

// Has reports whether there is a matrix of that name.
func (f *file) Has(name string) bool {
	return f.find(name) != nil || f.people != nil && (name == peopleX || name == peopleY)
}

// Open calls read with the matrix of that name.
func (f *file) Open(name string, read func(*numpy.Array) error) error {
	v := f.find(name)
	var err error
	switch {
	case v == nil && f.people != nil && name == peopleY:
		err = read(f.people.labels())
	case v == nil:
		err = errors.New("missing")
	case v.sparse():
		err = errors.New("a sparse matrix, must be dense")
	default:
		err = f.dense(v, read)
	}
	return f.fail(name, err)
}

// fail returns a *format.ReadError about a matrix, or nil.
func (f *file) fail(name string, err error) error {
	if err == nil {
		return nil
	}
	return format.Wrong(f.Name(), "array %s: %w", name, err)
}

// Matrix returns a sparse matrix, or nil.
func (f *file) Matrix(ctx context.Context, name string, n int) (*mat.CSR, error) {
	v := f.find(name)
	if v == nil && f.people != nil && name == peopleX {
		return f.people.features(), nil
	}
	if v == nil || !v.sparse() {
		return nil, nil
	}
	m, err := f.matrix(ctx, v, n)
	return m, f.fail(name, err)
}

package npz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/pickle"
	"github.com/graph-condensation/cgc/dataset/format/internal/roles"
	"github.com/graph-condensation/cgc/mat"
)

// metadata is the name of an array of one string: a JSON object of strings.
const metadata = "cgc"

// maxPickle bounds the bytes of a pickled array.
const maxPickle = 1 << 32

// file is an .npz file with its metadata. An array may be a pickled object. A sparse matrix is a pickled object, or
// consists of the arrays NAME_indptr, NAME_indices, NAME_data and NAME_shape. A dot may replace the "_".
type file struct {
	*numpy.Archive
	meta map[string]string
}

func open(ctx context.Context, path string) (*file, error) {
	z, err := numpy.OpenArchive(ctx, path)
	if err != nil {
		return nil, err
	}
	f := &file{Archive: z}
	if !z.Has(metadata) {
		return f, nil
	}
	var texts []string
	err = f.Open(metadata, func(a *numpy.Array) (err error) {
		texts, err = numpy.Texts(a)
		return err
	})
	if err == nil && len(texts) == 1 {
		err = json.Unmarshal([]byte(texts[0]), &f.meta)
	}
	if err != nil || len(texts) != 1 {
		z.Close()
		return nil, format.Wrong(path, "array %s: must be a JSON object of strings", metadata)
	}
	return f, nil
}

// names returns the names of the arrays, in the order of the file.
func (f *file) names() (names []string) {
	for _, member := range f.File {
		if name, isArray := strings.CutSuffix(member.Name, ".npy"); isArray && name != metadata {
			names = append(names, name)
		}
	}
	return names
}

// Holds describes each array. An array without a valid header has only its name.
func (f *file) Holds() (texts []string) {
	for _, name := range f.names() {
		a, closer, err := f.Reader(name)
		if err != nil {
			texts = append(texts, fmt.Sprintf("%q", name))
			continue
		}
		texts = append(texts, roles.Shown(name, a.Shape, a.DType.String()))
		closer.Close()
	}
	slices.Sort(texts)
	return texts
}

// Has reports whether there is an array or a sparse matrix of that name.
func (f *file) Has(name string) bool { return f.Archive.Has(name) || f.prefix(name) != "" }

// prefix returns the common prefix of the names of a sparse matrix's arrays, or "" if there is none.
func (f *file) prefix(name string) string {
	for _, prefix := range []string{name + "_", name + "."} {
		if f.Archive.Has(prefix+"data") || f.Archive.Has(prefix+"indptr") {
			return prefix
		}
	}
	return ""
}

// Open calls read with the array of that name. An object must be a pickled array.
func (f *file) Open(name string, read func(*numpy.Array) error) error {
	return f.Archive.Open(name, func(a *numpy.Array) error {
		if a.Kind != numpy.Object {
			return read(a)
		}
		object, err := unpickle(a.R)
		if err != nil {
			return err
		}
		pickled, is := object.(*pickle.Array)
		if !is {
			return fmt.Errorf("found %s, expected an array", pickle.Kind(object))
		}
		return read(pickled.Open())
	})
}

// Matrix returns a sparse matrix, or nil.
func (f *file) Matrix(ctx context.Context, name string, n int) (m *mat.CSR, err error) {
	if !f.Archive.Has(name) {
		return f.CSR(ctx, f.prefix(name))
	}
	err = f.Archive.Open(name, func(a *numpy.Array) error {
		if a.Kind != numpy.Object {
			return nil
		}
		object, err := unpickle(a.R)
		if err != nil {
			return err
		}
		if pickled, is := object.(*pickle.Matrix); is {
			m, err = pickled.CSR(ctx, n)
		}
		return err
	})
	return m, err
}

// unpickle returns the object in an array of one object, as numpy.savez writes it. Nothing is executed.
func unpickle(r io.Reader) (any, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPickle+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxPickle {
		return nil, errors.New("pickle of more than 4 GiB, expected CSR arrays (docs/reference/formats.md)")
	}
	object, err := pickle.Load(data)
	if a, ok := object.(*pickle.Array); ok && len(a.Objects) == 1 {
		object = a.Objects[0]
	}
	return object, err
}

// Package pyg reads and writes graphs in one .npz file with the arrays of a Data object of PyTorch Geometric.
package pyg

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/pygraph"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Name is the name of the format.
const Name = "pyg"

const (
	extension = ".npz"
	edgeIndex = "edge_index"

	metadata = "cgc" // an array of one string: a JSON object of strings
)

// Format reads and writes one .npz file with x, y and edge_index, and optionally with edge_weight and masks. It also
// stores condensed graphs.
type Format struct{}

// Describe implements format.Format. Files have the extension .npz.
func (Format) Describe() format.Description {
	return format.Description{
		Title: "PyTorch Geometric's arrays", File: "a .npz file with edge_index", Extensions: []string{extension},
	}
}

// Recognise looks for edge_index in the directory of the file.
func (Format) Recognise(path string) format.Certainty {
	if filepath.Ext(path) == extension && numpy.Holds(path, edgeIndex) && !numpy.Holds(path, "adj_matrix") {
		return format.Certain
	}
	return format.No
}

// Read reads a file. Labels that start at 1 are shifted to start at 0.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	z, err := open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer z.Close()
	return pygraph.Read(ctx, z, strings.TrimSuffix(filepath.Base(path), extension))
}

// file is an .npz file with its metadata.
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
	texts, err := f.Strings(metadata)
	if err == nil && len(texts) == 1 {
		err = json.Unmarshal([]byte(texts[0]), &f.meta)
	}
	if err != nil || len(texts) != 1 {
		z.Close()
		return nil, &format.ReadError{File: path, Err: fmt.Errorf("array %s: must be a JSON object of strings", metadata)}
	}
	return f, nil
}

// Matrix returns nil, because the arrays of an .npz file are not sparse matrices.
func (*file) Matrix(context.Context, string, int) (*mat.CSR, error) { return nil, nil }

// Strings returns the elements of an array of strings.
func (f *file) Strings(name string) (texts []string, err error) {
	err = f.Open(name, func(a *numpy.Array) error {
		texts, err = numpy.Texts(a)
		return err
	})
	return texts, err
}

// Metadata returns the metadata of a graph that cgc wrote.
func (f *file) Metadata() map[string]string { return f.meta }

// Package arrays reads graphs from one .npz file of CSR arrays, in the layout of Shchur et al. 2018, "Pitfalls of Graph
// Neural Network Evaluation".
package arrays

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/mat"
)

// Name is the name of the format.
const Name = "npz"

const extension = ".npz"

// Format reads one .npz file with the arrays adj_{data,indices,indptr,shape}, attr_{…} or a dense attr_matrix, and
// labels.
type Format struct{}

// Describe implements format.Format. Files have the extension .npz.
func (Format) Describe() format.Description {
	return format.Description{Title: "CSR arrays", File: "a .npz file", Extensions: []string{extension}}
}

// Recognise checks the file extension. It leaves files of scipy objects and of PyTorch Geometric to their own formats.
func (Format) Recognise(path string) format.Certainty {
	if filepath.Ext(path) == extension && !numpy.Holds(path, "adj_matrix", "edge_index") {
		return format.Likely
	}
	return format.No
}

// Read reads a file, which has no split. Labels that start at 1 are shifted to start at 0.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	z, err := numpy.OpenArchive(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer z.Close()
	m, err := z.CSR(ctx, "adj_")
	if err != nil {
		return nil, nil, err
	}
	b := graph.Builder{Name: strings.TrimSuffix(filepath.Base(path), extension), Nodes: m.Rows}
	if b.Edges, err = csr.Edges(ctx, m); err != nil {
		return nil, nil, &format.ReadError{File: path, Err: err}
	}
	if b.X, err = features(ctx, z); err != nil {
		return nil, nil, err
	}
	labels, err := numpy.Member[int64](z, "labels")
	if err != nil {
		return nil, nil, err
	}
	if len(labels) != m.Rows {
		err = fmt.Errorf("%d labels for %d nodes", len(labels), m.Rows)
	} else {
		b.Y, err = content.Labels(labels)
	}
	if err != nil {
		return nil, nil, &format.ReadError{File: path, Err: err}
	}
	g, changes, err := b.Graph(ctx)
	if err != nil {
		return nil, nil, format.Locate(err, path, nil)
	}
	return g, content.Notes(g, changes), nil
}

// features reads attr_matrix, or the sparse attr_*.
func features(ctx context.Context, z *numpy.Archive) (mat.Matrix, error) {
	if !z.Has("attr_matrix") {
		x, err := z.CSR(ctx, "attr_")
		if err == nil {
			err = csr.SortRows(ctx, x)
		}
		return x, err
	}
	var x *mat.Dense
	err := z.Open("attr_matrix", func(a *numpy.Array) (err error) {
		x, err = numpy.Dense(a)
		return err
	})
	return x, err
}

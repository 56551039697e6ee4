// Package scipy reads graphs from one .npz file whose arrays hold scipy's sparse matrices as pickled objects.
package scipy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/parts"
	"github.com/graph-condensation/cgc/dataset/format/internal/pickle"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/mat"
)

// Name is the name of the format.
const Name = "scipy"

const extension = ".npz"

// The names of the arrays. The first that exists is read.
var (
	adjacencyNames = []string{"adj_matrix"}
	featureNames   = []string{"node_attr", "attr_matrix", "features"}
	labelNames     = []string{"node_label", "labels", "label"}
)

// Format reads one .npz file with adj_matrix, node_attr and node_label. A matrix may be dense, or a sparse matrix of
// scipy, which numpy stores as a pickled object. Nothing is executed.
type Format struct{}

// Describe implements format.Format. Files have the extension .npz.
func (Format) Describe() format.Description {
	return format.Description{Title: "scipy objects", File: "a .npz file with adj_matrix", Extensions: []string{extension}}
}

// Recognise looks for adj_matrix in the directory of the file.
func (Format) Recognise(path string) format.Certainty {
	if filepath.Ext(path) == extension && numpy.Holds(path, adjacencyNames[0]) {
		return format.Certain
	}
	return format.No
}

// Read reads a file, which may have masks or lists of a split. Labels that start at 1 are shifted to start at 0.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	z, err := numpy.OpenArchive(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer z.Close()
	b := graph.Builder{Name: strings.TrimSuffix(filepath.Base(path), extension)}
	if b.Y, err = labels(z); err != nil { // labels come first: the number of nodes bounds the memory for the rest
		return nil, nil, err
	}
	b.Nodes = len(b.Y)
	adjacency, _, err := matrix(ctx, z, adjacencyNames, b.Nodes)
	if err != nil {
		return nil, nil, err
	}
	if b.Edges, err = csr.Edges(ctx, sparse(adjacency)); err != nil {
		return nil, nil, &format.ReadError{File: path, Err: fmt.Errorf("adj_matrix: %w", err)}
	}
	var features string
	if b.X, features, err = matrix(ctx, z, featureNames, b.Nodes); err != nil {
		return nil, nil, err
	}
	split, notes, err := parts.Read(z, b.Nodes)
	if err != nil {
		return nil, nil, err
	}
	b.Split = split
	g, changes, err := b.Graph(ctx)
	if err != nil {
		return nil, nil, format.LocateArrays(err, path, map[string]string{
			"edges": adjacencyNames[0], "features": features, "labels": "node_label", "split": "train_mask",
		})
	}
	return g, append(notes, content.Notes(g, changes)...), nil
}

// open calls read with the content of the first array that has one of the names: an *Array of numbers, or the pickled
// object. It returns that name.
func open(z *numpy.Archive, names []string, read func(numbers *numpy.Array, object any) error) (string, error) {
	for _, name := range names {
		if !z.Has(name) {
			continue
		}
		return name, z.Open(name, func(a *numpy.Array) error {
			if a.Kind != numpy.Object {
				return read(a, nil)
			}
			object, err := unpickle(a.R)
			if err != nil {
				return err
			}
			return read(nil, object)
		})
	}
	return "", &format.ReadError{File: z.Path, Err: fmt.Errorf("array %s: missing", names[0])}
}

// maxPickle bounds the bytes of a pickled array.
const maxPickle = 1 << 32

// unpickle returns the object in an array of one object, as numpy.savez writes it.
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

// labels returns the label of each node.
func labels(z *numpy.Archive) ([]int32, error) {
	var y []int32
	_, err := open(z, labelNames, func(a *numpy.Array, object any) error {
		if pickled, ok := object.(*pickle.Array); ok {
			a = pickled.Open()
		}
		if a == nil {
			return fmt.Errorf("found %s, expected an array of labels", pickle.Kind(object))
		}
		if len(a.Shape) != 1 && (len(a.Shape) != 2 || a.Shape[1] != 1) {
			return fmt.Errorf("shape %v, expected one label for each node", a.Shape)
		}
		numbers, err := numpy.Numbers[int64](a)
		if err != nil {
			return err
		}
		y, err = content.Labels(numbers)
		return err
	})
	return y, err
}

// matrix returns a matrix with n rows, and the name of its array.
func matrix(ctx context.Context, z *numpy.Archive, names []string, n int) (m mat.Matrix, name string, err error) {
	name, err = open(z, names, func(a *numpy.Array, object any) error {
		switch o := object.(type) {
		case *pickle.Matrix:
			rows, cols, err := o.Shape()
			if err != nil {
				return err
			}
			if rows != n {
				return fmt.Errorf("shape %d×%d, expected %d rows, one for each label", rows, cols, n)
			}
			m, err = o.CSR(ctx)
			return err
		case *pickle.Array:
			a = o.Open()
		}
		if a == nil {
			return fmt.Errorf("found %s, expected a matrix", pickle.Kind(object))
		}
		if len(a.Shape) != 2 || a.Shape[0] != n {
			return fmt.Errorf("shape %v, expected %d rows, one for each label", a.Shape, n)
		}
		m, err = numpy.Dense(a)
		return err
	})
	return m, name, err
}

// sparse returns m, a *mat.CSR or *mat.Dense, as a *mat.CSR.
func sparse(m mat.Matrix) *mat.CSR {
	dense, ok := m.(*mat.Dense)
	if !ok {
		return m.(*mat.CSR)
	}
	s := &mat.CSR{Rows: dense.Rows, Cols: dense.Cols, Indptr: make([]int64, dense.Rows+1), Data: []float32{}}
	for i := range dense.Rows {
		for j, v := range dense.Row(i) {
			if v != 0 {
				s.Indices, s.Data = append(s.Indices, int32(j)), append(s.Data, v)
			}
		}
		s.Indptr[i+1] = int64(len(s.Indices))
	}
	return s
}

// Package pygraph reads a graph from arrays with the names of a Data object of PyTorch Geometric.
package pygraph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/parts"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// The names of the arrays.
const (
	features   = "x"
	labels     = "y"
	edgeIndex  = "edge_index"
	edgeWeight = "edge_weight"
	adjacency  = "adj_t" // the transposed adjacency, a sparse matrix
	nodeNames  = "ids"
)

// Source is a file of named arrays.
type Source interface {
	parts.Source
	// Matrix returns the array of that name if it is a sparse matrix of at most n rows, else nil. n < 0 means any number
	// of rows.
	Matrix(ctx context.Context, name string, n int) (*mat.CSR, error)
	// Strings returns the list of strings of that name.
	Strings(name string) ([]string, error)
	// Metadata returns the metadata of a graph written by format.GraphArrays, or nil.
	Metadata() map[string]string
}

// Read returns the graph in z, and notes. z has x and y, edge_index or adj_t, and may have edge_weight, masks or lists
// of a split, and ids. name is the name of the graph unless the metadata has one. Labels that start at 1 are shifted to
// start at 0, unless the metadata says how many classes there are. Errors name the array. For a condensed graph the
// error is format.ErrCondensed.
func Read(ctx context.Context, z Source, name string) (*graph.Graph, []string, error) {
	meta := z.Metadata()
	if meta["format"] == format.CondensedKind {
		return nil, nil, &format.ReadError{File: z.Where(), Err: format.ErrCondensed}
	}
	b := graph.Builder{Name: name}
	var err error
	if b.X, err = readFeatures(ctx, z); err != nil {
		return nil, nil, err
	}
	b.Nodes, _ = b.X.Dims()
	own := meta["format"] == format.GraphKind
	if b.Y, err = readLabels(z, b.Nodes, own); err != nil {
		return nil, nil, err
	}
	if own {
		if err := describe(&b, z, meta); err != nil {
			return nil, nil, err
		}
	}
	if b.Edges, err = readEdges(ctx, z, b.Nodes); err != nil {
		return nil, nil, err
	}
	var notes []string
	if b.Split, notes, err = parts.Read(z, b.Nodes); err != nil {
		return nil, nil, err
	}
	if err := parts.Labelled(z, b.Split, b.Y); err != nil {
		return nil, nil, err
	}
	g, changes, err := b.Graph(ctx)
	if err != nil {
		return nil, nil, format.LocateArrays(err, z.Where(), map[string]string{
			"edges": edgeIndex, "features": features, "labels": labels, "split": "train_mask",
		})
	}
	return g, append(notes, content.Notes(g, changes)...), nil
}

// describe sets the metadata of a graph that cgc wrote, and the names of its nodes.
func describe(b *graph.Builder, z Source, meta map[string]string) (err error) {
	wrong := func(text string, args ...any) error {
		return &format.ReadError{File: z.Where(), Err: fmt.Errorf("metadata: "+text, args...)}
	}
	if meta["name"] != "" {
		b.Name = meta["name"]
	}
	if b.Classes, err = strconv.Atoi(meta["classes"]); err != nil || b.Classes < 0 {
		return wrong("classes is %.20q, must be the number of classes", meta["classes"])
	}
	if names, has := meta["class_names"]; has {
		if err := json.Unmarshal([]byte(names), &b.ClassNames); err != nil {
			return wrong("class_names is %.50q, must be a JSON list of names", names)
		}
	}
	if z.Has(nodeNames) {
		b.IDs, err = z.Strings(nodeNames)
	}
	return err
}

// missing is the error for a missing array.
func missing(z Source, name, want string) error {
	return &format.ReadError{File: z.Where(), Err: fmt.Errorf("%s: missing, expected %s", name, want)}
}

// readFeatures returns x, nodes × features, dense or sparse.
func readFeatures(ctx context.Context, z Source) (x mat.Matrix, err error) {
	if !z.Has(features) {
		return nil, missing(z, features, "nodes × features")
	}
	if s, err := z.Matrix(ctx, features, -1); s != nil || err != nil {
		return s, err
	}
	err = z.Open(features, func(a *numpy.Array) error {
		if len(a.Shape) != 2 {
			return fmt.Errorf("shape %v, expected nodes × features", a.Shape)
		}
		x, err = numpy.Dense(a)
		return err
	})
	return x, err
}

// readLabels returns the labels of n nodes. Floating-point labels must be integers, or NaN for no label. If own is
// true, labels are not shifted.
func readLabels(z Source, n int, own bool) (y []int32, err error) {
	if !z.Has(labels) {
		return nil, missing(z, labels, fmt.Sprintf("a label for each node, %d for none", graph.Unlabelled))
	}
	err = z.Open(labels, func(a *numpy.Array) error {
		column := len(a.Shape) == 2 && a.Shape[1] == 1
		if len(a.Shape) == 2 && a.Shape[1] > 1 && a.Shape[0] == n {
			return fmt.Errorf("shape %v: %d labels for each node, expected one", a.Shape, a.Shape[1])
		}
		if (len(a.Shape) != 1 && !column) || a.Shape[0] != n {
			return fmt.Errorf("shape %v, expected [%d], one label for each node", a.Shape, n)
		}
		numbers, err := wholeNumbers(a)
		if err != nil {
			return err
		}
		if own {
			y = memory.Make[int32](n)
			for i, c := range numbers {
				if y[i], err = content.Label(int64(i), c); err != nil {
					return err
				}
			}
			return nil
		}
		y, err = content.Labels(numbers)
		return err
	})
	return y, err
}

// wholeNumbers returns the elements of a, with NaN as graph.Unlabelled.
func wholeNumbers(a *numpy.Array) ([]int64, error) {
	if a.Kind != 'f' && a.Kind != 'e' {
		return numpy.Numbers[int64](a)
	}
	floats, err := numpy.Numbers[float32](a)
	if err != nil {
		return nil, err
	}
	numbers := memory.Make[int64](len(floats))
	for i, v := range floats {
		if v != v {
			numbers[i] = graph.Unlabelled
		} else if numbers[i] = int64(v); float32(numbers[i]) != v {
			return nil, fmt.Errorf("element %d is %v, must be a whole number, the class of the node", i, v)
		}
	}
	return numbers, nil
}

// readEdges returns the edges of n nodes: edge_index with edge_weight if present, or adj_t.
func readEdges(ctx context.Context, z Source, n int) (e graph.Edges, err error) {
	if !z.Has(edgeIndex) && z.Has(adjacency) {
		return readMatrix(ctx, z, n)
	}
	if !z.Has(edgeIndex) {
		return e, missing(z, edgeIndex, "2 × edges")
	}
	err = z.Open(edgeIndex, func(a *numpy.Array) error {
		if len(a.Shape) != 2 || a.Shape[0] != 2 {
			hint := ""
			if len(a.Shape) == 2 && a.Shape[1] == 2 {
				hint = " (transpose it: edge_index.T)"
			}
			return fmt.Errorf("shape %v, must be 2 × edges%s", a.Shape, hint)
		}
		if a.Kind != 'i' && a.Kind != 'u' {
			return fmt.Errorf("elements of type %s, must be whole numbers", a.DType)
		}
		ends, err := numpy.Numbers[int32](a)
		if err != nil {
			return err
		}
		for i, v := range ends {
			if v < 0 || int(v) >= n {
				return fmt.Errorf("node %d at [%d, %d], must be 0 to %d, the rows of x",
					v, i/a.Shape[1], i%a.Shape[1], n-1)
			}
		}
		e.From, e.To = ends[:a.Shape[1]], ends[a.Shape[1]:]
		return nil
	})
	if err != nil || !z.Has(edgeWeight) {
		return e, err
	}
	err = z.Open(edgeWeight, func(a *numpy.Array) error {
		if e.Weight, err = numpy.Numbers[float32](a); err != nil {
			return err
		}
		if len(e.Weight) != e.Len() {
			return fmt.Errorf("%d weights for %d edges", len(e.Weight), e.Len())
		}
		if at := slices.IndexFunc(e.Weight, func(w float32) bool { return !(w > 0) }); at >= 0 {
			return fmt.Errorf("weight %v of edge %d, must be a positive number", e.Weight[at], at)
		}
		if !slices.ContainsFunc(e.Weight, func(w float32) bool { return w != 1 }) {
			e.Weight = nil
		}
		return nil
	})
	return e, err
}

// readMatrix returns the entries of adj_t, n×n.
func readMatrix(ctx context.Context, z Source, n int) (e graph.Edges, err error) {
	m, err := z.Matrix(ctx, adjacency, n)
	if err != nil {
		return e, err
	}
	if m == nil {
		err = errors.New("it is no sparse matrix, must be one of nodes × nodes")
	} else if m.Rows != n || m.Cols != n {
		err = fmt.Errorf("shape %d×%d, expected %d×%d, a row for each row of x", m.Rows, m.Cols, n, n)
	} else {
		e, err = csr.Edges(ctx, m)
	}
	if err != nil {
		return e, &format.ReadError{File: z.Where(), Err: fmt.Errorf("%s: %w", adjacency, err)}
	}
	return e, nil
}

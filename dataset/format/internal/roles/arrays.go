package roles

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// anyRows is the number of rows of features that may have any number.
const anyRows = -1

// readFeatures returns a matrix of n rows, dense or sparse.
func readFeatures(ctx context.Context, z Source, name string, n int) (x mat.Matrix, err error) {
	most := n
	if n == anyRows {
		most = graph.MaxNodes
	}
	s, err := z.Matrix(ctx, name, most)
	if err != nil {
		return nil, err
	}
	if s != nil {
		if n != anyRows && s.Rows != n {
			return nil, wrong(z, "array %s: shape %d×%d, must have %d rows, one for each label", name, s.Rows, s.Cols, n)
		}
		if s.Data == nil {
			return s, nil // its columns are in order
		}
		return s, csr.SortRows(ctx, s)
	}
	err = z.Open(name, func(a *numpy.Array) error {
		if len(a.Shape) != 2 {
			return fmt.Errorf("shape %v, expected nodes × features", a.Shape)
		}
		if n != anyRows && a.Shape[0] != n {
			return fmt.Errorf("shape %v, must have %d rows, one for each label", a.Shape, n)
		}
		x, err = numpy.Dense(a)
		return err
	})
	return x, err
}

// readLabels returns the label of each node: an array with one dimension, or one row, or one column. Floating-point
// labels must be integers, or NaN for no label. If own is true, labels are not shifted, and classes get no names.
func readLabels(z Source, name string, own bool) (y []int32, classNames []string, err error) {
	err = z.Open(name, func(a *numpy.Array) error {
		switch {
		case len(a.Shape) == 2 && a.Shape[1] > 1 && a.Shape[0] > 1:
			return fmt.Errorf("shape %v: %d labels for each node, expected one", a.Shape, a.Shape[1])
		case len(a.Shape) != 1 && (len(a.Shape) != 2 || min(a.Shape[0], a.Shape[1]) != 1):
			return fmt.Errorf("shape %v, expected one label for each node", a.Shape)
		}
		numbers, err := integers(a)
		switch {
		case err != nil && (a.Kind == 'U' || a.Kind == numpy.Object):
			return fmt.Errorf("%w: numpy.unique(%s, return_inverse=True)[1] numbers names", err, name)
		case err != nil:
			return err
		}
		if y, err = content.Labels(numbers); !own {
			classNames = content.ShiftLabels(y)
		}
		return err
	})
	return y, classNames, err
}

// integers returns the elements of a, which must be integers, or NaN for graph.Unlabelled.
func integers(a *numpy.Array) ([]int64, error) {
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
			return nil, fmt.Errorf("element %d is %v, must be an integer, the class of the node", i, v)
		}
	}
	return numbers, nil
}

// readEdges returns the edges of n nodes: the entries of an adjacency matrix, or a list of pairs with edge_weight if
// present.
func readEdges(ctx context.Context, z Source, name string, n int) (e graph.Edges, err error) {
	if strings.HasPrefix(name, "adj") || name == "A" {
		return readAdjacency(ctx, z, name, n)
	}
	err = z.Open(name, func(a *numpy.Array) error {
		pairs, err := isPairs(a.Shape, name)
		if err != nil {
			return err
		}
		if a.Kind != 'i' && a.Kind != 'u' {
			return fmt.Errorf("elements of type %s, must be integers", a.DType)
		}
		ends, err := numpy.Numbers[int32](a)
		if err != nil {
			return err
		}
		for i, v := range ends {
			if v < 0 || int(v) >= n {
				return fmt.Errorf("node %d at [%d, %d], must be 0 to %d, one for each label",
					v, i/a.Shape[1], i%a.Shape[1], n-1)
			}
		}
		if !pairs {
			e.From, e.To = ends[:a.Shape[1]], ends[a.Shape[1]:]
			return nil
		}
		e.From, e.To = memory.Make[int32](a.Shape[0]), memory.Make[int32](a.Shape[0])
		for i := range e.From {
			e.From[i], e.To[i] = ends[2*i], ends[2*i+1]
		}
		return nil
	})
	if err != nil || !z.Has(edgeWeight) {
		return e, err
	}
	e.Weight, err = readWeights(z, e.Len())
	return e, err
}

// isPairs reports whether a list of edges has a row for each edge instead of two rows. The name decides if there are
// two edges: edge_index has two rows, edges has two columns.
func isPairs(shape []int, name string) (bool, error) {
	across := len(shape) == 2 && shape[0] == 2
	along := len(shape) == 2 && shape[1] == 2
	switch {
	case name == "edges" && (along || across):
		return along, nil
	case name == "edges":
		return false, fmt.Errorf("shape %v, must be edges × 2", shape)
	case across:
		return false, nil
	case along:
		return false, fmt.Errorf("shape %v, must be 2 × edges (transpose it: %s.T)", shape, name)
	}
	return false, fmt.Errorf("shape %v, must be 2 × edges", shape)
}

// readWeights returns a positive weight for each edge.
func readWeights(z Source, edges int) (w []float32, err error) {
	err = z.Open(edgeWeight, func(a *numpy.Array) error {
		if w, err = numpy.Numbers[float32](a); err != nil {
			return err
		}
		if len(w) != edges {
			return fmt.Errorf("%d weights for %d edges", len(w), edges)
		}
		if at := slices.IndexFunc(w, func(w float32) bool { return !(w > 0) }); at >= 0 {
			return fmt.Errorf("weight %v of edge %d, must be a positive number", w[at], at)
		}
		return nil
	})
	return w, err
}

// unreadWeights returns the name of an array that may hold the weights of edges, if they have none: it has another
// usual name, and one number for each edge.
func unreadWeights(z Source, e *graph.Edges) string {
	if e.Weight != nil {
		return ""
	}
	for _, name := range []string{"edge_attr", "edge_weights", "weight", "weights"} {
		fits := false
		if z.Has(name) {
			_ = z.Open(name, func(a *numpy.Array) error { // an array that cannot be read is not one of weights
				fits = slices.Equal(a.Shape, []int{e.Len()}) || slices.Equal(a.Shape, []int{e.Len(), 1}) ||
					slices.Equal(a.Shape, []int{1, e.Len()}) // of MATLAB
				return nil
			})
		}
		if fits {
			return name
		}
	}
	return ""
}

// readAdjacency returns the entries of an n×n matrix that are not zero. The matrix is sparse or dense. Repeated entries
// are added up, as scipy does.
func readAdjacency(ctx context.Context, z Source, name string, n int) (e graph.Edges, err error) {
	m, err := z.Matrix(ctx, name, n)
	if err == nil && m == nil {
		err = z.Open(name, func(a *numpy.Array) error {
			if len(a.Shape) != 2 || a.Shape[0] != n || a.Shape[1] != n {
				return fmt.Errorf("shape %v, must be [%d %d], one row for each label", a.Shape, n, n)
			}
			dense, err := numpy.Dense(a)
			if err == nil {
				m = dense.Sparse()
			}
			return err
		})
	}
	if err != nil {
		return e, err
	}
	if m.Rows != n || m.Cols != n {
		return e, wrong(z, "array %s: shape %d×%d, must be %d×%d, one row for each label", name, m.Rows, m.Cols, n, n)
	}
	if m.Data != nil {
		if err := csr.SortRows(ctx, m); err != nil {
			return e, err
		}
	}
	if e, err = csr.Edges(ctx, m); err != nil {
		return e, wrong(z, "array %s: %w", name, err)
	}
	return e, nil
}

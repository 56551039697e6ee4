package ogb

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
)

// arraysFile holds edge_index, node_feat, num_nodes_list and num_edges_list.
const arraysFile = "data.npz"

// readArrays reads data.npz, and node-label.npz.
func readArrays(ctx context.Context, file, labels string) (p parts, err error) {
	p.edges, p.features, p.labels = file, file, labels
	z, err := numpy.OpenArchive(ctx, file)
	if err != nil {
		return p, err
	}
	defer z.Close()
	counts, err := numpy.Member[int64](z, "num_nodes_list")
	if err != nil {
		return p, err
	}
	if len(counts) != 1 {
		return p, &format.ReadError{File: file, Err: fmt.Errorf("num_nodes_list counts %d graphs, want one", len(counts))}
	}
	n := counts[0]
	if n < 0 || n > graph.MaxNodes {
		return p, &format.ReadError{File: file, Err: fmt.Errorf("%d nodes, want at most %d", n, graph.MaxNodes)}
	}
	p.Nodes = int(n)
	if !z.Has("node_feat") {
		return p, &format.ReadError{
			File: file, Err: errors.New("array node_feat: missing: cgc needs features of the nodes"),
		}
	}
	err = z.Open("node_feat", func(a *numpy.Array) error {
		if len(a.Shape) != 2 || a.Shape[0] != p.Nodes {
			return fmt.Errorf("shape %v, want %d rows, one for each node, and features", a.Shape, p.Nodes)
		}
		p.X, err = numpy.Dense(a)
		return err
	})
	if err != nil {
		return p, err
	}
	err = z.Open("edge_index", func(a *numpy.Array) error {
		if len(a.Shape) != 2 || a.Shape[0] != 2 {
			return fmt.Errorf("shape %v, want 2 × edges", a.Shape)
		}
		ends, err := numpy.Numbers[int32](a)
		if err != nil {
			return err
		}
		p.Edges.From, p.Edges.To = ends[:a.Shape[1]], ends[a.Shape[1]:]
		return nil
	})
	if err != nil {
		return p, err
	}
	if z.Has("edge_feat") {
		p.ignoresEdgeFeatures(file + ": array edge_feat")
	}
	p.Y, err = readLabelArray(ctx, labels, p.Nodes)
	return p, err
}

// readLabelArray reads node_label of n nodes: n or n × 1 numbers, NaN or −1 for none.
func readLabelArray(ctx context.Context, file string, n int) (y []int32, err error) {
	z, err := numpy.OpenArchive(ctx, file)
	if err != nil {
		if os.IsNotExist(err) {
			err = missing(err, file, "a data set for nodes has a label for each, one for links or graphs is not read")
		}
		return nil, err
	}
	defer z.Close()
	err = z.Open("node_label", func(a *numpy.Array) error {
		switch {
		case len(a.Shape) == 2 && a.Shape[1] > 1:
			return fmt.Errorf("%d labels a node, want one: a node of several labels is not understood", a.Shape[1])
		case len(a.Shape) < 1 || len(a.Shape) > 2 || a.Shape[0] != n || len(a.Shape) == 2 && a.Shape[1] < 1:
			return fmt.Errorf("shape %v, want [%d 1], a label for each node", a.Shape, n)
		}
		values, err := numpy.Numbers[float32](a) // a label is below 2¹⁶, and exact
		if err != nil {
			return err
		}
		y = make([]int32, n)
		for i, v := range values {
			if y[i], err = label(float64(v)); err != nil {
				return fmt.Errorf("node %d: %w", i, err)
			}
		}
		return nil
	})
	return y, err
}

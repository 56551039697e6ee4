// Package pyg reads graphs from one .npz file with the arrays of a Data object of PyTorch Geometric.
package pyg

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/parts"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Name is the name of the format.
const Name = "pyg"

const (
	extension = ".npz"
	edgeIndex = "edge_index"
)

// Format reads one .npz file with x, y and edge_index, and with edge_weight and masks if they are there.
type Format struct{}

// Describe says that a file of the format ends in .npz.
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

// Read reads a file. Labels that start at 1 are moved to start at 0.
func (Format) Read(_ context.Context, path string) (*graph.Graph, []string, error) {
	z, err := numpy.OpenArchive(path)
	if err != nil {
		return nil, nil, err
	}
	defer z.Close()
	b := graph.Builder{Name: strings.TrimSuffix(filepath.Base(path), extension)}
	x, err := features(z)
	if err != nil {
		return nil, nil, err
	}
	b.X, b.Nodes = x, x.Rows
	if b.Y, err = labels(z, b.Nodes); err != nil {
		return nil, nil, err
	}
	if b.Edges, err = edges(z, b.Nodes); err != nil {
		return nil, nil, err
	}
	var notes []string
	if b.Split, notes, err = parts.Read(z, b.Nodes); err != nil {
		return nil, nil, err
	}
	g, changes, err := b.Graph()
	if err != nil {
		return nil, nil, format.LocateArrays(err, path, map[string]string{
			"edges": edgeIndex, "features": "x", "labels": "y", "split": "train_mask",
		})
	}
	return g, append(notes, format.Notes(g, changes)...), nil
}

// features returns x, nodes × features.
func features(z *numpy.Archive) (x *mat.Dense, err error) {
	err = z.Open("x", func(a *numpy.Array) error {
		if len(a.Shape) != 2 {
			return fmt.Errorf("shape %v, want nodes × features", a.Shape)
		}
		x, err = numpy.Dense(a)
		return err
	})
	return x, err
}

// labels returns the labels of n nodes.
func labels(z *numpy.Archive, n int) (y []int32, err error) {
	if !z.Has("y") {
		return nil, &format.ReadError{
			File: z.Path, Err: fmt.Errorf("array y: missing, want a label for each node, %d for none", graph.Unlabelled),
		}
	}
	err = z.Open("y", func(a *numpy.Array) error {
		column := len(a.Shape) == 2 && a.Shape[1] == 1
		if (len(a.Shape) != 1 && !column) || a.Shape[0] != n {
			return fmt.Errorf("shape %v, want [%d], one label for each node", a.Shape, n)
		}
		numbers, err := numpy.Numbers[int64](a)
		if err != nil {
			return err
		}
		y, err = format.Labels(numbers)
		return err
	})
	return y, err
}

// edges returns the edges of n nodes, with edge_weight if it is there.
func edges(z *numpy.Archive, n int) (e graph.Edges, err error) {
	err = z.Open(edgeIndex, func(a *numpy.Array) error {
		if len(a.Shape) != 2 || a.Shape[0] != 2 {
			hint := ""
			if len(a.Shape) == 2 && a.Shape[1] == 2 {
				hint = " (transpose it: edge_index.T)"
			}
			return fmt.Errorf("shape %v, want 2 × edges%s", a.Shape, hint)
		}
		ends, err := numpy.Numbers[int32](a)
		if err != nil {
			return err
		}
		for i, v := range ends {
			if v < 0 || int(v) >= n {
				return fmt.Errorf("node %d at [%d, %d], want 0 to %d, the rows of x",
					v, i/a.Shape[1], i%a.Shape[1], n-1)
			}
		}
		e.From, e.To = ends[:a.Shape[1]], ends[a.Shape[1]:]
		return nil
	})
	if err != nil || !z.Has("edge_weight") {
		return e, err
	}
	err = z.Open("edge_weight", func(a *numpy.Array) error {
		if e.Weight, err = numpy.Numbers[float32](a); err != nil {
			return err
		}
		if len(e.Weight) != e.Len() {
			return fmt.Errorf("%d weights for %d edges", len(e.Weight), e.Len())
		}
		if at := slices.IndexFunc(e.Weight, func(w float32) bool { return !(w > 0) }); at >= 0 {
			return fmt.Errorf("weight %v of edge %d, want a positive number", e.Weight[at], at)
		}
		if !slices.ContainsFunc(e.Weight, func(w float32) bool { return w != 1 }) {
			e.Weight = nil
		}
		return nil
	})
	return e, err
}

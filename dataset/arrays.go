package dataset

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// readArrays reads one .npz file with the arrays adj_{data,indices,indptr,shape}, attr_{…} or a dense attr_matrix, and labels (the
// layout of Shchur et al. 2018, "Pitfalls of Graph Neural Network Evaluation"). A split is drawn, as none is there.
func (r *reader) readArrays(file string) (*graph.Graph, error) {
	g := &graph.Graph{Name: strings.TrimSuffix(filepath.Base(file), ".npz")}
	z, err := openArchive(file)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	m, err := z.csr("adj_")
	if err != nil {
		return nil, err
	}
	a, err := arcsOf(m)
	if err != nil {
		return nil, &ReadError{File: file, Err: err}
	}
	g.Adj = r.adjacency(g.Name, m.Rows, a)
	if g.X, err = z.features(); err != nil {
		return nil, err
	}
	if err := checkFeatures(file, g.X, m.Rows); err != nil {
		return nil, err
	}
	labels, err := readMember[int64](z, "labels")
	if err != nil {
		return nil, err
	}
	if g.Y, err = labelsOf(labels, m.Rows); err != nil {
		return nil, &ReadError{File: file, Err: err}
	}
	g.Classes = shiftLabels(g.Y)
	r.drawSplit(g)
	return g, nil
}

// features reads attr_matrix, or the sparse attr_*.
func (z *archive) features() (mat.Matrix, error) {
	if z.member("attr_matrix") == nil {
		x, err := z.csr("attr_")
		if err != nil {
			return nil, err
		}
		sortRows(x)
		return x, nil
	}
	var x *mat.Dense
	err := z.open("attr_matrix", func(a *array) (err error) {
		x, err = readDense(a)
		return err
	})
	return x, err
}

// labelsOf checks one label for each of n nodes.
func labelsOf(labels []int64, n int) ([]int32, error) {
	if len(labels) != n {
		return nil, fmt.Errorf("%d labels for %d nodes", len(labels), n)
	}
	y := make([]int32, n)
	for i, c := range labels {
		if err := checkLabel(int64(i), c); err != nil {
			return nil, err
		}
		y[i] = int32(c)
	}
	return y, nil
}

// drawSplit draws a split by the options' seed.
func (r *reader) drawSplit(g *graph.Graph) {
	g.Split = makeSplit(g.Y, g.Classes, rand.NewPCG(r.Seed, 0))
	r.note("%s comes without a split: one was drawn with seed %d (%d train, %d val, %d test nodes)",
		g.Name, r.Seed, len(g.Split.Train), len(g.Split.Val), len(g.Split.Test))
}

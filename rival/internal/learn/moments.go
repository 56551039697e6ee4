package learn

import (
	"context"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
)

// Coefficients returns the weight n′_c/max n′ of each class c in an objective.
func (s *Start) Coefficients() []float32 {
	largest := max(1, slices.Max(s.Budget))
	coeff := make([]float32, len(s.Budget))
	for c, n := range s.Budget {
		coeff[c] = float32(n) / float32(largest)
	}
	return coeff
}

// Averages returns the classes×N′ matrix whose product with X′ holds the class means. The row of a class without nodes
// is 0.
func (s *Start) Averages() *mat.Dense {
	m := mat.NewDense(len(s.Budget), len(s.Y))
	for i, c := range s.Y {
		m.Row(int(c))[i] = 1 / float32(s.Budget[c])
	}
	return m
}

// ClassMeans returns the means of the rows of H⁽ᴷ⁾ over the training nodes of each class, divided by Unit: classes×d.
// The row of a class without training nodes is 0.
func (s *Start) ClassMeans(ctx context.Context, hops int) (*mat.Dense, error) {
	nodes, first := s.Labelled()
	h, err := s.Embeddings(ctx, hops, nodes)
	if err != nil {
		return nil, err
	}
	means, sum := mat.NewDense(len(s.Budget), s.X.Cols), make([]float64, s.X.Cols)
	for c := range s.Budget {
		clear(sum)
		for i := first[c]; i < first[c+1]; i++ {
			kernel.Accumulate(sum, 1/float64(first[c+1]-first[c]), h[hops].Row(i))
		}
		for j, v := range sum {
			means.Row(c)[j] = float32(v)
		}
	}
	return means, nil
}

// Near returns the given nodes and their neighbours in ascending order, and the index of each.
func Near(a *mat.CSR, nodes []int32) (near []int32, place map[int32]int32) {
	set := reach.New(a, nodes)
	set.Grow()
	place = map[int32]int32{}
	for i, distance := range set.Distance {
		if distance != reach.Unreached {
			place[int32(i)] = int32(len(near))
			near = append(near, int32(i))
		}
	}
	return near, place
}

// Between returns the rows of op at nodes, as a matrix whose columns are nodes and all their neighbours. place maps
// these to columns, as returned by Near.
func Between(op graph.Operator, nodes []int32, place map[int32]int32) *mat.CSR {
	p := &mat.CSR{Rows: len(nodes), Cols: len(place), Indptr: make([]int64, len(nodes)+1)}
	for r, v := range nodes {
		self := false
		add := func(u int, w float32) {
			p.Indices = append(p.Indices, place[int32(u)])
			w *= op.Left[v]
			if op.Right != nil {
				w *= op.Right[u]
			}
			p.Data = append(p.Data, w)
		}
		for u, w := range op.Adj.Row(int(v)) {
			if !self && u > int(v) {
				self = true
				add(int(v), op.Self)
			}
			add(u, w)
		}
		if !self {
			add(int(v), op.Self)
		}
		p.Indptr[r+1] = int64(len(p.Indices))
	}
	return p
}

// LabelMixtures returns the class distribution around each of the given nodes: the rows of ÂᴷY divided by their sums. Y
// is one-hot at training nodes and 0 elsewhere, so that no other label is read.
func (s *Start) LabelMixtures(ctx context.Context, hops int, nodes []int32) (*mat.Dense, error) {
	y := mat.NewDense(s.Graph.Nodes(), len(s.Budget))
	for c, own := range s.Train {
		for _, v := range own {
			y.Row(int(v))[c] = 1
		}
	}
	views, err := rival.Propagate(ctx, s.Graph, y, hops, nodes)
	if err != nil {
		return nil, err
	}
	mixtures := views[hops].Dense().Clone()
	for i := range mixtures.Rows {
		var sum float32
		for _, v := range mixtures.Row(i) {
			sum += v
		}
		if sum > 0 {
			kernel.Scale(mixtures.Row(i), 1/sum, mixtures.Row(i))
		}
	}
	return mixtures, nil
}

// Package propagate smooths node features along the edges: the first step of the method (§3.1 of the paper).
//
// Only what later steps read is computed. They read the embeddings of the training nodes, and row i of H⁽ˡ⁾ needs the rows of H⁽ˡ⁻¹⁾
// for i and its neighbours, so H⁽ˡ⁾ is computed for the nodes within K−l hops of the training nodes and for no others.
package propagate

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Method says how one hop makes H⁽ˡ⁾ from H⁽ˡ⁻¹⁾. H⁽⁰⁾ = X for each.
type Method string

const (
	// SGC is H⁽ˡ⁾ = ÂH⁽ˡ⁻¹⁾, Â = D̃^-½(A+I)D̃^-½ (Wu et al. 2019; eq. 12 of the paper).
	SGC Method = "sgc"
	// PPR is H⁽ˡ⁾ = (1−β)ÂH⁽ˡ⁻¹⁾ + βX: personalised PageRank by power iteration (Gasteiger et al. 2019, eq. 5).
	PPR Method = "ppr"
	// SAGE is H⁽ˡ⁾ = D̃⁻¹(A+I)H⁽ˡ⁻¹⁾: the mean over the neighbours and the node itself (Hamilton et al. 2017).
	SAGE Method = "sage"
)

// Methods lists the methods, the default first.
var Methods = []Method{SGC, PPR, SAGE}

// Propagation holds the parameters of this step.
type Propagation struct {
	// Method is one of Methods.
	Method Method
	// Hops is K ≥ 0, the number of hops; 0 leaves the features as they are.
	Hops int
	// Teleport is β in (0, 1], the share of the node's own features in each hop of PPR; other methods ignore it.
	Teleport float64
	// Memory bounds, in bytes, what the graph, its features, the embeddings and the work on them take together; 0 sets no bound. The
	// smaller, the fewer columns are propagated at a time, down to 16. A graph larger than the bound is taken to be mapped from a
	// file, of which the system keeps what it has room for, and is not counted. The result is the same, bit for bit.
	Memory int64
}

// Embeddings returns H⁽⁰⁾ … H⁽ᴷ⁾, each restricted to the given rows (nodes of the graph) in the given order: K+1 times
// len(rows)×d. Where x is dense, H⁽⁰⁾ are rows of it and no copy. a is n×n as in graph.Graph.Adj; x is n×d, dense or sparse, and a sparse one is never written out whole.
// The cost is O(d · edges within K hops of the rows). It stops with ctx's error when ctx is done.
//
// classes are the classes of the rows, none negative, or nil. They decide in which order nodes are worked on, and with that the time where neighbours
// are mostly of one class, but no bit of the result. Dense features are propagated some columns at a time, through all hops.
func (p Propagation) Embeddings(ctx context.Context, a *mat.CSR, x mat.Matrix, rows, classes []int32) ([]mat.View, error) {
	operator, err := p.operator(a)
	if err != nil {
		return nil, err
	}
	_, d := x.Dims()
	views := make([]mat.View, p.Hops+1)
	switch x := x.(type) {
	case *mat.Dense:
		views[0] = x.Select(rows)
	case *mat.CSR:
		first := new(mat.Dense)
		mat.Rows(first, x, rows)
		views[0] = first.View()
	}
	h := make([]*mat.Dense, p.Hops)
	for l := range h {
		h[l] = mat.NewDense(len(rows), d)
		views[l+1] = h[l].View()
	}
	if p.Hops == 0 || len(rows) == 0 || d == 0 {
		return views, ctx.Err()
	}
	r := newRun(p, operator, rows, classes, h)
	width, store := r.plan(x)
	if store {
		if err := r.store(ctx); err != nil {
			return nil, err
		}
	} else if classes != nil { // rows that are rewritten for each block are best met in the order in which they stand
		r = newRun(p, operator, rows, nil, h)
	}
	for lo, hi := range blocks(d, width) {
		if err := r.block(ctx, x, lo, hi); err != nil {
			return nil, err
		}
	}
	return views, nil
}

func (p Propagation) operator(a *mat.CSR) (graph.Operator, error) {
	if p.Hops < 0 {
		return graph.Operator{}, fmt.Errorf("propagate: hops %d, want at least 0", p.Hops)
	}
	if p.Memory < 0 {
		return graph.Operator{}, fmt.Errorf("propagate: memory %d bytes, want at least 0 (0 for no bound)", p.Memory)
	}
	switch p.Method {
	case SGC:
		return graph.Symmetric(a), nil
	case PPR:
		if !(p.Teleport > 0 && p.Teleport <= 1) {
			return graph.Operator{}, fmt.Errorf("propagate: teleport %v, want above 0 and at most 1", p.Teleport)
		}
		return graph.Symmetric(a), nil
	case SAGE:
		return graph.Mean(a), nil
	}
	return graph.Operator{}, fmt.Errorf("propagate: method %q, want one of %v", p.Method, Methods)
}

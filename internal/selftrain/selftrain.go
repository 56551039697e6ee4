// Package selftrain makes use of unlabelled nodes where labels are few: pseudo-labels for nodes outside the training
// split, and soft labels for condensed nodes. Both come from one ridge classifier of the training nodes' embeddings.
// Neither is in the paper. docs/notes/2026-11-options.md has measurements of both.
package selftrain

import (
	"context"
	"fmt"
	"sync"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Embed propagates x over the graph and returns H⁽⁰⁾ … H⁽ᴷ⁾ of the given nodes. classes holds the classes of these
// nodes, or is nil.
type Embed func(ctx context.Context, x mat.Matrix, nodes, classes []int32) ([]mat.View, error)

// Labeller labels nodes by a ridge classifier of H⁽ᴷ⁾. It fits the classifier to the training nodes at the first call
// and keeps it. It does not use labels of other nodes. A Labeller is safe for concurrent use.
type Labeller struct {
	// X holds the features of all nodes, n×d; Embed propagates them.
	X     mat.Matrix
	Embed Embed
	// Train lists the training nodes, ascending; Y their classes in [0, Classes); H their H⁽ᴷ⁾.
	Train   []int32
	Y       []int32
	H       mat.View
	Classes int
	// Limited says that there is a memory limit. A copy of H, if necessary, is then in a temporary file.
	Limited bool

	mu      sync.Mutex
	ridge   *Ridge
	rest    []int32    // the nodes outside the training split
	outputs *mat.Dense // H⁽ᴷ⁾W of these nodes
	latest  *Labelled  // the last result, since many condensations ask for the same one
}

// Labelled holds nodes outside the training split with the classes that the classifier finds.
type Labelled struct {
	// Nodes are ascending. Y holds their classes.
	Nodes []int32
	Y     []int32
	// H is H⁽⁰⁾ … H⁽ᴷ⁾ of these nodes.
	H []mat.View

	multiple float64
}

// classifier returns the ridge classifier. The lock must be held.
func (l *Labeller) classifier(ctx context.Context) (*Ridge, error) {
	if l.ridge == nil {
		var copied mat.Dense
		rows, cols := l.H.Dims()
		l.H.Block(0, min(1, rows), &copied) // leaves copied empty if H need not be copied
		if l.Limited && copied.Data != nil {
			var err error
			if copied.Data, err = memory.Scratch[float32](rows * cols); err != nil {
				return nil, err
			}
			defer memory.Free(copied.Data)
		}
		h := &mat.Dense{Rows: rows, Cols: cols, Data: l.H.Block(0, rows, &copied)}
		ridge, err := FitRidge(ctx, h, l.Y, l.Classes)
		if err != nil {
			return nil, err
		}
		l.ridge = ridge
	}
	return l.ridge, nil
}

// Pseudo returns about multiple·n nodes outside the training split, n being the number of training nodes. They are the
// nodes with the widest margin. Classes share them in proportion to their training nodes (Confident).
//
// Propagation is linear, so H⁽ᴷ⁾W is the propagation of XW. That classifies all nodes at the cost of one column for
// each class. Only the selected nodes get embeddings.
func (l *Labeller) Pseudo(ctx context.Context, multiple float64) (*Labelled, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest != nil && l.latest.multiple == multiple {
		return l.latest, nil
	}
	ridge, err := l.classifier(ctx)
	if err != nil {
		return nil, err
	}
	if l.outputs == nil {
		nodes, _ := l.X.Dims()
		rest := others(l.Train, nodes)
		outputs, err := Times(ctx, l.X, ridge.W)
		if err != nil {
			return nil, err
		}
		h, err := l.Embed(ctx, outputs, rest, nil)
		if err != nil {
			return nil, err
		}
		l.rest, l.outputs = rest, h[len(h)-1].Dense()
	}
	counts := make([]int, l.Classes)
	for _, y := range l.Y {
		counts[y]++
	}
	rows, y, err := Confident(l.outputs, counts, multiple)
	if err != nil {
		return nil, err
	}
	picked := &Labelled{multiple: multiple, Y: y}
	for _, i := range rows {
		picked.Nodes = append(picked.Nodes, l.rest[i])
	}
	if picked.H, err = l.Embed(ctx, l.X, picked.Nodes, picked.Y); err != nil {
		return nil, err
	}
	l.latest = picked
	return picked, nil
}

// Soft returns Σ_i R̂_ji·q_i for each condensed node j, N′×Classes. R̂ is groups, N′×len(rows). q_i is the
// distribution over the classes that the classifier gives to embedding i, rows[i].
func (l *Labeller) Soft(ctx context.Context, rows [][]float32, groups *mat.CSR) (*mat.Dense, error) {
	l.mu.Lock()
	ridge, err := l.classifier(ctx)
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	q := mat.NewDense(len(rows), l.Classes)
	const block = 4096 // rows that are copied at a time
	var copied, outputs mat.Dense
	for lo := 0; lo < q.Rows; lo += block {
		hi := min(lo+block, q.Rows)
		copied.Reshape(hi-lo, len(rows[0]))
		for i := lo; i < hi; i++ {
			copy(copied.Row(i-lo), rows[i])
		}
		mat.Mul(&outputs, &copied, ridge.W)
		copy(q.Data[lo*q.Cols:], outputs.Data)
	}
	ridge.Distribution(q, q)
	soft := new(mat.Dense)
	mat.MulSparse(soft, groups, q)
	return soft, nil
}

// Times returns x·w, with x read in blocks of rows. Errors come from reading x, or from ctx.
func Times(ctx context.Context, x mat.Matrix, w *mat.Dense) (*mat.Dense, error) {
	product := new(mat.Dense)
	switch x := x.(type) {
	case *mat.Dense:
		mat.Mul(product, x, w)
		return product, ctx.Err()
	case *mat.CSR:
		mat.MulSparse(product, x, w)
		return product, ctx.Err()
	}
	n, _ := x.Dims()
	product.Reshape(n, w.Cols)
	var part mat.Dense
	at := 0
	for block, err := range mat.Blocks(x) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("reading features: %w", err)
		}
		mat.Mul(&part, block, w)
		at += copy(product.Data[at:], part.Data)
	}
	return product, nil
}

// others returns the nodes from 0 to n−1 that are not given, ascending.
func others(nodes []int32, n int) []int32 {
	among := memory.Make[bool](n)
	for _, v := range nodes {
		among[v] = true
	}
	rest := memory.Make[int32](n - len(nodes))[:0]
	for v := range int32(n) {
		if !among[v] {
			rest = append(rest, v)
		}
	}
	return rest
}

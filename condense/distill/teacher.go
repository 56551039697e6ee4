package distill

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/selftrain"
	"github.com/graph-condensation/cgc/mat"
)

// teach returns q or q̄, N×Classes, and whether all nodes are condensed.
func (m Method) teach(ctx context.Context, g *graph.Graph, account *Account) (*mat.Dense, bool, error) {
	q, err := m.distributions(ctx, g, account)
	if err != nil || m.Unlabelled == Never {
		return q, false, err
	}
	validation := g.Split.Val
	if m.Unlabelled == Auto && len(validation) == 0 {
		return q, false, nil
	}
	smooth, err := spread(ctx, g, m.Smoothing, q)
	if err != nil {
		return nil, false, err
	}
	if smooth != q {
		normalise(smooth)
	}
	if m.Unlabelled == Always {
		return smooth, true, nil
	}
	for i, said := range []*mat.Dense{q, smooth} {
		account.Validation[i] = accuracy(said, g.Y, validation)
	}
	if account.Validation[1] > account.Validation[0] {
		return smooth, true, nil
	}
	return q, false, nil
}

// distributions returns q: for each node, the mean of the teachers' distributions over the classes.
//
// A teacher of depth d propagates the features, fits ridge regression on the training nodes, and predicts the
// distribution softmax(s·z_iW) for node i. Ridge and scale s come from leave-one-out errors (selftrain.FitRidge).
// Propagation is linear, so ZW is the propagation of XW, and only training nodes need embeddings.
func (m Method) distributions(ctx context.Context, g *graph.Graph, account *Account) (*mat.Dense, error) {
	y := g.Labels(g.Split.Train)
	q := mat.NewDense(g.Nodes(), g.Classes)
	for _, d := range m.Teachers {
		z, err := propagated(ctx, g, d, g.Split.Train)
		if err != nil {
			return nil, err
		}
		ridge, err := selftrain.FitRidge(ctx, z, y, g.Classes)
		if err != nil {
			return nil, fmt.Errorf("distill: teacher of %d hops: %w", d.Hops, err)
		}
		account.Teachers = append(account.Teachers, 100*ridge.Accuracy)
		outputs, err := times(ctx, g.X, ridge.W)
		if err != nil {
			return nil, err
		}
		said, err := spread(ctx, g, d, outputs)
		if err != nil {
			return nil, err
		}
		ridge.Distribution(said, said)
		kernel.Axpy(1/float32(len(m.Teachers)), said.Data, q.Data)
	}
	return q, nil
}

// accuracy returns the share of the given nodes whose class is the most likely one in q, in percent.
func accuracy(q *mat.Dense, y, nodes []int32) float64 {
	right := 0
	for _, v := range nodes {
		if kernel.ArgMax(q.Row(int(v))) == int(y[v]) {
			right++
		}
	}
	return 100 * float64(right) / float64(len(nodes))
}

// blockColumns is the number of features in one block of the propagation.
const blockColumns = 256

// propagated returns the rows of Z⁽ᴸ⁾ of the given nodes, for the depth d and Z⁽⁰⁾ = X. It processes features in blocks
// of columns, so that only some columns of Z are in memory for the full graph.
func propagated(ctx context.Context, g *graph.Graph, d Depth, nodes []int32) (*mat.Dense, error) {
	_, features := g.X.Dims()
	z := mat.NewDense(len(nodes), features)
	var block mat.Dense
	for lo := 0; lo < features; lo += blockColumns {
		hi := min(lo+blockColumns, features)
		if err := mat.ReadColumns(ctx, &block, g.X, nil, lo, hi); err != nil {
			return nil, fmt.Errorf("distill: reading features: %w", err)
		}
		part, err := spread(ctx, g, d, &block)
		if err != nil {
			return nil, err
		}
		for i, v := range nodes {
			copy(z.Row(i)[lo:hi], part.Row(int(v)))
		}
	}
	row, col, found, err := mat.FirstNotFinite(ctx, z)
	if err != nil {
		return nil, err
	}
	if found {
		return nil, fmt.Errorf("distill: feature %d of node %d is %v after %d hops, must be a finite number",
			col, nodes[row], z.Row(row)[col], d.Hops)
	}
	return z, nil
}

// spread returns Z⁽ᴸ⁾ for all nodes, with Z⁽ˡ⁾ = (1−β)ÂZ⁽ˡ⁻¹⁾ + βz. It does not modify z; without hops it returns z
// itself.
func spread(ctx context.Context, g *graph.Graph, d Depth, z *mat.Dense) (*mat.Dense, error) {
	operator := graph.Symmetric(g.Adj)
	teleport := float32(d.Teleport)
	now, next := z, new(mat.Dense)
	for l := range d.Hops {
		if err := operator.Apply(ctx, next, now); err != nil {
			return nil, err
		}
		if teleport > 0 {
			kernel.Scale(next.Data, 1-teleport, next.Data)
			kernel.Axpy(teleport, z.Data, next.Data)
		}
		if l == 0 { // z must not be overwritten
			now = new(mat.Dense)
		}
		now, next = next, now
	}
	return now, nil
}

// normalise divides each row of q by its sum.
func normalise(q *mat.Dense) {
	for i := range q.Rows {
		row := q.Row(i)
		var sum float32
		for _, v := range row {
			sum += v
		}
		kernel.Scale(row, 1/sum, row)
	}
}

// times returns XW, read in blocks of rows.
func times(ctx context.Context, x mat.Matrix, w *mat.Dense) (*mat.Dense, error) {
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
			return nil, fmt.Errorf("distill: reading features: %w", err)
		}
		mat.Mul(&part, block, w)
		at += copy(product.Data[at:], part.Data)
	}
	return product, nil
}

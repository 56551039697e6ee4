package distill

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// embedder propagates matrices over a graph.
type embedder struct {
	engine blocked.Engine
	g      *graph.Graph
}

// embed returns Z⁽ᴸ⁾ of the given nodes for the depth d and Z⁽⁰⁾ = x, the features of all nodes or n×c outputs.
func (e embedder) embed(ctx context.Context, x mat.Matrix, d Depth, nodes []int32) (*mat.Dense, error) {
	p := propagate.Propagation{Rule: propagate.SGC, Hops: d.Hops}
	if d.Teleport > 0 {
		p.Rule, p.Teleport = propagate.PPR, d.Teleport
	}
	in := propagate.Input{Adj: e.g.Adj, X: x, Rows: nodes, Last: true, Mapped: e.g.Mapped && x == e.g.X}
	h, err := propagate.Run(ctx, e.engine, p, in)
	if err != nil {
		return nil, err
	}
	return h[d.Hops].Dense(), nil
}

// smooth returns Z⁽ᴸ⁾ of all nodes for the depth d and Z⁽⁰⁾ = q. Unlike embed, it keeps two hops and not all of them.
// Without hops it returns q itself.
func (e embedder) smooth(ctx context.Context, q *mat.Dense, d Depth) (*mat.Dense, error) {
	p := propagate.Propagation{Rule: propagate.PPR, Hops: d.Hops, Teleport: d.Teleport}
	operator, beta := propagate.Input{Adj: e.g.Adj}.Step(p)
	return repeated(ctx, operator, beta, q, d.Hops)
}

// repeated returns Z⁽ᴸ⁾ after the given number of hops, Z⁽ˡ⁾ = (1−β)·P·Z⁽ˡ⁻¹⁾ + β·q with Z⁽⁰⁾ = q.
func repeated(ctx context.Context, operator graph.Operator, beta float32, q *mat.Dense, hops int) (*mat.Dense, error) {
	now, next := q, new(mat.Dense)
	for l := range hops {
		if err := operator.Apply(ctx, next, now); err != nil {
			return nil, err
		}
		if beta > 0 {
			parallel.For(q.Rows, rowChunk, func(lo, hi int) {
				z := next.Data[lo*q.Cols : hi*q.Cols]
				kernel.Scale(z, 1-beta, z)
				kernel.Axpy(beta, q.Data[lo*q.Cols:hi*q.Cols], z)
			})
		}
		if l == 0 { // q must not be overwritten
			now = new(mat.Dense)
		}
		now, next = next, now
	}
	return now, nil
}

// means returns RÂᴷX, where R, N′×n, has the weights of the nodes in each condensed node. It propagates N′ columns and
// not d: RÂᴷX = ((Âᵀ)ᴷRᵀ)ᵀX.
func (e embedder) means(ctx context.Context, weights *mat.CSR, hops int) (*mat.Dense, error) {
	propagated, err := repeated(ctx, graph.Symmetric(e.g.Adj).T(), 0, weights.Dense().T(), hops)
	if err != nil {
		return nil, err
	}
	if x, sparse := e.g.X.(*mat.CSR); sparse {
		transposed, _, err := x.Transpose(ctx)
		if err != nil {
			return nil, err
		}
		sums := new(mat.Dense)
		mat.MulSparse(sums, transposed, propagated)
		return sums.T(), nil
	}
	sums, part, at := mat.NewDense(weights.Rows, e.g.Features()), new(mat.Dense), 0
	for block, err := range mat.Blocks(e.g.X) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("reading features: %w", err)
		}
		lo, hi := at*propagated.Cols, (at+block.Rows)*propagated.Cols
		own := mat.Dense{Rows: block.Rows, Cols: propagated.Cols, Data: propagated.Data[lo:hi]}
		mat.MulTA(part, &own, block)
		kernel.Add(sums.Data, sums.Data, part.Data)
		at += block.Rows
	}
	return sums, nil
}

// teach returns q of the given nodes: the mean of the teachers' distributions over the classes. own is nil, or holds
// the embeddings of these nodes at depth Hops. trains lists the rows of the training nodes.
//
// A teacher of depth d propagates the features, fits ridge regression on the training nodes, and predicts the
// distribution softmax(s·z_iW) for node i. The penalty and the scale s come from leave-one-out errors (fitRidge).
// Propagation is linear, so ZW is the propagation of XW. That classifies nodes at the cost of a column for each class,
// and only training nodes need embeddings.
func (m Method) teach(ctx context.Context, e embedder, nodes []int32, own *mat.Dense, trains []int32) (
	q *mat.Dense, accuracies []float64, err error,
) {
	train := e.g.Split.Train
	y := e.g.Labels(train)
	q = mat.NewDense(len(nodes), e.g.Classes)
	for _, d := range m.Teachers {
		z, known := new(mat.Dense), own != nil && d == (Depth{Hops: m.Hops})
		if known {
			own.Gather(z, trains)
		} else if z, err = e.embed(ctx, e.g.X, d, train); err != nil {
			return nil, nil, err
		}
		ridge, err := fitRidge(ctx, z, y, e.g.Classes)
		if err != nil {
			return nil, nil, fmt.Errorf("teacher of %d hops: %w", d.Hops, err)
		}
		accuracies = append(accuracies, 100*ridge.Accuracy)
		outputs := new(mat.Dense)
		if known {
			mat.Mul(outputs, own, ridge.W)
		} else {
			product, err := times(ctx, e.g.X, ridge.W)
			if err != nil {
				return nil, nil, err
			}
			if outputs, err = e.embed(ctx, product, d, nodes); err != nil {
				return nil, nil, err
			}
		}
		ridge.distribution(outputs, outputs)
		kernel.Axpy(1/float32(len(m.Teachers)), outputs.Data, q.Data)
	}
	return q, accuracies, nil
}

// study returns the labels after rounds of students. A student is a ridge regression on the embeddings h. Its targets
// are the labels of the previous round, with the rows in trains replaced by the one-hot rows of the classes y. λ is the
// mean squared norm of a row of h. The outputs, with negative ones set to 0 and each row divided by its sum, are the
// labels of the next round.
func study(ctx context.Context, h, labels *mat.Dense, trains []int32, y []int32, rounds int) (*mat.Dense, error) {
	student, err := newStudent(ctx, h)
	if err != nil {
		return nil, err
	}
	targets, next := mat.NewDense(labels.Rows, labels.Cols), new(mat.Dense)
	for range rounds {
		copy(targets.Data, labels.Data)
		for i, at := range trains {
			row := targets.Row(int(at))
			clear(row)
			row[y[i]] = 1
		}
		if err := student.outputs(ctx, next, targets); err != nil {
			return nil, err
		}
		normalise(next, targets)
		labels = next
	}
	return labels, nil
}

// normalise sets negative entries of q to 0 and divides each row by its sum. Rows without a positive sum are copied
// from instead.
func normalise(q, instead *mat.Dense) {
	parallel.For(q.Rows, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := q.Row(i)
			var sum float32
			for c, v := range row {
				row[c] = max(0, v)
				sum += row[c]
			}
			if !(sum > 0) { // no class at all: keep what was known
				copy(row, instead.Row(i))
				continue
			}
			kernel.Scale(row, 1/sum, row)
		}
	})
}

// times returns x·w, with x read in blocks of rows. Errors come from reading x, or from ctx.
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
			return nil, fmt.Errorf("reading features: %w", err)
		}
		mat.Mul(&part, block, w)
		at += copy(product.Data[at:], part.Data)
	}
	return product, nil
}

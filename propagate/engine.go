package propagate

import (
	"context"
	"errors"
	"fmt"

	"github.com/graph-condensation/cgc/mat"
)

// Engine provides embeddings. It may compute them, ask another machine for them, or read them from a file.
type Engine interface {
	// Embeddings returns H⁽⁰⁾ … H⁽ᴷ⁾ of p for the nodes in.Rows: K+1 views of len(in.Rows)×d, where row i belongs to node
	// in.Rows[i]. H⁽⁰⁾ contains the rows of in.X. With in.Last, all but H⁽ᴷ⁾ may be empty. Embeddings does not modify in,
	// and views may share its memory.
	//
	// The result depends only on p, in.Adj, in.X, in.Rows and in.Degrees, so that a condensation can be repeated: the same
	// input gives the same bits for any number of threads. When ctx is done, Embeddings soon returns ctx's error.
	// Embeddings is safe for concurrent use.
	//
	// An engine for a single graph must compare in.Adj and in.X with its graph, and pass any other input, such as that of
	// the inductive setting, to an engine that computes.
	Embeddings(ctx context.Context, p Propagation, in Input) ([]mat.View, error)
}

// Run validates p and in, calls engine, and checks the number and shapes of the embeddings. An error about a shape
// names the hop. A value of H⁽ᴷ⁾ that is not finite is an error too: it comes from features or edge weights near the
// largest float32.
func Run(ctx context.Context, engine Engine, p Propagation, in Input) ([]mat.View, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := in.Validate(); err != nil {
		return nil, err
	}
	h, err := engine.Embeddings(ctx, p, in)
	if err != nil {
		return nil, err
	}
	if len(h) != p.Hops+1 {
		return nil, fmt.Errorf("engine %T delivered %d embeddings, expected %d (hops + 1)", engine, len(h),
			p.Hops+1)
	}
	_, d := in.X.Dims()
	for l, hop := range h {
		rows, columns := hop.Dims()
		if in.Last && l < p.Hops && rows == 0 {
			continue
		}
		if rows != len(in.Rows) || columns != d && rows > 0 {
			return nil, fmt.Errorf("engine %T delivered %d×%d for hop %d, expected %d×%d",
				engine, rows, columns, l, len(in.Rows), d)
		}
	}
	if i, j, found := h[p.Hops].FirstNotFinite(); found {
		return nil, NotFinite(p.Hops, in.Rows[i], j, h[p.Hops].Row(i)[j])
	}
	return h, ctx.Err()
}

// NotFinite is the error for a value of a hop that is not finite.
func NotFinite(hop int, node int32, feature int, value float32) error {
	return fmt.Errorf("feature %d of node %d is %v in hop %d, must be a finite number: "+
		"scale the features or the weights of edges", feature, node, value, hop)
}

// Plain is the engine that computes eq. 12 as the paper writes it: one hop after the other, for all nodes. It is meant
// for reading, and as a reference for tests of other engines. It allocates two dense n×d matrices, even for sparse
// features.
type Plain struct{}

// Embeddings implements Engine.
func (Plain) Embeddings(ctx context.Context, p Propagation, in Input) ([]mat.View, error) {
	if err := errors.Join(p.Validate(), in.Validate()); err != nil {
		return nil, err
	}
	operator, beta := in.Step(p)
	_, d := in.X.Dims()
	x := new(mat.Dense)
	if err := mat.ReadColumns(ctx, x, in.X, nil, 0, d); err != nil {
		return nil, fmt.Errorf("reading features: %w", err)
	}
	hop, views := in.X, []mat.View{rowsOf(x, in.Rows)} // H⁽⁰⁾ = X
	for range p.Hops {
		next := new(mat.Dense)
		if err := operator.Apply(ctx, next, hop); err != nil { // P·H⁽ˡ⁻¹⁾
			return nil, err
		}
		if beta > 0 {
			for i, v := range next.Data {
				next.Data[i] = float32((1-beta)*v) + float32(beta*x.Data[i])
			}
		}
		views, hop = append(views, rowsOf(next, in.Rows)), next
	}
	return views, ctx.Err()
}

// rowsOf returns a copy of the given rows of h.
func rowsOf(h *mat.Dense, rows []int32) mat.View { return h.Select(rows).Dense().View() }

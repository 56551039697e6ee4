package gnn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// Input is the graph of a forward pass: it multiplies by X and propagates over A. Each of A and X is a constant or a
// variable on the tape, and a model need not know which. All operations are differentiable any number of times in every
// variable. An Input is not safe for concurrent use.
//
// A variable A is dense, n×n, with entries of at least 0 and without self-loops, which propagation adds.
type Input struct {
	adj      *adjacency
	nodes    int
	features int
	x        mat.Matrix    // a constant X, nil otherwise
	variable *autodiff.Var // a variable X, nil otherwise

	sparse     *features             // a constant sparse X as a linear map
	wasDense   bool                  // X was given as a dense matrix: dropout draws random numbers for its zeros too
	streamed   *streamed             // a constant X that is neither dense nor sparse, read in blocks of rows
	propagated []filtered            // P·X of a constant A and a constant dense X
	loss       *scope                // the rows that the loss reads, and the nodes around them; nil means all rows
	part       *features             // rows of a constant sparse X, for the method partial
	partNodes  []int32               // the nodes of part
	owners     map[[2]int]*mat.Dense // the results of headOwners, by their sizes

	config    Config        // provides the dropout rates
	src       rand.Source   // nil: no dropout
	dropped   *autodiff.Var // X after dropout, in the round droppedIn
	droppedIn round         // the round of dropped
}

// round is the lifetime of a Var: from one Reset of its tape to the next.
type round struct {
	tape   *autodiff.Tape
	resets int
}

func roundOf(t *autodiff.Tape) round { return round{t, t.Resets()} }

// filtered is P·X for a filter P, at the given nodes, or at all nodes if nodes is nil.
type filtered struct {
	filter filter
	nodes  []int32
	px     *mat.Dense
}

// NewInput returns a constant graph. adj is symmetric and without self-loops; nil means no edges. The Input can be used
// for any number of forward passes and computes shared results once. It keeps adj and x. A wide *mat.Dense that is
// mostly zeros is stored as *mat.CSR: dropout stays the same, but products may differ in the last bits. If x is neither
// *mat.Dense nor *mat.CSR, it is read into memory. When ctx is done, products with A stop, and Err returns the error of
// ctx.
func NewInput(ctx context.Context, adj *mat.CSR, x mat.Matrix) (*Input, error) {
	return constantInput(ctx, adj, x, false)
}

// constantInput is NewInput, for an adjacency as in graph.Graph.Causal if causal is set.
func constantInput(ctx context.Context, adj *mat.CSR, x mat.Matrix, causal bool) (*Input, error) {
	n, _ := x.Dims()
	if err := check(ctx, adj, x, causal); err != nil {
		return nil, err
	}
	switch x.(type) {
	case *mat.Dense, *mat.CSR:
	default:
		dense := new(mat.Dense)
		if err := mat.Rows(dense, x, span(nil, 0, n)); err != nil {
			return nil, fmt.Errorf("reading features: %w", err)
		}
		x = dense
	}
	_, dense := x.(*mat.Dense)
	in := newInput(newAdjacency(ctx, adj, n), sparser(x))
	in.wasDense = dense
	return in, nil
}

// newInput returns a constant graph. If x is neither *mat.Dense nor *mat.CSR, it is read in each product, and the
// product has no gradient.
func newInput(adj *adjacency, x mat.Matrix) *Input {
	in := &Input{adj: adj, x: x, owners: map[[2]int]*mat.Dense{}}
	in.nodes, in.features = x.Dims()
	switch x.(type) {
	case *mat.Dense, *mat.CSR:
	default:
		in.streamed = &streamed{ctx: adj.ctx, x: x}
	}
	return in
}

// VariableInput returns a graph whose A, n×n, and X, n×d, are variables of one tape. A nil a means no edges. The Input
// is valid until the tape's Reset.
func VariableInput(a, x *autodiff.Var) *Input {
	n := x.Value.Rows
	in := &Input{
		adj: newAdjacency(context.Background(), nil, n), nodes: n, features: x.Value.Cols, variable: x,
		owners: map[[2]int]*mat.Dense{},
	}
	return in.With(a, nil)
}

// With returns a copy of in whose A is the variable a, n×n, and whose X is the variable x, n×d. nil keeps A or X. The
// result is valid until the Reset of the variables' tape.
func (in *Input) With(a, x *autodiff.Var) *Input {
	out := *in
	if a != nil {
		if a.Value.Rows != in.nodes || a.Value.Cols != in.nodes {
			panic(fmt.Sprintf("gnn: adjacency %d×%d for %d nodes", a.Value.Rows, a.Value.Cols, in.nodes))
		}
		out.adj = &adjacency{ctx: in.adj.ctx, nodes: in.nodes, variable: a, made: roundOf(a.Tape())}
	}
	if x != nil {
		if x.Value.Rows != in.nodes || x.Value.Cols != in.features {
			panic(fmt.Sprintf("gnn: features %d×%d for %d×%d", x.Value.Rows, x.Value.Cols, in.nodes, in.features))
		}
		out.x, out.sparse, out.streamed, out.variable = nil, nil, nil, x
	}
	out.propagated = nil
	return out.withDropout(in.config, in.src)
}

// withDropout returns in with dropout of features and hidden units at the rates of config, drawn from src. All uses of
// a feature in one pass share its mask. Each Reset of the tape draws a new mask.
func (in *Input) withDropout(config Config, src rand.Source) *Input {
	out := *in
	out.config, out.src, out.dropped, out.droppedIn = config, src, nil, round{}
	if in.inputDropout() > 0 || out.inputDropout() > 0 {
		out.sparse = nil // dropout changes its entries, so each Input needs its own
	}
	return &out
}

// withLoss returns in for a loss that reads only some rows of the output; nil means all.
func (in *Input) withLoss(rows []int32) *Input {
	out := *in
	if adj := in.adj.constant; rows != nil && adj != nil {
		out.loss = newScope(adj, nil, rows, false)
	}
	return &out
}

// within returns the nodes within some hops of the rows that the loss reads; nil means all nodes. Without hops, it
// returns nil, because the rows may repeat.
func (in *Input) within(hops int) []int32 {
	if hops == 0 || in.loss == nil || in.adj.variable != nil {
		return nil
	}
	return in.loss.field(hops).nodes
}

// Nodes returns n.
func (in *Input) Nodes() int { return in.nodes }

// Err returns the first error of reading features, or the error of NewInput's context. Values computed after an error
// are meaningless. A caller of Forward must check Err before it uses the logits.
func (in *Input) Err() error {
	if in.streamed != nil && in.streamed.err != nil {
		return in.streamed.err
	}
	return in.adj.ctx.Err()
}

// X returns X, n×d, as a dense matrix. To compute X·W, Times is cheaper.
func (in *Input) X(t *autodiff.Tape) *autodiff.Var {
	p := in.inputDropout()
	if p > 0 && in.dropped != nil && in.droppedIn == roundOf(t) {
		return in.dropped
	}
	x := in.variable
	switch constant := in.x.(type) {
	case nil:
	case *mat.Dense:
		x = t.Var(constant)
	case *mat.CSR:
		return t.Var(in.dropSparse(t, constant).x.Dense())
	default:
		x = t.Var(in.streamed.read())
	}
	if p > 0 {
		x = t.Dropout(x, p, in.src)
		in.dropped, in.droppedIn = x, roundOf(t)
	}
	return x
}

// dropSparse returns a sparse X after dropout. The dropout mask is drawn once per round.
func (in *Input) dropSparse(t *autodiff.Tape, x *mat.CSR) *features {
	if in.sparse == nil {
		in.sparse = newFeatures(in.adj.ctx, x)
	}
	if p := in.inputDropout(); p > 0 && in.droppedIn != roundOf(t) {
		in.sparse.drop(p, in.src, in.wasDense)
		in.droppedIn = roundOf(t)
	}
	return in.sparse
}

// inputDropout returns the dropout rate of features.
func (in *Input) inputDropout() float64 {
	if in.src == nil {
		return 0
	}
	return in.config.InputDropout
}

// Times returns X·w for w d×k. A sparse X stays sparse.
func (in *Input) Times(w *autodiff.Var) *autodiff.Var {
	t := w.Tape()
	if x, ok := in.x.(*mat.CSR); ok {
		return t.Linear(in.dropSparse(t, x), w)
	}
	if in.streamed != nil {
		return t.Var(in.streamed.times(w.Value))
	}
	return t.MatMul(in.X(t), w)
}

// filter returns f(P)·X·w at the given nodes, or at all nodes if nodes is nil. reached must contain all nodes that f
// reads for them. If A and a dense X are constants, f(P)·X is computed once. Otherwise X·w is computed first: dropout
// changes X in each pass, a sparse X stays sparse, and X·w usually has fewer columns than X.
func (in *Input) filter(f filter, w *autodiff.Var, nodes, reached []int32) *autodiff.Var {
	t := w.Tape()
	if in.adj.summary != nil && in.features <= w.Value.Cols { // else X·w has fewer columns
		return t.MatMul(in.adj.filter(f, in.X(t)), w)
	}
	x, dense := in.x.(*mat.Dense)
	if in.adj.summary != nil || !dense || in.adj.variable != nil || in.inputDropout() > 0 {
		z := in.adj.filter(f, in.partial(w, reached))
		if nodes != nil {
			z = t.Rows(z, nodes)
		}
		return z
	}
	for _, p := range in.propagated {
		if p.filter.equal(f) && slices.Equal(p.nodes, nodes) {
			return t.MatMul(t.Var(p.px), w)
		}
	}
	px := in.adj.filter(f, t.Values().Var(x)).Value
	if nodes != nil {
		px = px.Select(nodes).Dense()
	}
	in.propagated = append(in.propagated, filtered{f, nodes, px})
	return t.MatMul(t.Var(px), w)
}

// partial returns X·w with arbitrary rows outside the given nodes, for a sparse X without dropout. Otherwise, or if
// nodes is nil, it returns X·w.
func (in *Input) partial(w *autodiff.Var, nodes []int32) *autodiff.Var {
	x, sparse := in.x.(*mat.CSR)
	if nodes == nil || !sparse || in.inputDropout() > 0 {
		return in.Times(w)
	}
	if in.part == nil || !slices.Equal(in.partNodes, nodes) {
		in.part, in.partNodes = newFeatures(in.adj.ctx, x.Select(nodes)), nodes
	}
	t := w.Tape()
	return t.SpreadRows(t.Linear(in.part, w), nodes, in.nodes)
}

// Dropout returns x after dropout at the rate Config.Dropout in training, and x itself otherwise.
func (in *Input) Dropout(x *autodiff.Var) *autodiff.Var {
	if in.src == nil {
		return x
	}
	return x.Tape().Dropout(x, in.config.Dropout, in.src)
}

// Symmetric returns Â·x with Â = D̃^-½ (A + I) D̃^-½ and D̃_ii = 1 + Σ_j A_ij. Without edges it is x.
func (in *Input) Symmetric(x *autodiff.Var) *autodiff.Var { return in.adj.apply(symmetric, x) }

// Mean returns D̃⁻¹ (A + I)·x: the mean over the neighbours and the node itself. Without edges it is x.
func (in *Input) Mean(x *autodiff.Var) *autodiff.Var { return in.adj.apply(mean, x) }

// Sum returns A·x: the sum over the neighbours, weighted if the edges have weights. Without edges it is zero.
func (in *Input) Sum(x *autodiff.Var) *autodiff.Var { return in.adj.apply(total, x) }

// span returns the integers lo to hi−1, in the memory of dst if it is large enough.
func span(dst []int32, lo, hi int) []int32 {
	dst = dst[:0]
	for i := lo; i < hi; i++ {
		dst = append(dst, int32(i))
	}
	return dst
}

package gnn

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// Input is a graph as a forward pass sees it: products with X, and propagation over A. Each of A and X is a constant or
// a variable on the tape; a model need not know which. All operations are differentiable in every variable, any number
// of times. An Input is not safe for concurrent use.
//
// A variable A is dense, n×n. Its entries are at least 0. It has no self-loops: propagation adds them.
type Input struct {
	adj      *adjacency
	nodes    int
	features int
	x        mat.Matrix    // a constant X, nil otherwise
	variable *autodiff.Var // a variable X, nil otherwise

	sparse     *features             // a constant X as a map, where it is not dense
	streamed   *streamed             // a constant X that is read block by block, where it is neither dense nor sparse
	propagated []filtered            // P·X of a constant A and a constant dense X
	owners     map[[2]int]*mat.Dense // of HeadDots

	config    Config        // its dropout
	src       rand.Source   // nil: no dropout
	dropped   *autodiff.Var // X after dropout, in the round droppedIn
	droppedIn round
}

// round is the life of a Var: from one Reset of its tape to the next.
type round struct {
	tape   *autodiff.Tape
	resets int
}

func roundOf(t *autodiff.Tape) round { return round{t, t.Resets()} }

// filtered is P·X for a filter P.
type filtered struct {
	filter filter
	px     *mat.Dense
}

// NewInput returns a constant graph. adj is symmetric and without self-loops; nil means that there are no edges. The
// Input serves any number of forward passes: what they share is computed once. It keeps adj and x. An x that is neither
// *mat.Dense nor *mat.CSR is read into memory. When ctx is done, products with A stop, and Err says so.
func NewInput(ctx context.Context, adj *mat.CSR, x mat.Matrix) (*Input, error) {
	n, _ := x.Dims()
	if err := check(ctx, adj, x); err != nil {
		return nil, err
	}
	switch x.(type) {
	case *mat.Dense, *mat.CSR:
	default:
		dense := new(mat.Dense)
		if err := mat.Rows(dense, x, span(nil, 0, n)); err != nil {
			return nil, fmt.Errorf("gnn: reading features: %w", err)
		}
		x = dense
	}
	return newInput(newAdjacency(ctx, adj, n), x), nil
}

// newInput returns a graph that does not change. An x that is neither *mat.Dense nor *mat.CSR is read in each product,
// and the product has no gradient.
func newInput(adj *adjacency, x mat.Matrix) *Input {
	in := &Input{adj: adj, x: x, owners: map[[2]int]*mat.Dense{}}
	in.nodes, in.features = x.Dims()
	switch x := x.(type) {
	case *mat.Dense:
	case *mat.CSR:
	default:
		in.streamed = &streamed{ctx: adj.ctx, x: x}
	}
	return in
}

// VariableInput returns a graph whose A, n×n, and X, n×d, are variables of one tape. A nil a means that there are no
// edges. The Input is valid until the tape's Reset.
func VariableInput(a, x *autodiff.Var) *Input {
	n := x.Value.Rows
	in := &Input{
		adj: newAdjacency(context.Background(), nil, n), nodes: n, features: x.Value.Cols, variable: x,
		owners: map[[2]int]*mat.Dense{},
	}
	if a != nil {
		return in.WithA(a)
	}
	return in
}

// WithA returns in with the variable a, n×n, in place of A. It is valid until the Reset of a's tape.
func (in *Input) WithA(a *autodiff.Var) *Input {
	if a.Value.Rows != in.nodes || a.Value.Cols != in.nodes {
		panic(fmt.Sprintf("gnn: adjacency %d×%d for %d nodes", a.Value.Rows, a.Value.Cols, in.nodes))
	}
	out := *in
	out.adj, out.propagated = &adjacency{ctx: in.adj.ctx, nodes: in.nodes, variable: a, made: roundOf(a.Tape())}, nil
	return out.WithDropout(in.config, in.src)
}

// WithX returns in with the variable x, n×d, in place of X. It is valid until the Reset of x's tape.
func (in *Input) WithX(x *autodiff.Var) *Input {
	if x.Value.Rows != in.nodes || x.Value.Cols != in.features {
		panic(fmt.Sprintf("gnn: features %d×%d for %d×%d", x.Value.Rows, x.Value.Cols, in.nodes, in.features))
	}
	out := *in
	out.x, out.sparse, out.streamed, out.propagated = nil, nil, nil, nil
	out.variable = x
	return out.WithDropout(in.config, in.src)
}

// WithDropout returns in as training sees it: features and hidden units are dropped out as config says, drawn from src.
// A feature is dropped out alike wherever a pass uses it, and anew after each Reset of the tape.
func (in *Input) WithDropout(config Config, src rand.Source) *Input {
	out := *in
	out.config, out.src, out.dropped, out.droppedIn = config, src, nil, round{}
	if in.inputDropout() > 0 || out.inputDropout() > 0 {
		out.sparse = nil // dropout changes its entries, so each Input has its own
	}
	return &out
}

// Nodes returns n.
func (in *Input) Nodes() int { return in.nodes }

// Err returns the first error of reading features, or the error of NewInput's context. Values that were computed after
// it have no meaning. Whoever calls Forward asks Err before using the logits.
func (in *Input) Err() error {
	if in.streamed != nil && in.streamed.err != nil {
		return in.streamed.err
	}
	return in.adj.ctx.Err()
}

// X returns X, n×d, written out dense. Times is cheaper where the model wants X·W.
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

// dropSparse returns a sparse X with entries dropped out, once in a round.
func (in *Input) dropSparse(t *autodiff.Tape, x *mat.CSR) *features {
	if in.sparse == nil {
		in.sparse = newFeatures(in.adj.ctx, x)
	}
	if p := in.inputDropout(); p > 0 && in.droppedIn != roundOf(t) {
		in.sparse.drop(p, in.src)
		in.droppedIn = roundOf(t)
	}
	return in.sparse
}

// inputDropout returns the probability with which features are dropped out.
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

// filter returns f(P)·X·w. Where A and a dense X are constants, f(P)·X is computed once. Otherwise X·w comes first:
// dropout changes X in each pass, a sparse X stays sparse, and X·w mostly has fewer columns than X.
func (in *Input) filter(f filter, w *autodiff.Var) *autodiff.Var {
	x, dense := in.x.(*mat.Dense)
	if !dense || in.adj.variable != nil || in.inputDropout() > 0 {
		return in.adj.filter(f, in.Times(w))
	}
	t := w.Tape()
	for _, p := range in.propagated {
		if p.filter.equal(f) {
			return t.MatMul(t.Var(p.px), w)
		}
	}
	values := t.Values()
	px := in.adj.filter(f, values.Var(x)).Value
	in.propagated = append(in.propagated, filtered{f, px})
	return t.MatMul(t.Var(px), w)
}

// Dropout returns x with elements dropped out by Config.Dropout in training, and x itself otherwise.
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

// Sum returns A·x: the sum over the neighbours, weighted where the edges are. Without edges it is zero.
func (in *Input) Sum(x *autodiff.Var) *autodiff.Var { return in.adj.apply(total, x) }

// span returns the numbers lo to hi−1 in the memory of dst, as far as that is large enough.
func span(dst []int32, lo, hi int) []int32 {
	dst = dst[:0]
	for i := lo; i < hi; i++ {
		dst = append(dst, int32(i))
	}
	return dst
}

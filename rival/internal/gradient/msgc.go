package gradient

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// msgc learns one X′ for several sparse graphs with fixed random patterns, by matching gradients of a linear GNN on all
// of them. Source: Gao et al., Multiple sparse graphs condensation (2023).
//
// On pattern b, A′⁽ᵇ⁾ consists of the entries of PGE(X′) on the pattern. The relay's gradient over all patterns
// together is matched. The result is the mean of the graphs, and the mean of X′ over the last epochs.
type msgc struct {
	// Matching has the relay SGC, the only one that MSGC supports.
	Matching
	// Patterns is the number of sparse graphs, at least 1. Links is the number of nodes that each node draws in a pattern,
	// at least 1.
	Patterns int `json:"patterns"`
	Links    int `json:"links"`
	// Window is the number of final epochs over which X′ is averaged, at least 1.
	Window int `json:"window"`
	learn.Structure
}

// newMSGC returns MSGC with the settings of GCond and 16 graphs.
func newMSGC() msgc {
	m := msgc{Matching: newGCond().Matching, Structure: newGCond().Structure, Patterns: 16, Links: 2, Window: 20}
	m.Threshold = 0
	return m
}

// Name returns "msgc".
func (msgc) Name() string { return "msgc" }

// Check validates the parameters, g, nodes and the memory limit.
func (m msgc) Check(g *graph.Graph, nodes int) error {
	err := errors.Join(
		m.check(g, m, &m.Structure, m.Memory, nodes),
		parameter.Check(m.Relay == SGC, "relay", m.Relay, "sgc"),
		parameter.Check(m.Patterns >= 1, "patterns", m.Patterns, "at least 1"),
		parameter.Check(m.Links >= 1, "links", m.Links, "at least 1"),
		parameter.Check(m.Window >= 1, "window", m.Window, "at least 1"),
	)
	if err != nil {
		return err
	}
	// X′ and its propagations on each pattern, their gradients, and X′ of the last epochs.
	rows := float64(nodes) * (float64(m.Patterns)*float64(2*m.Hops+5) + float64(m.Window))
	return m.Memory.Fits(learn.Training(m.Name(), g),
		learn.PairBytes(nodes, m.PairHidden)+m.bytes(g, nodes)+4*rows*float64(g.Features()))
}

// Condense condenses g to the given number of nodes.
func (m msgc) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	plan := learn.Plan{
		Method: m, Nodes: nodes, Seed: seed, Epochs: m.Epochs, Choice: m.Choice, Threshold: m.Threshold,
	}
	return learn.Run(ctx, g, plan, func(start *learn.Start) (learn.Learner, error) {
		means, err := start.ClassMeans(ctx, 0)
		if err != nil {
			return nil, err
		}
		means.Gather(start.X, start.Y) // each row of X′ starts as the mean of its class
		rows, first := start.Labelled()
		h, err := start.Embeddings(ctx, m.Hops, rows)
		if err != nil {
			return nil, err
		}
		relay, patterns, err := newSparse(ctx, start, m, h[m.Hops], first, rand.NewPCG(seed, patternStream))
		if err != nil {
			return nil, err
		}
		l := &sparseLearner{
			matcher:  matcher{m.Matching, m.Pair(start, m.FeatureRate, seed), relay},
			patterns: patterns, count: mat.NewDense(1, 1), mean: mat.NewDense(start.X.Dims()),
		}
		for range m.Window {
			l.last = append(l.last, mat.NewDense(start.X.Dims()))
		}
		return l, nil
	})
}

// patternStream is the random stream of the patterns.
const patternStream = 1<<40 + 2

// sparseLearner is the Learner of MSGC.
type sparseLearner struct {
	matcher
	patterns *patterns
	last     []*mat.Dense // the X′ of the last epochs, in a ring buffer
	count    *mat.Dense   // 1×1: the number of epochs so far
	mean     *mat.Dense
}

// Epoch runs an epoch of gradient matching and stores X′.
func (l *sparseLearner) Epoch(ctx context.Context, epoch int, src rand.Source) (loss float64, err error) {
	if loss, err = l.matcher.Epoch(ctx, epoch, src); err != nil {
		return 0, err
	}
	copy(l.last[epoch%len(l.last)].Data, l.X.Data)
	l.count.Data[0]++
	return loss, nil
}

// Result returns the mean of X′ over the last epochs, and the mean of the graphs for it.
func (l *sparseLearner) Result() learn.Iterate {
	n := min(len(l.last), int(l.count.Data[0]))
	if n == 0 {
		return learn.Iterate{X: l.X, A: l.patterns.average(l.A())}
	}
	clear(l.mean.Data)
	for _, x := range l.last { // entries for later epochs are still 0
		kernel.Axpy(1/float32(n), x.Data, l.mean.Data)
	}
	return learn.Iterate{X: l.mean, A: l.patterns.average(l.Maker.Forward(l.mean))}
}

// State implements learn.Learner.
func (l *sparseLearner) State() []*mat.Dense {
	return append(append(l.matcher.State(), l.count), l.last...)
}

// patterns is the propagation on several sparse graphs that share one X′. On the tape they are one graph of
// Patterns·N′ nodes. Its rows are ordered class by class.
type patterns struct {
	hops    int
	nodes   []int32 // the condensed node of each row
	edges   *autodiff.Edges
	entries []int32    // the entry of A′, i·N′ + j, of each edge; self-loops are edges too
	loops   *mat.Dense // 1 at the self-loops, else 0
	share   *mat.Dense // for each edge, the share of patterns that have it
	mean    mat.Dense

	tape    *autodiff.Tape
	x, a, z *autodiff.Var
}

// newSparse returns the linear relay on patterns: in each, a node draws m.Links others, and an edge has both
// directions.
func newSparse(ctx context.Context, s *learn.Start, m msgc, real *mat.Dense, first []int, src rand.Source) (
	*linear, *patterns, error,
) {
	n, random := len(s.Y), rand.New(src)
	o := &patterns{hops: m.Hops, share: mat.NewDense(n, n), tape: autodiff.NewTape()}
	joined := make([][]bool, m.Patterns)
	for b := range joined {
		joined[b] = memory.Make[bool](n * n)
		for i := range n {
			joined[b][i*n+i] = true
			for range m.Links {
				j := (i + 1 + random.IntN(max(1, n-1))) % n // never i, if there are other nodes
				joined[b][i*n+j], joined[b][j*n+i] = true, true
			}
		}
	}
	repeated := &learn.Start{X: s.X, First: []int{0}}
	graphs := &mat.CSR{Rows: n * m.Patterns, Cols: n * m.Patterns, Indptr: []int64{0}}
	var loops []float32
	for c, k := range s.Budget {
		for b, pattern := range joined {
			for i := s.First[c]; i < s.First[c+1]; i++ {
				o.nodes, repeated.Y = append(o.nodes, int32(i)), append(repeated.Y, int32(c))
				for j, y := range s.Y {
					if !pattern[i*n+j] {
						continue
					}
					row := s.First[y]*m.Patterns + b*s.Budget[y] + j - s.First[y] // of node j in pattern b
					graphs.Indices, o.entries = append(graphs.Indices, int32(row)), append(o.entries, int32(i*n+j))
					if i == j {
						loops = append(loops, 1)
					} else {
						loops = append(loops, 0)
						o.share.Row(i)[j] += 1 / float32(m.Patterns)
					}
				}
				graphs.Indptr = append(graphs.Indptr, int64(len(graphs.Indices)))
			}
		}
		repeated.Budget = append(repeated.Budget, k*m.Patterns)
		repeated.First = append(repeated.First, len(repeated.Y))
	}
	o.loops = &mat.Dense{Rows: len(loops), Cols: 1, Data: loops}
	var err error
	o.edges, err = autodiff.NewEdges(ctx, graphs)
	return linearOn(repeated, m.Matching, real, first, o), o, err
}

// average returns the mean of the sparse graphs for a = PGE(X′).
func (o *patterns) average(a *mat.Dense) *mat.Dense {
	o.mean.Reshape(a.Dims())
	kernel.Mul(o.mean.Data, a.Data, o.share.Data)
	return &o.mean
}

// Forward returns the rows of Z′ = Â′ᴷX′ of all patterns.
func (o *patterns) Forward(x, a *mat.Dense) *mat.Dense {
	t := o.tape
	t.Reset()
	o.x, o.a = t.Var(x), t.Var(&mat.Dense{Rows: len(a.Data), Cols: 1, Data: a.Data})
	weights := t.Add(t.Rows(o.a, o.entries), t.Var(o.loops))
	scale := t.Power(t.Attend(o.edges, weights, t.Var(learn.Filled(len(o.nodes), 1, 1)), false), -0.5)
	weights = t.Mul(t.Mul(t.EdgeRows(o.edges, scale, false), weights), t.EdgeRows(o.edges, scale, true))
	o.z = t.Rows(o.x, o.nodes)
	for range o.hops {
		o.z = t.Attend(o.edges, weights, o.z, false)
	}
	return o.z.Value
}

// Backward returns the gradients with respect to X′ and A′, given the gradient dz with respect to Z′. The diagonal of
// A′ is fixed, so its gradient is 0.
func (o *patterns) Backward(a, dz *mat.Dense) (dx, da *mat.Dense) {
	_, dx, entries := learn.Gradients(learn.Along(o.z, dz), o.x, o.a)
	da = &mat.Dense{Rows: a.Rows, Cols: a.Cols, Data: entries.Data}
	for i := range a.Rows {
		da.Row(i)[i] = 0
	}
	return dx, da
}

package gradient

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// msgc learns one X′ and several sparse graphs on it. In each graph, a node has neighbours of every class. The
// gradients of a linear GNN on all graphs together are matched with those on the original graph. Source: Gao et al.,
// Multiple sparse graphs condensation (2023).
//
// On pattern b, A′⁽ᵇ⁾ consists of the entries of PGE(X′) on the pattern. The relay's gradient is computed over all
// patterns together. The result is the mean of A′ and of X′ over the Window consecutive epochs with the smallest mean
// loss. Learning ends after Patience epochs without a smaller mean.
//
// Departures from the authors' program (jianjianGJ/MSGC, main.py and graphsyn.py):
//   - A condensed graph has one A′, the mean of the patterns before normalisation. The authors train GNNs on the 16
//     normalised patterns at once.
//   - The learning rates and the number of steps are those for Cora and Citeseer on every graph.
//   - PGE is the network of GCond: batch normalisation is over all pairs of nodes, not over the pairs in the patterns,
//     and A′ is symmetrised before the sigmoid, not after it.
//   - X′ starts from class means on every graph, as in the program on Cora. On Citeseer and arxiv, the program starts
//     from clusters, and on Flickr from samples.
//   - Real gradients use full neighbourhoods, not 10 and 5 sampled neighbours.
type msgc struct {
	// Matching has the relay SGC, the only one that is supported. The authors' program also offers GCN and APPNP.
	Matching
	// Patterns is the number of sparse graphs, at least 1.
	Patterns int `json:"patterns"`
	// Window is the number of epochs over which the loss and the result are averaged, at least 1. Learning ends after
	// Patience epochs without a smaller loss; it is at least 1.
	Window   int `json:"window"`
	Patience int `json:"patience"`
	learn.Structure
}

// newMSGC returns MSGC with 16 graphs, no threshold, and GCond's other settings, as in its authors' program for Cora.
func newMSGC() msgc {
	m := msgc{
		Matching: newGCond().Matching, Structure: newGCond().Structure, Patterns: 16, Window: 20, Patience: 20,
	}
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
		parameter.Check(m.Window >= 1, "window", m.Window, "at least 1"),
		parameter.Check(m.Patience >= 1, "patience", m.Patience, "at least 1"),
	)
	if err != nil {
		return err
	}
	// Counted: X′ and its propagations on each pattern, their gradients, and X′ of the last epochs. A′ is smaller, and not
	// counted.
	rows := float64(nodes) * (float64(m.Patterns)*float64(2*m.Hops+5) + float64(m.Window))
	return m.Memory.Fits(rival.Training(m.Name(), g),
		learn.PairBytes(nodes, m.PairHidden)+m.bytes(g, nodes)+4*rows*float64(g.Features()))
}

// Condense implements condense.Method.
func (m msgc) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	plan := learn.Plan{Method: m, Nodes: nodes, Seed: seed, Epochs: m.Epochs}
	return learn.Run(ctx, g, plan, func(start *learn.Start) (learn.Learner, error) {
		return m.begin(ctx, start, seed)
	})
}

func (m msgc) begin(ctx context.Context, start *learn.Start, seed uint64) (*sparseLearner, error) {
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
	drawn := make([][]bool, m.Patterns)
	random := rand.New(rand.NewPCG(seed, patternStream))
	for b := range drawn {
		drawn[b] = pattern(start, random)
	}
	relay, patterns, err := newSparse(ctx, start, m, h[m.Hops], first, drawn)
	if err != nil {
		return nil, err
	}
	l := &sparseLearner{
		matcher:  matcher{m.Matching, m.Pair(start, m.FeatureRate, seed), relay},
		patterns: patterns, patience: m.Patience, losses: mat.NewDense(1, m.Window),
		x: make([]*mat.Dense, m.Window+1), a: make([]*mat.Dense, m.Window+1), record: mat.NewDense(1, records),
	}
	for i := range l.x {
		l.x[i], l.a[i] = l.X.Clone(), patterns.average(l.A()).Clone()
	}
	return l, nil
}

// patternStream is the random stream of the patterns.
const patternStream = 1<<40 + 2

// pattern draws a random sparse graph. Entry i·N′ + j of the result says whether nodes i and j are linked. Each node,
// in order, gets a neighbour from each class in which it has fewer than two: a random one of the nodes that have the
// fewest neighbours of its own class. The same neighbour may be drawn again.
func pattern(s *learn.Start, random *rand.Rand) []bool {
	n := len(s.Y)
	linked, count := memory.Make[bool](n*n), mat.NewDense(n, len(s.Budget))
	for i, own := range s.Y {
		linked[i*n+i] = true
		for c := range s.Budget {
			var least []int
			for j := s.First[c]; j < s.First[c+1]; j++ {
				switch have := count.Row(j)[own]; {
				case j == i:
				case len(least) == 0 || have < count.Row(least[0])[own]:
					least = []int{j}
				case have == count.Row(least[0])[own]:
					least = append(least, j)
				}
			}
			if len(least) == 0 || count.Row(i)[c] > 1 {
				continue
			}
			j := least[random.IntN(len(least))]
			count.Row(i)[c]++
			count.Row(j)[own]++
			linked[i*n+j], linked[j*n+i] = true, true
		}
	}
	return linked
}

// sparseLearner is the Learner of MSGC. It implements learn.Chooser.
type sparseLearner struct {
	matcher
	patterns *patterns
	patience int
	losses   *mat.Dense   // of the last epochs, in a ring buffer
	x, a     []*mat.Dense // X′ and A′ of the same epochs; the last elements are the choice
	record   *mat.Dense   // 1×records; a matrix, so that a checkpoint can store it
}

// These are the columns of sparseLearner.record.
const (
	epochs      = iota // so far
	chosenEpoch        // the last epoch of the chosen window
	chosenLoss         // its mean loss
	records
)

// Epoch runs an epoch of gradient matching and chooses the window that ends with it if the window's mean loss is the
// smallest so far.
func (l *sparseLearner) Epoch(ctx context.Context, epoch int, src rand.Source) (loss float64, err error) {
	if loss, err = l.matcher.Epoch(ctx, epoch, src); err != nil {
		return 0, err
	}
	window, record := len(l.losses.Data), l.record.Data
	at := epoch % window
	l.losses.Data[at] = float32(loss)
	copy(l.x[at].Data, l.X.Data)
	copy(l.a[at].Data, l.patterns.average(l.A()).Data)
	record[epochs]++
	var last []int
	mean := float32(0)
	for e := max(1, epoch-window+1); e <= epoch; e++ {
		last = append(last, e%window)
	}
	for _, i := range last {
		mean += l.losses.Data[i] / float32(len(last))
	}
	if epoch == 1 || mean < record[chosenLoss] {
		record[chosenEpoch], record[chosenLoss] = float32(epoch), mean
		for _, parts := range [][]*mat.Dense{l.x, l.a} {
			clear(parts[window].Data)
			for _, i := range last {
				kernel.Axpy(1/float32(len(last)), parts[i].Data, parts[window].Data)
			}
		}
	}
	return loss, nil
}

// Chosen implements learn.Chooser.
func (l *sparseLearner) Chosen() (epoch int, done bool) {
	epoch = int(l.record.Data[chosenEpoch])
	return epoch, int(l.record.Data[epochs])-epoch >= l.patience
}

// Result returns the means of X′ and of A′ over the chosen window.
func (l *sparseLearner) Result() learn.Iterate {
	window := len(l.losses.Data)
	return learn.Iterate{X: l.x[window], A: l.a[window], Threshold: l.Threshold}
}

// State implements learn.Learner.
func (l *sparseLearner) State() []*mat.Dense {
	return slices.Concat(l.matcher.State(), []*mat.Dense{l.losses, l.record}, l.x, l.a)
}

// patterns is the propagation on several sparse graphs that share one X′. On the tape they are one graph of
// Patterns·N′ nodes. Its rows are ordered class by class.
type patterns struct {
	hops    int
	nodes   []int32 // the condensed node of each row
	edges   *autodiff.Edges
	entries []int32    // the entry of A′, i·N′ + j, of each edge; self-loops are edges too
	loops   *mat.Dense // 1 at the self-loops, else 0
	share   *mat.Dense // entry (i, j) is the share of patterns with this edge
	mean    mat.Dense

	tape    *autodiff.Tape
	x, a, z *autodiff.Var
}

// newSparse returns the linear relay on the given patterns, in which every node is linked to itself.
func newSparse(ctx context.Context, s *learn.Start, m msgc, real *mat.Dense, first []int, drawn [][]bool) (
	*linear, *patterns, error,
) {
	n, count := len(s.Y), len(drawn)
	o := &patterns{hops: m.Hops, share: mat.NewDense(n, n), tape: autodiff.NewTape()}
	repeated := &learn.Start{X: s.X, First: []int{0}}
	graphs := &mat.CSR{Rows: n * count, Cols: n * count, Indptr: []int64{0}}
	var loops []float32
	for c, k := range s.Budget {
		for b, pattern := range drawn {
			for i := s.First[c]; i < s.First[c+1]; i++ {
				o.nodes, repeated.Y = append(o.nodes, int32(i)), append(repeated.Y, int32(c))
				for j, y := range s.Y {
					if !pattern[i*n+j] {
						continue
					}
					row := s.First[y]*count + b*s.Budget[y] + j - s.First[y] // of node j in pattern b
					graphs.Indices, o.entries = append(graphs.Indices, int32(row)), append(o.entries, int32(i*n+j))
					if i == j {
						loops = append(loops, 1)
					} else {
						loops = append(loops, 0)
						o.share.Row(i)[j] += 1 / float32(count)
					}
				}
				graphs.Indptr = append(graphs.Indptr, int64(len(graphs.Indices)))
			}
		}
		repeated.Budget = append(repeated.Budget, k*count)
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

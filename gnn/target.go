package gnn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
)

// Target is the graph on which trained models are validated and tested. This is the original graph, prepared once for
// any number of training runs. A Target is safe for concurrent use. It keeps results that do not depend on weights,
// such as ÂX at the nodes that validation needs.
type Target struct {
	name             string
	nodes, features  int
	classes          int
	sample           func() *Sample
	validation, test *scope
	labels           []int32 // of the validation nodes
	testNodes        []int32
	testLabels       func() []int32
	bound            int64    // the memory limit, 0 for none
	streams          *streams // nil unless the graph is larger than the memory limit
}

// NewTarget prepares g. In the transductive setting, models see the full graph and predict the nodes of a split. In the
// inductive setting, they see only the subgraph that the nodes of the split induce. g must not change afterwards.
// NewTarget returns an error if the graph is invalid (graph.Graph.Check) or has no validation nodes. Without test
// nodes, Result.Test is 0.
//
// NewTarget does not preprocess features. To test models that are trained on a condensed graph, pass the graph that
// condense.Condensed.Seen returns, otherwise accuracies may be wrong.
func NewTarget(g *graph.Graph, inductive bool) (*Target, error) {
	return TargetWithin(context.Background(), g, inductive, 0)
}

// TargetWithin is like NewTarget, but limits the memory of the process to bound bytes; 0 means no limit.
//
// If a graph is mapped from a file (graph.Graph.Mapped) and larger than the limit, it is read in order instead of being
// held in memory. Only nodes within the model's hops of the validation or test nodes are used. Propagated features are
// computed once, in blocks of columns, and kept in a temporary file ($TMPDIR, else /var/tmp). Graphs with sparse
// features are not read in order. The logits are bit-identical to the logits without a limit, unless wide dense
// features are mostly zeros: NewTarget multiplies these as sparse, and the order of additions changes the last bits.
//
// Plan reports what a model costs, and Close removes the files. Such a target processes one call after another. Each
// change of the model creates new files, so train one model after the other, not several concurrently.
func TargetWithin(ctx context.Context, g *graph.Graph, inductive bool, bound int64) (*Target, error) {
	if err := g.NeedVal(); err != nil {
		return nil, err
	}
	return targetWithin(ctx, g, inductive, bound)
}

// targetWithin is TargetWithin for graphs that may lack validation nodes.
func targetWithin(ctx context.Context, g *graph.Graph, inductive bool, bound int64) (_ *Target, err error) {
	defer memory.Recover(&err)
	if err := g.Check(ctx); err != nil {
		return nil, err
	}
	var input int64 // the size of a mapped graph
	if g.Mapped {
		input = budget.Graph(g.Adj, g.X)
	}
	beyond, given := bound > 0 && input > bound, g
	if x, dense := g.X.(*mat.Dense); beyond && dense {
		inOrder, err := paneled.OfFloats(x.Rows, x.Cols, x.Cols, [][]float32{x.Data})
		if err != nil {
			return nil, fmt.Errorf("target: %w", err)
		}
		view := *g // a part of a *mat.Dense would be copied; panels are read in place
		view.X, g = inOrder, &view
	}
	s := g.Split
	t := &Target{
		name: g.Name, nodes: g.Nodes(), features: g.Features(), classes: g.Classes,
		labels: g.Labels(s.Val), testNodes: s.Test, testLabels: func() []int32 { return g.Labels(s.Test) },
	}
	if inductive {
		val, test := g.Induced(s.Val), g.Induced(s.Test)
		t.sample = sync.OnceValue(func() *Sample {
			train := g.TrainingGraph()
			return &Sample{Adj: train.Adj, X: train.X, Y: train.Y, Classes: g.Classes, Causal: g.Causal}
		})
		t.validation, t.test = newScope(val.Adj, sparser(val.X), nil, true), newScope(test.Adj, sparser(test.X), nil, false)
	} else {
		t.sample = sync.OnceValue(func() *Sample {
			return &Sample{Adj: g.Adj, X: g.X, Y: g.Y, Classes: g.Classes, Causal: g.Causal, Rows: s.Train}
		})
		x := sparser(g.X)
		t.validation, t.test = newScope(g.Adj, x, s.Val, true), newScope(g.Adj, x, s.Test, false)
	}
	t.within(bound, input, beyond)
	if t.streams != nil {
		t.streams.within = func(bound int64) (*Target, error) { return targetWithin(ctx, given, inductive, bound) }
	}
	return t, nil
}

// within sets a memory limit; 0 means no limit. input is the size of a mapped graph. beyond says whether input exceeds
// the limit.
func (t *Target) within(memory, input int64, beyond bool) {
	if memory == 0 {
		return
	}
	t.bound = memory
	_, sparse := t.validation.x.(*mat.CSR)
	if beyond && !sparse {
		t.streams = &streams{
			bound: memory, process: budget.Testing, input: input, features: t.features, classes: t.classes,
		}
		if adj := t.test.adj; adj.LowerTriangular() { // it is a copy of half of the mapped adjacency
			t.streams.process += budget.Sparse(adj)
		}
		for i, s := range []*scope{forValidation: t.validation, forTest: t.test} {
			s.stream = &stream{target: t.streams, place: i, of: s}
			t.streams.parts[i] = s.stream
		}
		return
	}
	for _, s := range []*scope{t.validation, t.test} {
		s.room, s.units = roomWithin(memory)
	}
}

// Streams reports whether the graph is larger than the memory limit and is read in order.
func (t *Target) Streams() bool { return t.streams != nil }

// Close removes the temporary files of a target with a memory limit. No training run may be active. Later runs create
// new files.
func (t *Target) Close() {
	if t.streams == nil {
		return
	}
	t.streams.asking.Lock()
	defer t.streams.asking.Unlock()
	for _, s := range t.streams.parts {
		s.release()
	}
}

// Sample returns the training part of the graph, for training without condensation.
func (t *Target) Sample() *Sample {
	s := *t.sample()
	return &s
}

// accept returns an error if models trained on s cannot be tested on t.
func (t *Target) accept(s *Sample) error {
	if err := s.validate(); err != nil {
		return err
	}
	if _, d := s.X.Dims(); d != t.features {
		return fmt.Errorf("sample has %d features, graph %s has %d", d, t.name, t.features)
	}
	if s.Classes != t.classes {
		return fmt.Errorf("sample has %d classes, graph %s has %d", s.Classes, t.name, t.classes)
	}
	return nil
}

// Trained is a model with its weights.
type Trained struct {
	// Model is the architecture.
	Model Model
	// Features, Hidden and Classes are the arguments of Model.Shapes.
	Features, Hidden, Classes int
	// Parameters are the weights and biases, in the order of Model.Shapes.
	Parameters []*mat.Dense
}

// validate returns an error if the shapes of the parameters do not fit the model.
func (m *Trained) validate() error {
	shapes := m.Model.Shapes(m.Features, m.Hidden, m.Classes)
	if len(shapes) != len(m.Parameters) {
		return fmt.Errorf("%d parameters for model %s, expected %d", len(m.Parameters), m.Model.Name(), len(shapes))
	}
	for i, s := range shapes {
		if p := m.Parameters[i]; p.Rows != s.Rows || p.Cols != s.Cols {
			return fmt.Errorf("parameter %d of model %s is %d×%d, expected %d×%d",
				i, m.Model.Name(), p.Rows, p.Cols, s.Rows, s.Cols)
		}
	}
	return nil
}

// Logits returns the unnormalised logits, n×c, of all nodes of a graph with adjacency adj and features x. The predicted
// class is the column of the largest logit. adj is symmetric and without self-loops; a nil adj has no edges. x may be
// of any type. Errors from reading it are returned.
func (m *Trained) Logits(ctx context.Context, adj *mat.CSR, x mat.Matrix) (_ *mat.Dense, err error) {
	defer memory.Recover(&err)
	adj, err = m.accepted(ctx, adj, x)
	if err != nil {
		return nil, err
	}
	return newScope(adj, sparser(x), nil, false).view().infer(ctx, m.Model, m.Parameters)
}

// LogitsWithin returns the unnormalised logits, n×c, of n nodes of g in ascending order. It reads no labels. bound
// limits the memory of the process in bytes, as in TargetWithin; 0 means no limit. If it is too small, the error is a
// *MemoryError.
func (m *Trained) LogitsWithin(
	ctx context.Context, g *graph.Graph, nodes []int32, bound int64,
) (_ *mat.Dense, err error) {
	if err := m.accepts(g.X); err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return mat.NewDense(0, m.Classes), nil
	}
	for i, v := range nodes {
		if v < 0 || int(v) >= g.Nodes() || i > 0 && v <= nodes[i-1] {
			return nil, fmt.Errorf("node %d at position %d of the nodes, must ascend from 0 to %d without repeats", v, i,
				g.Nodes()-1)
		}
	}
	view := *g // a target tests nodes that have labels
	view.Y, view.Classes, view.ClassNames = make([]int32, g.Nodes()), m.Classes, nil
	view.Split = graph.Split{Val: []int32{}, Test: nodes}
	t, err := targetWithin(ctx, &view, false, bound)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	defer memory.Recover(&err)
	if _, err := t.Plan(m.Model, m.Hidden); err != nil {
		return nil, err
	}
	return t.test.view().infer(ctx, m.Model, m.Parameters)
}

// accepts returns an error if x does not have as many features as in training, or if parameters do not fit the model.
func (m *Trained) accepts(x mat.Matrix) error {
	if n, d := x.Dims(); d != m.Features {
		return fmt.Errorf("features are %d×%d, must be the %d features of training", n, d, m.Features)
	}
	return m.validate()
}

// accepted checks the graph and returns adj, or an adjacency without edges if adj is nil.
func (m *Trained) accepted(ctx context.Context, adj *mat.CSR, x mat.Matrix) (*mat.CSR, error) {
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	if err := check(ctx, adj, x, false); err != nil {
		return nil, err
	}
	if n, _ := x.Dims(); adj == nil {
		adj = &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
	}
	return adj, nil
}

// Accuracy returns the percentage of rows whose largest logit belongs to their label. If several logits are equally
// large, the first one counts.
func Accuracy(logits *mat.Dense, labels []int32) float64 {
	if len(labels) != logits.Rows {
		panic(fmt.Sprintf("gnn: %d labels for %d rows", len(labels), logits.Rows))
	}
	right := 0
	for i, y := range labels {
		if kernel.ArgMax(logits.Row(i)) == int(y) {
			right++
		}
	}
	return 100 * float64(right) / float64(len(labels))
}

// predict sets dst to the column of the largest logit of each row.
func predict(dst []int32, logits *mat.Dense) {
	for i := range dst {
		dst[i] = int32(kernel.ArgMax(logits.Row(i)))
	}
}

// CrossEntropy returns the mean of log Σ_c exp(s·z_c) − s·z_y over the rows z of logits, in nats. y is the label of the
// row, in [0, c), and s scales the logits. Sums are float64, so that small differences are resolved. The training loss,
// autodiff.Tape.CrossEntropy, is float32.
func CrossEntropy(logits *mat.Dense, labels []int32, scale float64) float64 {
	if len(labels) != logits.Rows {
		panic(fmt.Sprintf("gnn: %d labels for %d rows", len(labels), logits.Rows))
	}
	var sum float64
	for i, y := range labels {
		row := logits.Row(i)
		largest := slices.Max(row)
		sum += math.Log(kernel.ExpSum(row, largest, scale)) + scale*float64(largest-row[y])
	}
	return sum / float64(len(labels))
}

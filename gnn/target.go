package gnn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Target is the graph on which trained models are judged: the original one, prepared once for any number of trainings.
// It is safe for concurrent use. It keeps what does not depend on weights, such as ÂX at the nodes that validation
// needs.
type Target struct {
	name             string
	nodes, features  int
	classes          int
	sample           func() *Sample
	validation, test *scope
	labels           []int32 // of the validation nodes
	testLabels       func() []int32
	streams          *streams // nil unless the graph is larger than a bound on memory
}

// NewTarget prepares g. In the transductive setting models see the whole graph, and are asked for the nodes of a split.
// In the inductive one, they see the subgraph that the nodes of the split induce. g must not change afterwards.
// NewTarget refuses a graph that is not valid (graph.Graph.Check) and one without validation nodes. Without test nodes,
// Result.Test is 0.
func NewTarget(g *graph.Graph, inductive bool) (*Target, error) {
	return TargetWithin(context.Background(), g, inductive, 0)
}

// TargetWithin is NewTarget within a bound on the memory of the process, in bytes; 0 sets none.
//
// A graph that is mapped from a file (graph.Graph.Mapped) and is larger than the bound is read in order, not held.
// Only the nodes within the model's hops of the validation or test nodes count. What a model propagates of the features
// is computed once for all questions, some columns at a time. It is kept in a temporary file ($TMPDIR, else /var/tmp).
// The logits are, bit for bit, those of dense features without a bound. Sparse features are not read in order.
//
// Plan says what a model takes, and Close gives the files back. Questions come one at a time. A model that asks after
// another prepares anew: train one model after the other, and one training at a time.
func TargetWithin(ctx context.Context, g *graph.Graph, inductive bool, bound int64) (_ *Target, err error) {
	defer memory.Recover(&err)
	if err := g.CheckContext(ctx); err != nil {
		return nil, fmt.Errorf("gnn: target: %w", err)
	}
	input := mappedBytes(g)
	beyond := bound > 0 && input > bound
	if x, dense := g.X.(*mat.Dense); beyond && dense {
		inOrder, err := mat.FloatPanels(x.Rows, x.Cols, x.Cols, [][]float32{x.Data})
		if err != nil {
			return nil, fmt.Errorf("gnn: target: %w", err)
		}
		view := *g // parts of it are then read, and not copied
		view.X, g = inOrder, &view
	}
	s := g.Split
	if len(s.Val) == 0 {
		return nil, fmt.Errorf("gnn: graph %s has no validation nodes (0), want at least 1", g.Name)
	}
	t := &Target{
		name: g.Name, nodes: g.Nodes(), features: g.Features(), classes: g.Classes,
		labels: g.Labels(s.Val), testLabels: func() []int32 { return g.Labels(s.Test) },
	}
	if inductive {
		val, test := g.Induced(s.Val), g.Induced(s.Test)
		t.sample = sync.OnceValue(func() *Sample {
			train := g.TrainingGraph()
			return &Sample{Adj: train.Adj, X: train.X, Y: train.Y, Classes: g.Classes}
		})
		t.validation, t.test = newScope(val.Adj, val.X, nil, true), newScope(test.Adj, test.X, nil, false)
	} else {
		t.sample = sync.OnceValue(func() *Sample {
			return &Sample{Adj: g.Adj, X: g.X, Y: g.Y, Classes: g.Classes, Rows: s.Train}
		})
		t.validation, t.test = newScope(g.Adj, g.X, s.Val, true), newScope(g.Adj, g.X, s.Test, false)
	}
	t.within(bound, input, beyond)
	return t, nil
}

// within keeps questions within a bound on memory; 0 sets none. input is the size of a mapped graph, and beyond says
// that it is larger than the bound.
func (t *Target) within(memory, input int64, beyond bool) {
	if memory == 0 {
		return
	}
	_, sparse := t.validation.x.(*mat.CSR)
	if beyond && !sparse {
		t.streams = &streams{
			bound: memory, process: process, input: input, features: t.features, classes: t.classes,
		}
		t.streams.validation = &stream{target: t.streams, of: t.validation, name: "validation"}
		t.streams.test = &stream{target: t.streams, of: t.test, name: "test"}
		t.validation.stream, t.test.stream = t.streams.validation, t.streams.test
		return
	}
	for _, s := range []*scope{t.validation, t.test} {
		s.room = min(s.room, int(memory/16))
		s.units = min(s.units, int(memory/64)) // four matrices of them, at most
	}
}

// mappedBytes returns the bytes of a graph that is mapped from a file, 0 for another.
func mappedBytes(g *graph.Graph) int64 {
	if !g.Mapped {
		return 0
	}
	bytes := 8*int64(len(g.Adj.Indptr)) + 4*int64(len(g.Adj.Indices)+len(g.Adj.Data))
	if x, sparse := g.X.(*mat.CSR); sparse {
		return bytes + 8*int64(len(x.Indptr)) + 4*int64(len(x.Indices)+len(x.Data))
	}
	return bytes + bytesOf(g.X)
}

// Streams reports whether the graph is larger than the bound on memory, and is read in order.
func (t *Target) Streams() bool { return t.streams != nil }

// Close gives back the temporary files of a target within a bound on memory. No training may be under way. Later
// questions make new files.
func (t *Target) Close() {
	if t.streams == nil {
		return
	}
	t.streams.asking.Lock()
	defer t.streams.asking.Unlock()
	t.streams.validation.release()
	t.streams.test.release()
}

// Sample returns the training part of the graph itself: the sample for training without condensation.
func (t *Target) Sample() *Sample { return t.sample() }

// accept returns an error if models trained on s cannot be asked about t.
func (t *Target) accept(s *Sample) error {
	if err := s.validate(); err != nil {
		return err
	}
	if _, d := s.X.Dims(); d != t.features {
		return fmt.Errorf("gnn: sample has %d features, graph %s has %d", d, t.name, t.features)
	}
	if s.Classes != t.classes {
		return fmt.Errorf("gnn: sample has %d classes, graph %s has %d", s.Classes, t.name, t.classes)
	}
	return nil
}

// Trained is a model with its weights.
type Trained struct {
	// Model says what the weights mean.
	Model Model
	// Features, Hidden and Classes are the sizes that Model.Shapes takes.
	Features, Hidden, Classes int
	// Parameters are the weights and biases, in the order of Model.Shapes.
	Parameters []*mat.Dense
}

// validate returns an error if the parameters are not those of the model.
func (m *Trained) validate() error {
	shapes := m.Model.Shapes(m.Features, m.Hidden, m.Classes)
	if len(shapes) != len(m.Parameters) {
		return fmt.Errorf("gnn: %d parameters for model %s, want %d", len(m.Parameters), m.Model.Name(), len(shapes))
	}
	for i, s := range shapes {
		if p := m.Parameters[i]; p.Rows != s.Rows || p.Cols != s.Cols {
			return fmt.Errorf("gnn: parameter %d of model %s is %d×%d, want %d×%d",
				i, m.Model.Name(), p.Rows, p.Cols, s.Rows, s.Cols)
		}
	}
	return nil
}

// Logits returns the logits of each node of a graph with adjacency adj and features x: n×c, not normalised. The
// predicted class is the column of the largest logit. adj is symmetric and without self-loops; a nil adj has no edges.
// x may be of any type. Errors of reading it are passed on.
func (m *Trained) Logits(ctx context.Context, adj *mat.CSR, x mat.Matrix) (_ *mat.Dense, err error) {
	defer memory.Recover(&err)
	n, d := x.Dims()
	if d != m.Features {
		return nil, fmt.Errorf("gnn: features are %d×%d, want the %d features of training", n, d, m.Features)
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	if err := check(ctx, adj, x); err != nil {
		return nil, err
	}
	if adj == nil {
		adj = &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
	}
	return newScope(adj, x, nil, false).view().infer(ctx, m.Model, m.Parameters)
}

// Accuracy returns the share of rows, in percent, whose largest logit is that of their label. Of equal logits the first
// counts as the largest.
func Accuracy(logits *mat.Dense, labels []int32) float64 {
	if len(labels) != logits.Rows {
		panic(fmt.Sprintf("gnn: %d labels for %d rows", len(labels), logits.Rows))
	}
	right := 0
	for i, y := range labels {
		if largest(logits.Row(i)) == int(y) {
			right++
		}
	}
	return 100 * float64(right) / float64(len(labels))
}

// predictions returns the column of the largest logit of each row.
func predictions(logits *mat.Dense) []int32 {
	classes := make([]int32, logits.Rows)
	for i := range classes {
		classes[i] = int32(largest(logits.Row(i)))
	}
	return classes
}

// largest returns the place of the largest number, the first of equal ones.
func largest(row []float32) (best int) {
	for c, z := range row {
		if z > row[best] {
			best = c
		}
	}
	return best
}

// CrossEntropy returns the mean of log Σ_c exp(s·z_c) − s·z_y over the rows z of logits, in nats. y is the label of the
// row, in [0, c), and s scales the logits. Sums are float64, so that it can decide between near ties. The loss of
// training is float32: autodiff.Tape.CrossEntropy.
func CrossEntropy(logits *mat.Dense, labels []int32, scale float64) float64 {
	if len(labels) != logits.Rows {
		panic(fmt.Sprintf("gnn: %d labels for %d rows", len(labels), logits.Rows))
	}
	var sum float64
	for i, y := range labels {
		row := logits.Row(i)
		largest := slices.Max(row)
		var exponentials float64
		for _, z := range row {
			exponentials += math.Exp(scale * float64(z-largest))
		}
		sum += math.Log(exponentials) + scale*float64(largest-row[y])
	}
	return sum / float64(len(labels))
}

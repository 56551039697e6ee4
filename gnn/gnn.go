// Package gnn trains graph neural networks on small graphs and tests them on large ones: two layers, 256 hidden units, as in §4.1
// of the paper.
//
// A Target is the original graph, prepared once. Train trains a Model on a Sample, most often a condensed graph, chooses the epoch by
// the accuracy on the target's validation nodes, and only then reads the labels of its test nodes, once.
//
// Everything is full batch. Training keeps a few matrices of nodes × hidden for the sample. The target is passed layer by layer and
// in blocks of rows: what is kept for each of its nodes is features, and logits for each filter, never hidden units.
//
// Left out: sampling of neighbours, deeper models, models with more than one graph, and edge features.
package gnn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
)

// Model is a kind of GNN; its weights are kept apart, in a Trained. The models of this package are those of All.
type Model interface {
	// Name is what Parse takes: gcn, sgc, …
	Name() string

	// shapes lists the parameters, in the order in which the other methods get them.
	shapes(features, hidden, classes int) []shape
	// prepare does what is done once for all epochs on a sample.
	prepare(ctx context.Context, s *Sample, config Config) (pass, error)
	// logits returns what the model finds for the rows of v, in their order. The result is memory of w.
	logits(ctx context.Context, v *view, w *workspace, parameters []*mat.Dense) (*mat.Dense, error)
}

// pass is the forward pass of training: it returns the logits of all nodes of the sample, with dropout drawn from src.
type pass func(t *autodiff.Tape, parameters []*autodiff.Var, src rand.Source) *autodiff.Var

// shape is the shape of a parameter. A bias is one row and starts at zero.
type shape struct {
	rows, cols int
	bias       bool
}

// All returns the models, in the order of the paper's table 5.
func All() []Model { return []Model{SGC(), GCN(), SAGE(), APPNP(), Cheby(), GAT()} }

// Parse returns the model of the given name, in any case of letters.
func Parse(name string) (Model, error) {
	var names []string
	for _, m := range All() {
		if strings.EqualFold(m.Name(), name) {
			return m, nil
		}
		names = append(names, m.Name())
	}
	return nil, fmt.Errorf("gnn: no model %q, want one of %s", name, strings.Join(names, ", "))
}

// Sample is what a model is trained on.
type Sample struct {
	// Adj is A′: symmetric and without self-loops, which normalisation adds. nil means no edges: A′ = I.
	Adj *mat.CSR
	// X is X′, dense or sparse.
	X mat.Matrix
	// Y is the class of each node in [0, Classes). Labels of nodes that are not in Rows are not read.
	Y []int32
	// Classes is the number of classes c, of the target too.
	Classes int
	// Rows lists the nodes whose labels are learnt. nil means all.
	Rows []int32
	// Weights says how much each of these nodes counts in the loss if Config.Weighted is set, in their order: at least 0, and not all 0. nil means alike.
	Weights []float32
	// Soft holds a distribution over the classes for each of these nodes, in their order, one row of Classes numbers each, which is learnt in place of the label: at least 0, with the sum 1.
	// nil means that labels are learnt.
	Soft *mat.Dense
}

func (s *Sample) validate() error {
	n, d := s.X.Dims()
	switch {
	case n == 0 || d == 0:
		return fmt.Errorf("gnn: sample of %d nodes with %d features, want at least 1 of each", n, d)
	case len(s.Y) != n:
		return fmt.Errorf("gnn: %d labels for %d nodes of the sample", len(s.Y), n)
	case s.Adj != nil && (s.Adj.Rows != n || s.Adj.Cols != n):
		return fmt.Errorf("gnn: adjacency %d×%d for %d nodes of the sample", s.Adj.Rows, s.Adj.Cols, n)
	case s.Rows != nil && len(s.Rows) == 0:
		return fmt.Errorf("gnn: no node of the sample to learn from (0 rows), want at least 1")
	}
	check := func(i int32) error {
		if i < 0 || int(i) >= n {
			return fmt.Errorf("gnn: row %d of the sample, want 0 to %d", i, n-1)
		}
		if y := s.Y[i]; y < 0 || int(y) >= s.Classes {
			return fmt.Errorf("gnn: label %d of node %d of the sample, want 0 to %d", y, i, s.Classes-1)
		}
		return nil
	}
	for _, i := range s.Rows {
		if err := check(i); err != nil {
			return err
		}
	}
	if s.Rows == nil {
		for i := range n {
			if err := check(int32(i)); err != nil {
				return err
			}
		}
	}
	if err := s.validateSoft(); err != nil {
		return err
	}
	return s.validateWeights()
}

func (s *Sample) validateSoft() error {
	if s.Soft == nil {
		return nil
	}
	if n := len(s.labels()); s.Soft.Rows != n || s.Soft.Cols != s.Classes {
		return fmt.Errorf("gnn: soft labels are %d×%d, want %d nodes to learn from × %d classes", s.Soft.Rows, s.Soft.Cols, n, s.Classes)
	}
	const rounding = 1e-3
	for i := range s.Soft.Rows {
		var sum float64
		for c, p := range s.Soft.Row(i) {
			if !(p >= 0) || math.IsInf(float64(p), 1) {
				return fmt.Errorf("gnn: soft label %d of class %d is %v, want a finite number of at least 0", i, c, p)
			}
			sum += float64(p)
		}
		if math.Abs(sum-1) > rounding {
			return fmt.Errorf("gnn: soft label %d has the sum %v, want 1", i, sum)
		}
	}
	return nil
}

func (s *Sample) validateWeights() error {
	if s.Weights == nil {
		return nil
	}
	if want := len(s.labels()); len(s.Weights) != want {
		return fmt.Errorf("gnn: %d weights for %d nodes to learn from", len(s.Weights), want)
	}
	var sum float64
	for i, w := range s.Weights {
		if !(w >= 0) || math.IsInf(float64(w), 1) {
			return fmt.Errorf("gnn: weight %d is %v, want a finite number of at least 0", i, w)
		}
		sum += float64(w)
	}
	if sum == 0 {
		return fmt.Errorf("gnn: all %d weights are 0, want one above", len(s.Weights))
	}
	return nil
}

// targets returns the distributions that are learnt, one-hot for labels, each row times its weight over the mean weight if weighted.
func (s *Sample) targets(weighted bool) *mat.Dense {
	var y *mat.Dense
	if s.Soft != nil {
		y = s.Soft.Clone() // scaled below
	} else {
		y = autodiff.OneHot(s.labels(), s.Classes)
	}
	if !weighted || s.Weights == nil {
		return y
	}
	var sum float64
	for _, w := range s.Weights {
		sum += float64(w)
	}
	for i, w := range s.Weights {
		row := y.Row(i)
		kernel.Scale(row, float32(float64(w)*float64(len(s.Weights))/sum), row)
	}
	return y
}

// labels returns the labels that are learnt, in the order of Rows.
func (s *Sample) labels() []int32 {
	if s.Rows == nil {
		return s.Y
	}
	y := make([]int32, len(s.Rows))
	for r, i := range s.Rows {
		y[r] = s.Y[i]
	}
	return y
}

// initial returns parameters as training starts with them: weights by Glorot and Bengio (2010), uniform in ±√(6/(rows+cols)); biases zero.
func initial(shapes []shape, src rand.Source) []*mat.Dense {
	random := rand.New(src)
	parameters := make([]*mat.Dense, len(shapes))
	for i, s := range shapes {
		p := mat.NewDense(s.rows, s.cols)
		if !s.bias {
			limit := math.Sqrt(6 / float64(s.rows+s.cols))
			for j := range p.Data {
				p.Data[j] = float32(limit * (2*random.Float64() - 1))
			}
		}
		parameters[i] = p
	}
	return parameters
}

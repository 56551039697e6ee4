package gnn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Target is the graph on which trained models are judged: the original one, prepared once for any number of trainings. It is safe for
// concurrent use, and keeps what does not depend on weights, such as ÂX at the nodes that validation needs.
type Target struct {
	name             string
	nodes, features  int
	classes          int
	sample           *Sample
	validation, test *view
	labels           []int32 // of the validation nodes
	testLabels       func() []int32
}

// NewTarget prepares g. In the transductive setting models see the whole graph and are asked for the nodes of a split; in the inductive
// one, they see the subgraph induced by the nodes of the split. g must not change afterwards.
func NewTarget(g *graph.Graph, inductive bool) (*Target, error) {
	s := g.Split
	switch {
	case len(s.Val) == 0:
		return nil, fmt.Errorf("gnn: graph %s has no validation nodes (0), want at least 1", g.Name)
	case len(s.Test) == 0:
		return nil, fmt.Errorf("gnn: graph %s has no test nodes (0), want at least 1", g.Name)
	}
	t := &Target{
		name: g.Name, nodes: g.Nodes(), features: g.Features(), classes: g.Classes,
		labels: g.Labels(s.Val), testLabels: func() []int32 { return g.Labels(s.Test) },
	}
	if inductive {
		train, val, test := g.TrainingGraph(), g.Induced(s.Val), g.Induced(s.Test)
		t.sample = &Sample{Adj: train.Adj, X: train.X, Y: train.Y, Classes: g.Classes}
		t.validation, t.test = newView(val.Adj, val.X, nil, true), newView(test.Adj, test.X, nil, false)
		return t, nil
	}
	t.sample = &Sample{Adj: g.Adj, X: g.X, Y: g.Y, Classes: g.Classes, Rows: s.Train}
	t.validation, t.test = newView(g.Adj, g.X, s.Val, true), newView(g.Adj, g.X, s.Test, false)
	return t, nil
}

// Sample returns the training part of the graph itself: what a model is trained on that is not to be condensed.
func (t *Target) Sample() *Sample { return t.sample }

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
	// Parameters are the weights and biases, layer by layer, in the order in which the model's formula has them.
	Parameters []*mat.Dense
}

// Logits returns what the model finds for each node of a graph with adjacency adj and features x: n×c, not normalised. The class
// found is the column of the largest value.
func (m *Trained) Logits(ctx context.Context, adj *mat.CSR, x mat.Matrix) (*mat.Dense, error) {
	if n, d := x.Dims(); n != adj.Rows || d != m.Parameters[0].Rows {
		return nil, fmt.Errorf("gnn: features are %d×%d, want %d nodes × the %d features of training", n, d, adj.Rows, m.Parameters[0].Rows)
	}
	return m.Model.logits(ctx, newView(adj, x, nil, false), &workspace{}, m.Parameters)
}

// Accuracy returns the share of rows, in percent, whose largest logit is that of their label; of equal ones the first counts.
func Accuracy(logits *mat.Dense, labels []int32) float64 {
	if len(labels) != logits.Rows {
		panic(fmt.Sprintf("gnn: %d labels for %d rows", len(labels), logits.Rows))
	}
	right := 0
	for i, y := range labels {
		row := logits.Row(i)
		best := 0
		for c, z := range row {
			if z > row[best] {
				best = c
			}
		}
		if best == int(y) {
			right++
		}
	}
	return 100 * float64(right) / float64(len(labels))
}

// crossEntropy returns the mean of log Σ_c exp(z_c) − z_y over the rows z of logits, in nats.
func crossEntropy(logits *mat.Dense, labels []int32) float64 {
	var sum float64
	for i, y := range labels {
		row := logits.Row(i)
		largest := slices.Max(row)
		var exponentials float64
		for _, z := range row {
			exponentials += math.Exp(float64(z - largest))
		}
		sum += math.Log(exponentials) + float64(largest-row[y])
	}
	return sum / float64(len(labels))
}

package learn

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Weights are the parameters of a network with one hidden layer: W₁ (d×h), b₁ (1×h), W₂ (h×c) and b₂ (1×c).
type Weights struct{ W1, B1, W2, B2 *mat.Dense }

// NewWeights returns weights of 0.
func NewWeights(features, hidden, classes int) Weights {
	return Weights{
		mat.NewDense(features, hidden), mat.NewDense(1, hidden), mat.NewDense(hidden, classes), mat.NewDense(1, classes),
	}
}

// All returns the parameters in order.
func (w Weights) All() []*mat.Dense { return []*mat.Dense{w.W1, w.B1, w.W2, w.B2} }

// Clone returns a copy of w.
func (w Weights) Clone() Weights {
	return Weights{w.W1.Clone(), w.B1.Clone(), w.W2.Clone(), w.B2.Clone()}
}

// Draw draws the weights and biases of both layers, and returns w.
func (w Weights) Draw(src rand.Source) Weights {
	DrawLayer(w.W1, w.B1, src)
	DrawLayer(w.W2, w.B2, src)
	return w
}

// Logits returns σ(xW₁ + b₁)·W₂ + b₂ with ReLU as σ, for weights that Put has put on the tape.
func Logits(x *autodiff.Var, theta []*autodiff.Var) *autodiff.Var {
	t := x.Tape()
	hidden := t.ReLU(t.AddRow(t.MatMul(x, theta[0]), theta[1]))
	return t.AddRow(t.MatMul(hidden, theta[2]), theta[3])
}

// TwoLayers holds what a network with two layers learns from: the logits of some nodes are P·σ(S·W₁ + b₁)·W₂ + b₂.
type TwoLayers struct {
	ReLU bool       // whether σ is ReLU; else it is the identity
	S    *Sparse    // rows of the first layer
	P    *Sparse    // P, from the rows of S to the nodes; nil for I
	Y    *mat.Dense // one-hot labels of the nodes
}

// Convolution returns the data of a GCN at the given nodes. S is ÂX at the nodes and their neighbours, and P holds the
// rows of Â at the nodes, in the given order.
func (s *Start) Convolution(ctx context.Context, nodes []int32) (*TwoLayers, error) {
	near, place := Near(s.Graph.Adj, nodes)
	h, err := s.Embeddings(ctx, 1, near)
	if err != nil {
		return nil, err
	}
	return &TwoLayers{
		ReLU: true, S: &Sparse{Matrix: h[1].Sparse()},
		P: &Sparse{Matrix: Between(graph.Symmetric(s.Graph.Adj), nodes, place)},
		Y: autodiff.OneHot(s.Graph.Labels(nodes), len(s.Budget)),
	}, nil
}

// Linear returns the data of a network without ReLU at the given nodes: S = ÂᴷX and P = I.
func (s *Start) Linear(ctx context.Context, nodes []int32, hops int) (*TwoLayers, error) {
	h, err := s.Embeddings(ctx, hops, nodes)
	if err != nil {
		return nil, err
	}
	return &TwoLayers{
		S: &Sparse{Matrix: h[hops].Sparse()}, Y: autodiff.OneHot(s.Graph.Labels(nodes), len(s.Budget)),
	}, nil
}

// Forward puts the weights on a tape. It returns them, S·W₁ + b₁, and the logits.
func (l *TwoLayers) Forward(t *autodiff.Tape, w Weights) (theta []*autodiff.Var, u, logits *autodiff.Var) {
	theta = Put(t, w.All())
	u = t.AddRow(t.Linear(l.S, theta[0]), theta[1])
	hidden := u
	if l.ReLU {
		hidden = t.ReLU(u)
	}
	if l.P != nil {
		hidden = t.Linear(l.P, hidden)
	}
	return theta, u, t.AddRow(t.MatMul(hidden, theta[2]), theta[3])
}

package learn

import (
	"context"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// TwoLayers holds what a network with two layers learns from: the logits of some nodes are P·σ(S·W₁ + b₁)·W₂ + b₂.
type TwoLayers struct {
	ReLU bool       // whether σ is ReLU; else it is the identity
	S    *Sparse    // rows of the first layer
	P    *Sparse    // P, from the rows of S to the nodes; nil for I
	Y    *mat.Dense // one-hot labels of the nodes
}

// Convolution returns the data of a GCN at the given nodes. S is ÂX at the nodes and their neighbours, and P is Â from
// these to the nodes, in the given order.
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

// Forward puts the parameters W₁, b₁, W₂ and b₂ on a tape. It returns them, S·W₁ + b₁, and the logits.
func (l *TwoLayers) Forward(t *autodiff.Tape, parameters []*mat.Dense) (
	theta []*autodiff.Var, u, logits *autodiff.Var,
) {
	theta = Put(t, parameters)
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

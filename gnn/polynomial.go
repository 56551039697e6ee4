package gnn

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// polynomial is a model whose layers are
//
//	σ( Σ_k P_k·X·W_k + 1·b ),
//
// with fixed filters P_k, dropout on X, and σ the ReLU, in the last layer the identity. All models of the paper but GAT are of this kind and
// differ only in their filters. X is n×d, W_k d×hidden or hidden×c. With one layer the model is linear.
type polynomial struct {
	name   string
	layers [][]filter // one or two
}

// GCN returns the model of Kipf and Welling, Semi-supervised classification with graph convolutional networks (ICLR 2017):
//
//	Z = Â·ReLU(Â·X·W₁ + b₁)·W₂ + b₂,  W₁ d×hidden, W₂ hidden×c.
func GCN() Model {
	a := []filter{{c: []float32{0, 1}}}
	return &polynomial{"gcn", [][]filter{a, a}}
}

// SGC returns the model of Wu et al., Simplifying graph convolutional networks (ICML 2019): the linear
//
//	Z = Â²·X·W + b,  W d×c.
func SGC() Model {
	return &polynomial{"sgc", [][]filter{{{c: []float32{0, 0, 1}}}}}
}

// SAGE returns the model of Hamilton et al., Inductive representation learning on large graphs (NIPS 2017), with mean aggregation:
//
//	H = ReLU(X·U₁ + M·X·W₁ + b₁),  Z = H·U₂ + M·H·W₂ + b₂,  U₁, W₁ d×hidden, U₂, W₂ hidden×c,
//
// where M averages over the neighbours and the node itself. The node is in the mean so that a condensed graph without
// edges trains W too; without it the mean there would be zero, and W would meet the original graph untrained.
func SAGE() Model {
	f := []filter{{c: []float32{1}}, {mean: true, c: []float32{0, 1}}}
	return &polynomial{"sage", [][]filter{f, f}}
}

// APPNP returns the model of Gasteiger et al., Predict then propagate (ICLR 2019), with their K = 10 and α = 0.1:
//
//	P = ReLU(X·W₁ + b₁)·W₂;  Z⁰ = P, Zᵗ⁺¹ = (1−α)·Â·Zᵗ + α·P, Z = Z¹⁰ + b₂,  W₁ d×hidden, W₂ hidden×c.
//
// There is no dropout on edges.
func APPNP() Model {
	const hops, alpha = 10, 0.1
	c := make([]float32, hops+1)
	power := 1.0
	for j := range hops {
		c[j] = float32(alpha * power)
		power *= 1 - alpha
	}
	c[hops] = float32(power)
	return &polynomial{"appnp", [][]filter{{{c: []float32{1}}}, {{c: c}}}}
}

// Cheby returns the model of Defferrard et al., Convolutional neural networks on graphs with fast localized spectral filtering (NIPS
// 2016), of order 2:
//
//	H = ReLU(Σ_k T_k(L)·X·W_k + b₁),  Z = Σ_k T_k(L)·H·V_k + b₂,  k = 0, 1, 2,  W_k d×hidden, V_k hidden×c,
//
// with T_0 = I, T_1 = L, T_2 = 2L²−I. The scaled Laplacian is that of the graph with self-loops, whose largest eigenvalue is taken as
// 2: L = (I−Â) − I = −Â. With self-loops a condensed graph without edges trains each of the W_k; without them L would be
// zero there, and W_1 would meet the original graph untrained.
func Cheby() Model {
	f := []filter{{c: []float32{1}}, {c: []float32{0, -1}}, {c: []float32{-1, 0, 2}}}
	return &polynomial{"cheby", [][]filter{f, f}}
}

// Name returns the model's name.
func (m *polynomial) Name() string { return m.name }

// shapes lists for each layer the W_k, then the bias.
func (m *polynomial) shapes(features, hidden, classes int) (shapes []shape) {
	in, out := features, hidden
	for l, filters := range m.layers {
		if l == len(m.layers)-1 {
			out = classes
		}
		for range filters {
			shapes = append(shapes, shape{rows: in, cols: out})
		}
		shapes = append(shapes, shape{rows: 1, cols: out, bias: true})
		in = out
	}
	return shapes
}

// prepare chooses how the first layer is computed. Dropout comes before the propagation, so with it X cannot be propagated beforehand;
// propagating X·W then is cheaper than propagating X unless d < hidden, and keeps sparse X sparse. Without dropout P_k·X is
// computed once.
func (m *polynomial) prepare(ctx context.Context, s *Sample, config Config) (pass, error) {
	operators := map[bool]*propagation{}
	if s.Adj != nil && s.Adj.NNZ() > 0 {
		for _, filters := range m.layers {
			for _, f := range filters {
				if f.degree() > 0 && operators[f.mean] == nil {
					operators[f.mean] = newPropagation(ctx, f.operator(s.Adj))
				}
			}
		}
	}
	var first func(t *autodiff.Tape, weights []*autodiff.Var, src rand.Source) *autodiff.Var
	switch x := s.X.(type) {
	case *mat.CSR:
		features := newFeatures(x)
		first = func(t *autodiff.Tape, weights []*autodiff.Var, src rand.Source) *autodiff.Var {
			features.drop(config.InputDropout, src)
			return layer(t, m.layers[0], weights, func(k int) *autodiff.Var {
				return m.layers[0][k].onTape(t, operators[m.layers[0][k].mean], t.Linear(features, weights[k]))
			})
		}
	case *mat.Dense:
		propagated := make([]*mat.Dense, len(m.layers[0]))
		if config.InputDropout == 0 {
			constant := autodiff.NewTape()
			for k, f := range m.layers[0] {
				propagated[k] = f.onTape(constant, operators[f.mean], constant.Var(x)).Value
			}
		}
		first = func(t *autodiff.Tape, weights []*autodiff.Var, src rand.Source) *autodiff.Var {
			var dropped *autodiff.Var
			if config.InputDropout > 0 {
				dropped = t.Dropout(t.Var(x), config.InputDropout, src)
			}
			return layer(t, m.layers[0], weights, func(k int) *autodiff.Var {
				if config.InputDropout == 0 {
					return t.MatMul(t.Var(propagated[k]), weights[k])
				}
				return m.layers[0][k].onTape(t, operators[m.layers[0][k].mean], t.MatMul(dropped, weights[k]))
			})
		}
	}
	return func(t *autodiff.Tape, parameters []*autodiff.Var, src rand.Source) *autodiff.Var {
		z := first(t, parameters, src)
		parameters = parameters[len(m.layers[0])+1:]
		for _, filters := range m.layers[1:] {
			h := t.Dropout(t.ReLU(z), config.Dropout, src)
			z = layer(t, filters, parameters, func(k int) *autodiff.Var {
				return filters[k].onTape(t, operators[filters[k].mean], t.MatMul(h, parameters[k]))
			})
			parameters = parameters[len(filters)+1:]
		}
		return z
	}, ctx.Err()
}

// layer returns the sum of the terms and the bias, which follows the weights.
func layer(t *autodiff.Tape, filters []filter, parameters []*autodiff.Var, term func(k int) *autodiff.Var) *autodiff.Var {
	z := term(0)
	for k := 1; k < len(filters); k++ {
		z = t.Add(z, term(k))
	}
	return t.AddRow(z, parameters[len(filters)])
}

package gnn

import (
	"slices"

	"github.com/graph-condensation/cgc/gnn/autodiff"
)

// polynomial is a model whose layers are
//
//	σ( Σ_k P_k·X·W_k + 1·b ),
//
// with fixed filters P_k and dropout on X. σ is the ReLU, or the identity in the last layer. All models of the paper
// except GAT are of this kind and differ only in their filters. X is n×d, and W_k is d×hidden or hidden×c. With one
// layer the model is linear.
type polynomial struct {
	name   string
	layers [][]filter
}

// repeated returns the given number of equal layers.
func repeated(number float64, filters ...filter) [][]filter {
	return slices.Repeat([][]filter{filters}, int(number))
}

// power returns the filter Pᵏ.
func power(rule rule, k int) filter {
	c := make([]float32, k+1)
	c[k] = 1
	return filter{rule: rule, c: c}
}

// GCN returns the model of Kipf and Welling, Semi-supervised classification with graph convolutional networks (ICLR
// 2017):
//
//	Z = Â·ReLU(Â·X·W₁ + b₁)·W₂ + b₂,  W₁ d×hidden, W₂ hidden×c.
func GCN() Model { return gcn.standard() }

var gcn = family{"gcn", []setting{layers}, func(name string, v []float64) Model {
	return &polynomial{name, repeated(v[0], power(symmetric, 1))}
}}

// SGC returns the linear model of Wu et al., Simplifying graph convolutional networks (ICML 2019):
//
//	Z = Â²·X·W + b,  W d×c.
func SGC() Model { return sgc.standard() }

var sgc = family{
	"sgc", []setting{{name: "hops", standard: 2, least: 1, most: 20}},
	func(name string, v []float64) Model {
		return &polynomial{name, repeated(1, power(symmetric, int(v[0])))}
	},
}

// SAGE returns the model of Hamilton et al., Inductive representation learning on large graphs (NIPS 2017), with the
// mean as aggregator:
//
//	H = ReLU(X·U₁ + M·X·W₁ + b₁),  Z = H·U₂ + M·H·W₂ + b₂,  U₁, W₁ d×hidden, U₂, W₂ hidden×c,
//
// where M averages over the neighbours and the node itself. Because the mean includes the node, a condensed graph
// without edges trains W too. If it did not, M·X would be zero there, and W would stay untrained.
func SAGE() Model { return sage.standard() }

var sage = family{"sage", []setting{layers}, func(name string, v []float64) Model {
	return &polynomial{name, repeated(v[0], power(symmetric, 0), power(mean, 1))}
}}

// APPNP returns the model of Gasteiger et al., Predict then propagate (ICLR 2019), with their K = 10 and α = 0.1:
//
//	P = ReLU(X·W₁ + b₁)·W₂;  Z⁰ = P, Zᵗ⁺¹ = (1−α)·Â·Zᵗ + α·P, Z = Z¹⁰ + b₂,  W₁ d×hidden, W₂ hidden×c.
//
// There is no dropout on edges.
func APPNP() Model { return appnp.standard() }

var appnp = family{
	"appnp", []setting{
		{name: "hops", standard: 10, least: 1, most: 20}, {name: "alpha", standard: 0.1, most: 1, real: true},
	},
	func(name string, v []float64) Model {
		hops, alpha := int(v[0]), v[1]
		c := make([]float32, hops+1)
		left := 1.0
		for j := range hops {
			c[j] = float32(alpha * left)
			left *= 1 - alpha
		}
		c[hops] = float32(left)
		return &polynomial{name, [][]filter{{{c: []float32{1}}}, {{c: c}}}}
	},
}

// Cheby returns the model of Defferrard et al., Convolutional neural networks on graphs with fast localized spectral
// filtering (NIPS 2016), of order 2:
//
//	H = ReLU(Σ_k T_k(L)·X·W_k + b₁),  Z = Σ_k T_k(L)·H·V_k + b₂,  k = 0, 1, 2,  W_k d×hidden, V_k hidden×c,
//
// with T_0 = I, T_1 = L, T_k = 2L·T_{k−1} − T_{k−2}. L is the scaled Laplacian of the graph with self-loops. If its
// largest eigenvalue is taken as 2, L = (I−Â) − I = −Â. Because of the self-loops, a condensed graph without edges
// trains each W_k. Without self-loops L would be zero there, and W_1 would stay untrained.
func Cheby() Model { return cheby.standard() }

var cheby = family{
	"cheby", []setting{layers, {name: "order", standard: 2, least: 1, most: 5}},
	func(name string, v []float64) Model {
		return &polynomial{name, repeated(v[0], chebyshev(int(v[1]))...)}
	},
}

// chebyshev returns T_0(−P) … T_order(−P) for P = Â.
func chebyshev(order int) []filter {
	list := []filter{{c: []float32{1}}, {c: []float32{0, -1}}}
	for k := 2; k <= order; k++ {
		c := make([]float32, k+1)
		for j, v := range list[k-1].c {
			c[j+1] = -2 * v
		}
		for j, v := range list[k-2].c {
			c[j] -= v
		}
		list = append(list, filter{c: c})
	}
	return list
}

// Name implements Model.
func (m *polynomial) Name() string { return m.name }

// Shapes lists the W_k and then the bias of each layer.
func (m *polynomial) Shapes(features, hidden, classes int) (shapes []Shape) {
	in, out := features, hidden
	for l, filters := range m.layers {
		if l == len(m.layers)-1 {
			out = classes
		}
		for range filters {
			shapes = append(shapes, Shape{Rows: in, Cols: out})
		}
		shapes = append(shapes, Shape{Rows: 1, Cols: out, Bias: true})
		in = out
	}
	return shapes
}

// Forward multiplies by weights before it propagates, except where P_k·X is a constant. It computes the hidden units of
// the first layer only at the nodes that the loss depends on.
func (m *polynomial) Forward(t *autodiff.Tape, in *Input, parameters []*autodiff.Var) *autodiff.Var {
	var hidden, inputs []int32 // the nodes of the first hidden units and of the features that they read; nil means all
	if len(m.layers) > 1 {
		hops := hopsOf(m.layers[1:])
		hidden, inputs = in.within(hops), in.within(hops+degree(m.layers[0]))
	}
	var z, h *autodiff.Var
	for l, filters := range m.layers {
		if l > 0 {
			h = in.Dropout(t.ReLU(z))
		}
		z = nil
		for k, f := range filters {
			var term *autodiff.Var
			if l == 0 {
				term = in.filter(f, parameters[k], hidden, inputs)
			} else {
				term = t.MatMul(h, parameters[k])
				if l == 1 && hidden != nil {
					term = t.SpreadRows(term, hidden, in.nodes)
				}
				term = in.adj.filter(f, term)
			}
			if z == nil {
				z = term
			} else {
				z = t.Add(z, term)
			}
		}
		z = t.AddRow(z, parameters[len(filters)])
		parameters = parameters[len(filters)+1:]
	}
	return z
}

// filter is a polynomial of a propagation, Σ_j c_j·Pʲ with P = Â or the mean M. Horner's rule applies a filter of
// degree m with m propagations. For personalised PageRank, this is the recursion of the APPNP paper.
type filter struct {
	rule rule      // symmetric or mean
	c    []float32 // c_0 … c_degree
}

func (f filter) degree() int { return len(f.c) - 1 }

func (f filter) equal(g filter) bool { return f.rule == g.rule && slices.Equal(f.c, g.c) }

// sum returns the value of the polynomial at 1. Without edges P = I, so the filter is multiplication by this value.
func (f filter) sum() (sum float32) {
	for _, c := range f.c {
		sum += c
	}
	return sum
}

// filter returns f·x. Without edges, P = I.
func (a *adjacency) filter(f filter, x *autodiff.Var) *autodiff.Var {
	t := x.Tape()
	if a.none() {
		return scale(t, f.sum(), x)
	}
	m := f.degree()
	z := x
	for j := m; j >= 0; j-- {
		switch {
		case j == m:
			z = scale(t, f.c[j], z)
		case f.c[j] == 0:
			z = a.apply(f.rule, z)
		default:
			z = t.Add(a.apply(f.rule, z), scale(t, f.c[j], x))
		}
	}
	return z
}

func scale(t *autodiff.Tape, alpha float32, x *autodiff.Var) *autodiff.Var {
	if alpha == 1 {
		return x
	}
	return t.Scale(alpha, x)
}

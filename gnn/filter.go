package gnn

import (
	"slices"

	"github.com/graph-condensation/cgc/gnn/autodiff"
)

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

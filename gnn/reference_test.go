package gnn_test

import (
	"math"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/mat"
)

// table is a float64 matrix.
type table [][]float64

func newTable(rows, cols int) table {
	m := make(table, rows)
	for i := range m {
		m[i] = make([]float64, cols)
	}
	return m
}

func tableOf(x mat.Matrix) table {
	d, ok := x.(*mat.Dense)
	if !ok {
		d = x.(*mat.CSR).Dense()
	}
	m := newTable(d.Rows, d.Cols)
	for i := range m {
		for j, v := range d.Row(i) {
			m[i][j] = float64(v)
		}
	}
	return m
}

// near fails the test unless got equals m. size bounds the terms that rounding errors come from: see the function near.
func (m table) near(t *testing.T, what string, got *mat.Dense, size float64) {
	t.Helper()
	for i, row := range m {
		for j, want := range row {
			if v := got.Row(i)[j]; !near(v, want, size) {
				t.Fatalf("%s (%d, %d) is %v, want %v", what, i, j, v, want)
			}
		}
	}
}

func (m table) times(o table) table {
	r := newTable(len(m), len(o[0]))
	for i := range m {
		for j := range o[0] {
			for k := range o {
				r[i][j] += m[i][k] * o[k][j]
			}
		}
	}
	return r
}

func (m table) each(f func(i, j int, x float64) float64) table {
	r := newTable(len(m), len(m[0]))
	for i := range m {
		for j := range m[i] {
			r[i][j] = f(i, j, m[i][j])
		}
	}
	return r
}

func (m table) plus(o table) table {
	return m.each(func(i, j int, x float64) float64 { return x + o[i%len(o)][j] }) // a single row is added to each row
}

func (m table) scaled(a float64) table {
	return m.each(func(_, _ int, x float64) float64 { return a * x })
}

func (m table) relu() table {
	return m.each(func(_, _ int, x float64) float64 { return max(0, x) })
}

// loops returns A + I; a nil A has no edges.
func loops(a *mat.CSR, n int) table {
	m := newTable(n, n)
	if a != nil {
		m = tableOf(a)
	}
	for i := range m {
		m[i][i]++
	}
	return m
}

// propagations returns Â and M by their formulas.
func propagations(a *mat.CSR, n int) (symmetric, mean table) {
	m := loops(a, n)
	degree := make([]float64, n)
	for i := range m {
		for _, w := range m[i] {
			degree[i] += w
		}
	}
	symmetric = m.each(func(i, j int, w float64) float64 { return w / math.Sqrt(degree[i]*degree[j]) })
	mean = m.each(func(i, _ int, w float64) float64 { return w / degree[i] })
	return symmetric, mean
}

// referenceLogits computes the logits of each model from its formula.
func referenceLogits(m gnn.Model, adj *mat.CSR, x table, p []table) table {
	a, mean := propagations(adj, len(x))
	return logitsBy(m, a, mean, loops(adj, len(x)), x, p)
}

// logitsBy implements referenceLogits, given Â, M and the edges of attention (pattern, with self-loops).
func logitsBy(m gnn.Model, a, mean, pattern, x table, p []table) table {
	name, own := gnn.Structure(m)
	chebyshev := func(x table, w []table) table {
		before, t := x, a.times(x).scaled(-1)
		sum := x.times(w[0]).plus(t.times(w[1]))
		for k := 2; k <= int(own["order"]); k++ {
			before, t = t, a.times(t).scaled(-2).plus(before.scaled(-1))
			sum = sum.plus(t.times(w[k]))
		}
		return sum.plus(w[len(w)-1])
	}
	// stack applies a layer with the given number of parameters as often as the model has layers.
	stack := func(size int, layer func(x table, p []table) table) table {
		for l := range int(own["layers"]) {
			if l > 0 {
				x = x.relu()
			}
			x, p = layer(x, p[:size]), p[size:]
		}
		return x
	}
	switch name {
	case "sgc":
		for range int(own["hops"]) {
			x = a.times(x)
		}
		return x.times(p[0]).plus(p[1])
	case "gcn":
		return stack(2, func(x table, p []table) table { return a.times(x).times(p[0]).plus(p[1]) })
	case "sage":
		return stack(3, func(x table, p []table) table {
			return x.times(p[0]).plus(mean.times(x).times(p[1])).plus(p[2])
		})
	case "appnp":
		h := x.times(p[0]).plus(p[1]).relu().times(p[2])
		z := h
		for range int(own["hops"]) {
			z = a.times(z).scaled(1 - own["alpha"]).plus(h.scaled(own["alpha"]))
		}
		return z.plus(p[3])
	case "cheby":
		return stack(int(own["order"])+2, chebyshev)
	case "gat":
		h := attention(pattern, x.times(p[0]), p[1:4], int(own["heads"])).each(func(_, _ int, x float64) float64 {
			if x < 0 {
				return math.Exp(x) - 1
			}
			return x
		})
		return attention(pattern, h.times(p[4]), p[5:8], 1)
	}
	panic("no reference for " + m.Name())
}

// attention returns the output of a GAT layer. x is the product of the layer's input and weights.
func attention(pattern, x table, p []table, heads int) table {
	out := newTable(len(x), len(x[0]))
	width := len(x[0]) / heads
	for i := range x {
		for k := range heads {
			score := func(i int, a table) (s float64) {
				for j := k * width; j < (k+1)*width; j++ {
					s += x[i][j] * a[j][0]
				}
				return s
			}
			weight, sum := make([]float64, len(x)), 0.
			for j := range x {
				if pattern[i][j] != 0 {
					s := score(i, p[0]) + score(j, p[1])
					weight[j] = math.Exp(max(s, 0.2*s))
					sum += weight[j]
				}
			}
			for j := range x {
				for c := k * width; c < (k+1)*width; c++ {
					out[i][c] += weight[j] / sum * x[j][c]
				}
			}
		}
	}
	return out.plus(p[2])
}

// referenceLoss returns the mean cross entropy at the sample's rows.
func referenceLoss(m gnn.Model, s *gnn.Sample, p []table) (loss float64) {
	z := referenceLogits(m, s.Adj, tableOf(s.X), p)
	for _, i := range s.Rows {
		sum := 0.
		for _, v := range z[i] {
			sum += math.Exp(v)
		}
		loss += (math.Log(sum) - z[i][s.Y[i]]) / float64(len(s.Rows))
	}
	return loss
}

package deepcgc

import (
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// halves is a matrix divided into its columns at even and at odd positions.
type halves [2]*mat.Dense

// split returns the halves of the rows of m.
func split(rows [][]float32) (h halves) {
	d := len(rows[0])
	h = halves{mat.NewDense(len(rows), (d+1)/2), mat.NewDense(len(rows), d/2)}
	for i, row := range rows {
		for j, v := range row {
			h[j%2].Row(i)[j/2] = v
		}
	}
	return h
}

// join is the inverse of split.
func (h halves) join() *mat.Dense {
	m := mat.NewDense(h[0].Rows, h[0].Cols+h[1].Cols)
	for i := range m.Rows {
		for j := range m.Row(i) {
			m.Row(i)[j] = h[j%2].Row(i)[j/2]
		}
	}
	return m
}

// rows returns rows lo to hi−1, which share the memory of h.
func (h halves) rows(lo, hi int) (part halves) {
	for i, m := range h {
		part[i] = &mat.Dense{Rows: hi - lo, Cols: m.Cols, Data: m.Data[lo*m.Cols : hi*m.Cols]}
	}
	return part
}

// put puts both halves on a tape.
func (h halves) put(t *autodiff.Tape) pair { return pair{t.Var(h[0]), t.Var(h[1])} }

// pair is a matrix on a tape, divided like halves.
type pair [2]*autodiff.Var

// each applies f to both halves.
func (p pair) each(f func(*autodiff.Var) *autodiff.Var) pair { return pair{f(p[0]), f(p[1])} }

// values returns the values of both halves.
func (p pair) values() halves { return halves{p[0].Value, p[1].Value} }

// times returns p·qᵀ.
func (p pair) times(q pair) *autodiff.Var {
	t := p[0].Tape()
	return t.Add(t.MatMulTB(p[0], q[0]), t.MatMulTB(p[1], q[1]))
}

// unit returns the rows of p divided by their norms. A row of zeros stays as it is.
func (p pair) unit() pair {
	t := p[0].Tape()
	least := mat.NewDense(1, 1)
	least.Data[0] = 1e-24
	squares := p.each(func(x *autodiff.Var) *autodiff.Var { return t.RowSums(t.Mul(x, x)) })
	inverse := t.Power(t.AddRow(t.Add(squares[0], squares[1]), t.Var(least)), -0.5)
	return p.each(func(x *autodiff.Var) *autodiff.Var { return t.Mul(x, t.RepeatColumn(inverse, x.Value.Cols)) })
}

// perLayer is the number of matrices of a layer.
const perLayer = 4

// coupling returns the matrices W, a, V and b of a layer. It adds V·LeakyReLU(W·x + a) + b to one half of its input, of
// width to; x is the other half, of width from. The bound of the random weights counts all from+to columns: the
// authors' program reads all, with the changed half as zeros.
func coupling(from, to, hidden int, src rand.Source) []*mat.Dense {
	return []*mat.Dense{
		learn.Uniform(mat.NewDense(from, hidden), from+to, src), learn.Uniform(mat.NewDense(1, hidden), from+to, src),
		learn.Uniform(mat.NewDense(hidden, to), hidden, src), learn.Uniform(mat.NewDense(1, to), hidden, src),
	}
}

// flow returns f(x), or f⁻¹(x) if inverse is set. vars are the parameters of the layers, on the tape of x. Even layers
// read the odd half.
func flow(vars []*autodiff.Var, x pair, inverse bool) pair {
	t, layers, sign := x[0].Tape(), len(vars)/perLayer, float32(1)
	if inverse {
		sign = -1
	}
	for i := range layers {
		if inverse {
			i = layers - 1 - i
		}
		v := vars[i*perLayer:]
		to, from := i%2, 1-i%2
		hidden := t.LeakyReLU(0.2, t.AddRow(t.MatMul(x[from], v[0]), v[1]))
		shift := t.AddRow(t.MatMul(hidden, v[2]), v[3])
		x[to] = t.Add(x[to], t.Scale(sign, shift))
	}
	return x
}

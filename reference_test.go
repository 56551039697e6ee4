package cgc_test

// This file contains the formulas of the paper as plain loops over dense float64. They share no code with the library,
// whose steps are compared with them on small graphs. Rows are nodes; m[i][j] is row i, column j. Equation numbers
// refer to the paper.

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

type dense = [][]float64

func zeros(rows, cols int) dense {
	m := make(dense, rows)
	for i := range m {
		m[i] = make([]float64, cols)
	}
	return m
}

func refMul(a, b dense) dense {
	c := zeros(len(a), len(b[0]))
	for i := range a {
		for k := range b {
			for j := range b[k] {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

func refT(a dense) dense {
	t := zeros(len(a[0]), len(a))
	for i := range a {
		for j := range a[i] {
			t[j][i] = a[i][j]
		}
	}
	return t
}

// refNormalize returns Â = D̃^-½ (A+I) D̃^-½.
func refNormalize(a dense) dense {
	n := len(a)
	degree := make([]float64, n)
	for i := range a {
		degree[i] = 1
		for j := range a[i] {
			degree[i] += a[i][j]
		}
	}
	norm := zeros(n, n)
	for i := range a {
		for j := range a[i] {
			v := a[i][j]
			if i == j {
				v++
			}
			norm[i][j] = v / math.Sqrt(degree[i]*degree[j])
		}
	}
	return norm
}

// refMean returns D̃⁻¹ (A+I).
func refMean(a dense) dense {
	n := len(a)
	m := zeros(n, n)
	for i := range a {
		degree := 1.0
		for j := range a[i] {
			degree += a[i][j]
		}
		for j := range a[i] {
			m[i][j] = a[i][j] / degree
		}
		m[i][i] += 1 / degree
	}
	return m
}

// refPropagate returns H⁽⁰⁾ … H⁽ᴷ⁾ (eq. 12) for p = Â or the mean operator. With beta > 0, it computes personalised
// PageRank.
func refPropagate(p, x dense, hops int, beta float64) []dense {
	h := []dense{x}
	for range hops {
		next := refMul(p, h[len(h)-1])
		if beta > 0 {
			for i := range next {
				for j := range next[i] {
					next[i][j] = (1-beta)*next[i][j] + beta*x[i][j]
				}
			}
		}
		h = append(h, next)
	}
	return h
}

// refClassifier returns W = T⁺Y (eqs. 13, 14), by a singular value decomposition. Singular values up to cut times the
// largest count as zero.
func refClassifier(h []dense, y []int, classes int, cut float64) dense {
	n, d := len(h[0]), len(h[0][0])
	t := mat.NewDense(n, d, nil)
	for _, hop := range h {
		for i := range hop {
			for j, v := range hop[i] {
				t.Set(i, j, t.At(i, j)+v/float64(len(h)))
			}
		}
	}
	var svd mat.SVD
	if !svd.Factorize(t, mat.SVDThin) {
		panic("svd")
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	w := zeros(d, classes)
	for k, s := range svd.Values(nil) {
		if s <= cut*svd.Values(nil)[0] {
			continue
		}
		along := make([]float64, classes) // u_kᵀY
		for i, c := range y {
			along[c] += u.At(i, k)
		}
		for j := range d {
			for c := range classes {
				w[j][c] += v.At(j, k) / s * along[c]
			}
		}
	}
	return w
}

// refJudge returns r of each row of h, and the predicted classes.
func refJudge(h, w dense, y []int) (r []float64, predicted []int) {
	logits := refMul(h, w)
	r, predicted = make([]float64, len(h)), make([]int, len(h))
	smallest := math.Inf(1)
	for i, z := range logits {
		var sum float64
		for c := range z {
			if z[c] > z[predicted[i]] {
				predicted[i] = c
			}
			sum += math.Exp(z[c])
		}
		r[i] = math.Exp(z[y[i]]) / sum
		smallest = math.Min(smallest, r[i])
	}
	for i := range r {
		if predicted[i] != y[i] {
			r[i] = smallest
		}
	}
	return r, predicted
}

// refClassErrors returns e_c = 1 − F1.
func refClassErrors(predicted, y []int, classes int) []float64 {
	e := make([]float64, classes)
	for c := range e {
		var tp, fp, fn float64
		for i := range y {
			switch {
			case predicted[i] == c && y[i] == c:
				tp++
			case predicted[i] == c:
				fp++
			case y[i] == c:
				fn++
			}
		}
		if tp+fn > 0 {
			e[c] = 1 - 2*tp/(2*tp+fp+fn)
		}
	}
	return e
}

// refAggregate returns H′ = R̂H (eq. 15) with softmax(r/τ) within each group of one class; of[i] is the group of row i.
func refAggregate(h dense, r []float64, of []int, groups int, temperature float64) dense {
	out := zeros(groups, len(h[0]))
	total := make([]float64, groups)
	for i, g := range of {
		w := math.Exp(r[i] / temperature)
		total[g] += w
		for j, v := range h[i] {
			out[g][j] += w * v
		}
	}
	for g := range out {
		for j := range out[g] {
			out[g][j] /= total[g]
		}
	}
	return out
}

// refAdjacency returns A′ (eq. 16).
func refAdjacency(h dense, threshold float64) dense {
	a := zeros(len(h), len(h))
	for i := range h {
		for j := range h {
			var dot, ii, jj float64
			for k := range h[i] {
				dot += h[i][k] * h[j][k]
				ii += h[i][k] * h[i][k]
				jj += h[j][k] * h[j][k]
			}
			if i != j && dot/math.Sqrt(ii*jj) > threshold {
				a[i][j] = 1
			}
		}
	}
	return a
}

// refSolve solves a·x = b.
func refSolve(a, b dense) dense {
	flat := func(m dense) *mat.Dense { return mat.NewDense(len(m), len(m[0]), slices.Concat(m...)) }
	var x mat.Dense
	if err := x.Solve(flat(a), flat(b)); err != nil {
		panic(err)
	}
	rows := zeros(x.Dims())
	for i := range rows {
		copy(rows[i], x.RawRowView(i))
	}
	return rows
}

// refFeatures returns X′ = (QᵀQ + αL′)⁻¹QᵀH′ of proposition 4, with Q = Â′ᴷ.
func refFeatures(a, h dense, hops int, alpha float64) dense {
	identity := zeros(len(a), len(a))
	for i := range identity {
		identity[i][i] = 1
	}
	q := refPropagate(refNormalize(a), identity, hops, 0)[hops]
	system := refMul(refT(q), q)
	for i := range a {
		for j := range a {
			system[i][i] += alpha * a[i][j]
			system[i][j] -= alpha * a[i][j]
		}
	}
	return refSolve(system, refMul(refT(q), h))
}

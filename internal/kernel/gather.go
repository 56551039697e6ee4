package kernel

import "fmt"

// Sparse is a sparse n×n matrix in CSR form with scales of its rows and columns:
//
//	S = diag(Left)·( W + Self·I )·diag(Right),  W_ij = Weights[e] for j = Indices[e], e from Indptr[i] to Indptr[i+1]−1.
//
// Indptr and Indices are not checked: an index out of range reads arbitrary memory.
type Sparse struct {
	Indptr  []int64 // n+1 long
	Indices []int32
	// Weights are the weights of the entries; nil means ones.
	Weights []float32
	// Left and Right are scales, n long; nil means ones.
	Left, Right []float32
	Self        float32
}

// check panics if lengths do not fit.
func (s Sparse) check() {
	n := len(s.Indptr) - 1
	if n < 0 || int(s.Indptr[n]) > len(s.Indices) || s.Weights != nil && len(s.Weights) < len(s.Indices) ||
		s.Left != nil && len(s.Left) < n || s.Right != nil && len(s.Right) < n {
		panic(fmt.Sprintf("kernel: a matrix of %d rows with %d indices, %d weights; scales for %d and %d rows",
			n, len(s.Indices), len(s.Weights), len(s.Left), len(s.Right)))
	}
}

// Gather sets dst to rows lo to hi−1 of S·X, for d columns of X. Row i−lo of dst becomes
//
//	left_i·( Σ_e w_e·right_j·X_j + self·right_i·X_i ),  j = indices[e].
//
// The sum runs over the entries in order and ends with the second term, which is omitted if Self is 0. Splitting rows
// or columns over several calls therefore gives the same bits. The coefficient w_e·right_j is rounded to float32 before
// it is applied. dst must not overlap x. It is fastest if the rows of x start on cache lines, which needs a stride that
// is a multiple of 16.
func Gather(dst Block, s Sparse, lo, hi int, x Block, d int) {
	if lo < 0 || lo > hi || hi >= len(s.Indptr) {
		panic(fmt.Sprintf("kernel: rows %d to %d of %d", lo, hi, len(s.Indptr)-1))
	}
	gathering{dst: dst, s: s, lo: lo, count: hi - lo, x: x, d: d}.by(best.gather)
}

// GatherRows is like Gather, for a list of rows: row r of dst is row rows[r] of S·X, and row position[j] of x has the
// data of node j. A nil position means j itself. position must be valid for the columns of all entries in these rows
// and, unless Self is 0, for the rows themselves. The results are bit-identical to Gather.
func GatherRows(dst Block, s Sparse, rows, position []int32, x Block, d int) {
	gathering{dst: dst, s: s, rows: rows, count: len(rows), position: position, x: x, d: d}.by(best.gather)
}

// gathering holds the arguments of a call of Gather or GatherRows.
type gathering struct {
	dst       Block
	s         Sparse
	rows      []int32 // nil means lo, lo+1, …
	lo, count int
	position  []int32
	x         Block
	d         int
}

// by checks the shapes and calls loop, unless there is nothing to gather.
func (g gathering) by(loop func(g gathering)) {
	g.dst.check("the destination", g.count, g.d)
	g.s.check()
	if g.count > 0 && g.d > 0 {
		loop(g)
	}
}

func gatherGeneric(g gathering) {
	for r := range g.count {
		i := g.lo + r
		if g.rows != nil {
			i = int(g.rows[r])
		}
		out := g.dst.Data[r*g.dst.Stride:][:g.d]
		clear(out)
		for e := g.s.Indptr[i]; e < g.s.Indptr[i+1]; e++ {
			j := int(g.s.Indices[e])
			w := float32(1)
			if g.s.Weights != nil {
				w = g.s.Weights[e]
			}
			if g.s.Right != nil {
				w *= g.s.Right[j]
			}
			g.axpyRow(out, w, j)
		}
		if g.s.Self != 0 {
			w := g.s.Self
			if g.s.Right != nil {
				w *= g.s.Right[i]
			}
			g.axpyRow(out, w, i)
		}
		if g.s.Left != nil {
			for k := range out {
				out[k] *= g.s.Left[i]
			}
		}
	}
}

// axpyRow adds w times the data of node j.
func (g gathering) axpyRow(out []float32, w float32, j int) {
	if g.position != nil {
		j = int(g.position[j])
	}
	axpyGeneric(w, g.x.Data[j*g.x.Stride:][:g.d], out)
}

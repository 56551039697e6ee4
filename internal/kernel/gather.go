package kernel

import "fmt"

// Gather is the fused product of a sparse matrix in CSR form with a dense one. For each row i in [lo,hi), row i−lo of dst becomes
//
//	left[i]·( Σ_e w_e·right[j_e]·X[j_e] + self·right[i]·X[i] ),  e from indptr[i] to indptr[i+1], j_e = indices[e].
//
// weights nil means w=1, left or right nil means ones; the second term is left out if self is 0. X has leading dimension ldx, of which d
// columns are used; dst has leading dimension ldd. The sum runs over the edges in order, then the second term, so splitting the rows
// or the columns over calls changes no bit. dst must not overlap x. The coefficient w_e·right[j] is rounded to float32 before it is applied.
// The contents of indptr and indices are trusted: an index out of range reads whatever memory is there.
// It is fastest where the rows of x start on cache lines: ldx a multiple of 16.
func Gather(dst []float32, ldd int, lo, hi int, indptr []int64, indices []int32, weights, left, right []float32, self float32, x []float32, ldx, d int) {
	if lo < 0 || lo > hi || hi >= len(indptr) {
		panic(fmt.Sprintf("kernel: rows %d to %d of %d", lo, hi, len(indptr)-1))
	}
	checkMatrix("the destination", len(dst), ldd, hi-lo, d)
	checkSparse(indptr, indices, weights, left, right)
	best.gatherRows(gathering{
		dst: dst, ldd: ldd, lo: lo, count: hi - lo, indptr: indptr, indices: indices, weights: weights,
		left: left, right: right, self: self, x: x, ldx: ldx, d: d,
	})
}

// GatherRows is Gather for a list of rows: row r of dst is for node rows[r], and the data of node j lie in row position[j] of x.
// A nil position means j itself; it must be valid for all nodes that the rows touch, themselves included unless self is 0.
// The arithmetic is that of Gather, bit for bit.
func GatherRows(dst []float32, ldd int, rows []int32, position []int32, indptr []int64, indices []int32, weights, left, right []float32, self float32, x []float32, ldx, d int) {
	checkMatrix("the destination", len(dst), ldd, len(rows), d)
	checkSparse(indptr, indices, weights, left, right)
	best.gatherRows(gathering{
		dst: dst, ldd: ldd, rows: rows, count: len(rows), position: position, indptr: indptr, indices: indices, weights: weights,
		left: left, right: right, self: self, x: x, ldx: ldx, d: d,
	})
}

func checkSparse(indptr []int64, indices []int32, weights, left, right []float32) {
	n := len(indptr) - 1
	if n < 0 || int(indptr[n]) > len(indices) || weights != nil && len(weights) < len(indices) ||
		left != nil && len(left) < n || right != nil && len(right) < n {
		panic(fmt.Sprintf("kernel: a matrix of %d rows with %d indices, %d weights; scales for %d and %d rows", n, len(indices), len(weights), len(left), len(right)))
	}
}

// gathering is one call of Gather or GatherRows.
type gathering struct {
	dst                  []float32
	ldd                  int
	rows                 []int32 // nil: lo, lo+1, …
	lo, count            int
	position             []int32
	indptr               []int64
	indices              []int32
	weights, left, right []float32
	self                 float32
	x                    []float32
	ldx, d               int
}

func (im *implementation) gatherRows(g gathering) {
	if g.count == 0 || g.d == 0 {
		return
	}
	im.gather(g)
}

func gatherGeneric(g gathering) {
	for r := range g.count {
		i := g.lo + r
		if g.rows != nil {
			i = int(g.rows[r])
		}
		out := g.dst[r*g.ldd:][:g.d]
		clear(out)
		for e := g.indptr[i]; e < g.indptr[i+1]; e++ {
			j := int(g.indices[e])
			w := float32(1)
			if g.weights != nil {
				w = g.weights[e]
			}
			if g.right != nil {
				w *= g.right[j]
			}
			g.axpyRow(out, w, j)
		}
		if g.self != 0 {
			w := g.self
			if g.right != nil {
				w *= g.right[i]
			}
			g.axpyRow(out, w, i)
		}
		if g.left != nil {
			for k := range out {
				out[k] *= g.left[i]
			}
		}
	}
}

// axpyRow adds w times the data of node j.
func (g gathering) axpyRow(out []float32, w float32, j int) {
	if g.position != nil {
		j = int(g.position[j])
	}
	axpyGeneric(w, g.x[j*g.ldx:][:g.d], out)
}

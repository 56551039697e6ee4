package kernel

import "fmt"

// GatherSum is Gather without weights and factors of columns, for rows of whole cache lines: row r of dst becomes
//
//	scale[r]·Σ_e X[indices[e]],  e from indptr[r] to indptr[r+1],
//
// for the len(scale) rows, so indptr is one longer. d is a multiple of 16, and so should ldx and ldd be; rows of X should begin on cache lines. The sum
// runs over the edges in order, so splitting rows or columns over calls changes no bit. dst must not overlap x. The contents of indptr and indices
// are trusted: an index out of range reads whatever memory is there.
func GatherSum(dst []float32, ldd int, indptr []int64, indices []int32, scale []float32, x []float32, ldx, d int) {
	checkMatrix("the destination", len(dst), ldd, len(scale), d)
	if len(indptr) != len(scale)+1 || int(indptr[len(scale)]) > len(indices) || d%16 != 0 {
		panic(fmt.Sprintf("kernel: sums of %d rows with %d pointers, up to %d, into %d indices, in %d columns",
			len(scale), len(indptr), indptr[len(indptr)-1], len(indices), d))
	}
	best.sumRows(dst, ldd, indptr, indices, scale, x, ldx, d)
}

func (im *implementation) sumRows(dst []float32, ldd int, indptr []int64, indices []int32, scale []float32, x []float32, ldx, d int) {
	if len(scale) > 0 && d > 0 {
		im.gatherSum(dst, ldd, indptr, indices, scale, x, ldx, d)
	}
}

func gatherSumGeneric(dst []float32, ldd int, indptr []int64, indices []int32, scale []float32, x []float32, ldx, d int) {
	for r, factor := range scale {
		out := dst[r*ldd:][:d]
		clear(out)
		for _, j := range indices[indptr[r]:indptr[r+1]] {
			for k, v := range x[int(j)*ldx:][:d] {
				out[k] += v
			}
		}
		for k := range out {
			out[k] *= factor
		}
	}
}

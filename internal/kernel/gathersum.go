package kernel

import "fmt"

// GatherSum is like Gather without weights and column scales, for rows of complete cache lines. Row r of dst becomes
//
//	scale[r]·Σ_e X_j,  j = indices[e],  e from indptr[r] to indptr[r+1]−1,
//
// for the len(scale) rows, so indptr is one longer. d must be a multiple of 16. The strides should be multiples of 16
// too, and rows of x should begin on cache lines. The sum runs over the entries in order, so splitting rows or columns
// over several calls gives the same bits. dst must not overlap x. indptr and indices are not checked: an index out of
// range reads arbitrary memory.
func GatherSum(dst Block, indptr []int64, indices []int32, scale []float32, x Block, d int) {
	dst.check("the destination", len(scale), d)
	checkSums(indptr, indices, scale, d)
	best.sumRows(summing{dst, indptr, indices, scale, x, d})
}

// checkSums panics if the shapes of sums of len(scale) rows do not match.
func checkSums(indptr []int64, indices []int32, scale []float32, d int) {
	if len(indptr) != len(scale)+1 || int(indptr[len(scale)]) > len(indices) || d%16 != 0 {
		panic(fmt.Sprintf("kernel: sums of %d rows with %d pointers, up to %d, into %d indices, in %d columns",
			len(scale), len(indptr), indptr[len(indptr)-1], len(indices), d))
	}
}

// summing holds the arguments of a call of GatherSum.
type summing struct {
	dst     Block
	indptr  []int64
	indices []int32
	scale   []float32
	x       Block
	d       int
}

func (im *implementation) sumRows(s summing) {
	if len(s.scale) > 0 && s.d > 0 {
		im.gatherSum(s)
	}
}

func gatherSumGeneric(s summing) {
	for r, factor := range s.scale {
		out := s.dst.Data[r*s.dst.Stride:][:s.d]
		clear(out)
		for _, j := range s.indices[s.indptr[r]:s.indptr[r+1]] {
			for k, v := range s.x.Data[int(j)*s.x.Stride:][:s.d] {
				out[k] += v
			}
		}
		for k := range out {
			out[k] *= factor
		}
	}
}

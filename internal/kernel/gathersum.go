package kernel

import "fmt"

// GatherSum is Gather without weights and scales of columns, for rows of whole cache lines. Row r of dst becomes
//
//	scale[r]·Σ_e X_j,  j = indices[e],  e from indptr[r] to indptr[r+1]−1,
//
// for the len(scale) rows, so indptr is one longer. d is a multiple of 16. The strides should be too, and rows of x
// should begin on cache lines. The sum runs over the entries in order, so splitting rows or columns over calls changes
// no bit. dst must not overlap x. The contents of indptr and indices are trusted: an index out of range reads whatever
// memory is there.
func GatherSum(dst Block, indptr []int64, indices []int32, scale []float32, x Block, d int) {
	dst.check("the destination", len(scale), d)
	checkSums(indptr, indices, scale, d)
	best.sumRows(summing{dst, indptr, indices, scale, x, d})
}

// checkSums panics if the sums of len(scale) rows do not fit.
func checkSums(indptr []int64, indices []int32, scale []float32, d int) {
	if len(indptr) != len(scale)+1 || int(indptr[len(scale)]) > len(indices) || d%16 != 0 {
		panic(fmt.Sprintf("kernel: sums of %d rows with %d pointers, up to %d, into %d indices, in %d columns",
			len(scale), len(indptr), indptr[len(indptr)-1], len(indices), d))
	}
}

// summing is a call of GatherSum.
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

package kernel

import (
	"fmt"
	"math"
)

// factorHalves is the number of 16-bit halves in a factor.
const factorHalves = 2

// FactoredStride returns the distance between the starts of factored rows of d numbers.
func FactoredStride(d int) int { return d + factorHalves }

// PutFactored sets a row of a factored matrix to x, which must be float16 numbers, and the factor. The factor is at the
// end of the row, its lower half first. Values between x and the factor are not changed.
func PutFactored(row []uint16, factor float32, x []float32) {
	NarrowFloat16(row[:len(x)], x)
	bits, at := math.Float32bits(factor), len(row)-factorHalves
	row[at], row[at+1] = uint16(bits), uint16(bits>>16)
}

// GatherFactored is like GatherSum, for factored rows of float16: d numbers, then a float32 factor f. Row r of dst
// becomes
//
//	scale[r]·Σ_e f_j·X_j,  j = indices[e],  e from indptr[r] to indptr[r+1]−1.
//
// Each product is rounded to float32, so the bits equal those of GatherSum with float32 rows f·X, which need almost
// twice the memory. d is 16, 32, 48 or 64, and rows are FactoredStride(d) apart.
func GatherFactored(dst Block, indptr []int64, indices []int32, scale []float32, x Halves, d int) {
	best.sumFactored(newFactored(dst, indptr, indices, scale, x, d))
}

// newFactored returns the checked arguments of a call of GatherFactored.
func newFactored(dst Block, indptr []int64, indices []int32, scale []float32, x Halves, d int) halfSumming {
	dst.check("the destination", len(scale), d)
	checkSums(indptr, indices, scale, d)
	if d == 0 || d > 64 || x.Stride != FactoredStride(d) {
		panic(fmt.Sprintf("kernel: factored rows of %d numbers, %d apart", d, x.Stride))
	}
	return halfSumming{dst: dst, indptr: indptr, indices: indices, scale: scale, x: x, d: d}
}

func (im *implementation) sumFactored(s halfSumming) {
	if len(s.scale) > 0 {
		im.factored(s)
	}
}

func gatherFactoredGeneric(s halfSumming) {
	for r, scale := range s.scale {
		out := s.dst.Data[r*s.dst.Stride:][:s.d]
		clear(out)
		for _, j := range s.indices[s.indptr[r]:s.indptr[r+1]] {
			row := s.x.Data[int(j)*s.x.Stride:][:s.x.Stride]
			factor := math.Float32frombits(uint32(row[s.d]) | uint32(row[s.d+1])<<16)
			for k, h := range row[:s.d] {
				out[k] += float32(factor * widened(h))
			}
		}
		for k := range out {
			out[k] *= scale
		}
	}
}

package kernel

import (
	"fmt"
	"math"
)

// Halves is a matrix of float16 in row-major order.
type Halves struct {
	Data   []uint16
	Stride int // the distance between the starts of rows
}

// GatherSum is like Gather without weights and column scales, for rows of complete cache lines. Row r of dst becomes
//
//	scale[r]·Σ_e X_j,  j = indices[e],  e from indptr[r] to indptr[r+1]−1,
//
// for the len(scale) rows, so indptr is one longer. d must be a multiple of 16. The strides should be multiples of 16
// too, and rows of x should begin on cache lines. The sum runs over the entries in order, so splitting rows or columns
// over several calls gives the same bits. dst must not overlap x. indptr and indices are not checked: an index out of
// range reads arbitrary memory.
func GatherSum(dst Block, indptr []int64, indices []int32, scale []float32, x Block, d int) {
	sums[float32]{dst, indptr, indices, nil, scale, x.Data, x.Stride, d}.by(best.gatherSum)
}

// GatherHalf is like GatherSum, for rows of float16 and entries with weights; nil weights mean ones. Row r of dst
// becomes
//
//	scale[r]·Σ_e weights[e]·X_j,  j = indices[e],  e from indptr[r] to indptr[r+1]−1.
//
// Sums are float32. The strides should be multiples of 16, and rows of x should begin on half a cache line.
func GatherHalf(dst Block, indptr []int64, indices []int32, weights, scale []float32, x Halves, d int) {
	sums[uint16]{dst, indptr, indices, weights, scale, x.Data, x.Stride, d}.by(best.gatherHalf)
}

// GatherFactored is like GatherSum, for factored rows of float16: d numbers, then a float32 factor f. Row r of dst
// becomes
//
//	scale[r]·Σ_e f_j·X_j,  j = indices[e],  e from indptr[r] to indptr[r+1]−1.
//
// Each product is rounded to float32, so the result is bit-identical to GatherSum with float32 rows f·X, which need
// almost twice the memory. d is 16, 32, 48 or 64, and rows are FactoredStride(d) apart.
func GatherFactored(dst Block, indptr []int64, indices []int32, scale []float32, x Halves, d int) {
	if d == 0 || d > 64 || x.Stride != FactoredStride(d) {
		panic(fmt.Sprintf("kernel: factored rows of %d numbers, %d apart", d, x.Stride))
	}
	sums[uint16]{dst, indptr, indices, nil, scale, x.Data, x.Stride, d}.by(best.factored)
}

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

// sums holds the arguments of a call of GatherSum, GatherHalf or GatherFactored.
type sums[T float32 | uint16] struct {
	dst            Block
	indptr         []int64
	indices        []int32
	weights, scale []float32
	x              []T
	ldx, d         int
}

// by checks the shapes and calls loop, unless there is nothing to sum.
func (s sums[T]) by(loop func(s sums[T])) {
	s.dst.check("the destination", len(s.scale), s.d)
	entries := s.indptr[len(s.indptr)-1]
	if len(s.indptr) != len(s.scale)+1 || int(entries) > len(s.indices) || s.d%16 != 0 {
		panic(fmt.Sprintf("kernel: sums of %d rows with %d pointers, up to %d, into %d indices, in %d columns",
			len(s.scale), len(s.indptr), entries, len(s.indices), s.d))
	}
	if s.weights != nil && len(s.weights) < int(entries) {
		panic(fmt.Sprintf("kernel: %d weights of %d entries", len(s.weights), entries))
	}
	if len(s.scale) > 0 && s.d > 0 {
		loop(s)
	}
}

// rows calls add for each entry e of each row, with the sum of the row and the data of the entry, and then scales the
// sum.
func (s sums[T]) rows(add func(sum []float32, e int64, x []T)) {
	for r, factor := range s.scale {
		sum := s.dst.Data[r*s.dst.Stride:][:s.d]
		clear(sum)
		for e := s.indptr[r]; e < s.indptr[r+1]; e++ {
			add(sum, e, s.x[int(s.indices[e])*s.ldx:])
		}
		for k := range sum {
			sum[k] *= factor
		}
	}
}

func gatherSumGeneric(s sums[float32]) {
	s.rows(func(sum []float32, _ int64, x []float32) {
		for k, v := range x[:len(sum)] {
			sum[k] += v
		}
	})
}

func gatherHalfGeneric(s sums[uint16]) {
	s.rows(func(sum []float32, e int64, x []uint16) {
		if s.weights == nil {
			for k, h := range x[:len(sum)] {
				sum[k] += widened(h)
			}
			return
		}
		w := s.weights[e]
		for k, h := range x[:len(sum)] {
			sum[k] += float32(w * widened(h))
		}
	})
}

func gatherFactoredGeneric(s sums[uint16]) {
	s.rows(func(sum []float32, _ int64, x []uint16) {
		factor := math.Float32frombits(uint32(x[s.d]) | uint32(x[s.d+1])<<16)
		for k, h := range x[:len(sum)] {
			sum[k] += float32(factor * widened(h))
		}
	})
}

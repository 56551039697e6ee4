package kernel

import "fmt"

// Halves is a matrix of float16 in row-major order.
type Halves struct {
	Data   []uint16
	Stride int // the distance between the starts of rows
}

// GatherHalf is like GatherSum, for rows of float16 and entries with weights; nil weights mean ones. Row r of dst
// becomes
//
//	scale[r]·Σ_e weights[e]·X_j,  j = indices[e],  e from indptr[r] to indptr[r+1]−1.
//
// Sums are float32. The strides should be multiples of 16, and rows of x should begin on half a cache line.
func GatherHalf(dst Block, indptr []int64, indices []int32, weights, scale []float32, x Halves, d int) {
	dst.check("the destination", len(scale), d)
	checkSums(indptr, indices, scale, d)
	if weights != nil && len(weights) < int(indptr[len(scale)]) {
		panic(fmt.Sprintf("kernel: %d weights of %d entries", len(weights), indptr[len(scale)]))
	}
	best.sumHalves(halfSumming{dst, indptr, indices, weights, scale, x, d})
}

// halfSumming holds the arguments of a call of GatherHalf.
type halfSumming struct {
	dst            Block
	indptr         []int64
	indices        []int32
	weights, scale []float32
	x              Halves
	d              int
}

func (im *implementation) sumHalves(s halfSumming) {
	if len(s.scale) > 0 && s.d > 0 {
		im.gatherHalf(s)
	}
}

func gatherHalfGeneric(s halfSumming) {
	for r, factor := range s.scale {
		out := s.dst.Data[r*s.dst.Stride:][:s.d]
		clear(out)
		for e := s.indptr[r]; e < s.indptr[r+1]; e++ {
			row := s.x.Data[int(s.indices[e])*s.x.Stride:][:s.d]
			if s.weights == nil {
				for k, h := range row {
					out[k] += widened(h)
				}
				continue
			}
			w := s.weights[e]
			for k, h := range row {
				out[k] += float32(w * widened(h))
			}
		}
		for k := range out {
			out[k] *= factor
		}
	}
}

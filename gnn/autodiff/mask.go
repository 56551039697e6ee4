package autodiff

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Mask sets each element of dst to 0 with probability p in [0,1), and to 1/(1−p) otherwise, independently. p is rounded
// to a multiple of 2⁻¹⁶. Mask draws one value from src, which seeds a generator that can start at any element. The mask
// therefore does not depend on the number of threads.
func Mask(dst []float32, p float64, src rand.Source) { maskWithin(context.Background(), dst, p, src) }

// maskWithin is like Mask, but returns soon after ctx is done.
func maskWithin(ctx context.Context, dst []float32, p float64, src rand.Source) {
	seed := src.Uint64()
	threshold := uint64(math.Round(p * (1 << 16)))
	// The two values, indexed by whether the element is kept. A branch on random bits would often be mispredicted.
	keep := [2]float32{0, float32(1 / (1 - p))}
	if len(dst) <= elementChunk {
		mask(dst, seed, threshold, &keep)
		return
	}
	m := masking{dst, seed, threshold, keep}
	_ = maskings.ForContext(ctx, len(dst), elementChunk, m, func(m *masking, lo, hi int) {
		mask(m.dst[lo:hi], m.seed+uint64(lo/4)*golden, m.threshold, &m.keep)
	})
}

// MaskStored sets each stored entry of x, whose Data is not nil, to the corresponding element of the mask that Mask
// would draw for the dense x, in row-major order. It draws one value from src, as Mask does.
func MaskStored(x *mat.CSR, p float64, src rand.Source) {
	seed := src.Uint64()
	threshold := uint64(math.Round(p * (1 << 16)))
	m := masking{nil, seed, threshold, [2]float32{0, float32(1 / (1 - p))}}
	parallel.For(x.Rows, storedChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for e := x.Indptr[i]; e < x.Indptr[i+1]; e++ {
				x.Data[e] = m.at(uint64(i)*uint64(x.Cols) + uint64(x.Indices[e]))
			}
		}
	})
}

// storedChunk is the number of rows in one task of MaskStored.
const storedChunk = 256

// at returns element k of the mask.
func (m *masking) at(k uint64) float32 {
	var four [4]float32
	mask(four[:], m.seed+k/4*golden, m.threshold, &m.keep)
	return four[k%4]
}

// masking holds the arguments of a call to Mask.
type masking struct {
	dst             []float32
	seed, threshold uint64
	keep            [2]float32
}

var maskings parallel.Loop[masking]

const golden = 0x9e3779b97f4a7c15 // 2⁶⁴ divided by the golden ratio: the step of SplitMix64 (Steele et al. 2014)

// mask derives four elements from each 64-bit output of SplitMix64.
func mask(dst []float32, state, threshold uint64, keep *[2]float32) {
	for len(dst) > 0 {
		state += golden
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		n := min(4, len(dst))
		for i := range dst[:n] {
			// The index is 1 if the lowest 16 bits are at least the threshold: only then is the difference not negative.
			dst[i] = keep[(z&0xffff-threshold)>>63^1]
			z >>= 16
		}
		dst = dst[n:]
	}
}

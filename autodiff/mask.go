package autodiff

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/parallel"
)

// Mask sets each element of dst to 0 with probability p in [0,1), and to 1/(1−p) otherwise, independently. p is rounded
// to a multiple of 2⁻¹⁶. One value is drawn from src. It seeds a generator that can start at any place, so that the
// number of threads does not change the mask.
func Mask(dst []float32, p float64, src rand.Source) { maskWithin(context.Background(), dst, p, src) }

// maskWithin is Mask, but returns soon after ctx is done.
func maskWithin(ctx context.Context, dst []float32, p float64, src rand.Source) {
	seed := src.Uint64()
	threshold := uint64(math.Round(p * (1 << 16)))
	// The two values, indexed by whether the element stays. A branch on random bits would be mispredicted half of the
	// time.
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

// masking is a call of Mask.
type masking struct {
	dst             []float32
	seed, threshold uint64
	keep            [2]float32
}

var maskings parallel.Loop[masking]

const golden = 0x9e3779b97f4a7c15 // 2⁶⁴ over the golden ratio: the step of SplitMix64 (Steele et al. 2014)

// mask takes four elements from each 64-bit output of SplitMix64.
func mask(dst []float32, state, threshold uint64, keep *[2]float32) {
	for len(dst) > 0 {
		state += golden
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		n := min(4, len(dst))
		for i := range dst[:n] {
			// The index is 1 if the lowest 16 bits are at least the threshold: the difference is then not negative.
			dst[i] = keep[(z&0xffff-threshold)>>63^1]
			z >>= 16
		}
		dst = dst[n:]
	}
}

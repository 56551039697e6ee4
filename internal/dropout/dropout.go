// Package dropout draws the masks of dropout. A mask does not depend on the number of threads.
package dropout

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Mask sets each element of dst to 0 with probability p in [0,1), and to 1/(1−p) otherwise, independently. p is rounded
// to a multiple of 2⁻¹⁶. Mask draws one value from src, which seeds a generator that can start at any element. It
// returns soon after ctx is done.
func Mask(ctx context.Context, dst []float32, p float64, src rand.Source) {
	m := newMasking(dst, p, src)
	if len(dst) <= chunk {
		m.fill(dst, 0)
		return
	}
	_ = maskings.ForContext(ctx, len(dst), chunk, m, func(m *masking, lo, hi int) { m.fill(m.dst[lo:hi], lo) })
}

// MaskStored sets each stored entry of x, whose Data is not nil, to the corresponding element of the mask that Mask
// would draw for the dense x, in row-major order. It draws one value from src, as Mask does.
func MaskStored(x *mat.CSR, p float64, src rand.Source) {
	m := newMasking(nil, p, src)
	parallel.For(x.Rows, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for e := x.Indptr[i]; e < x.Indptr[i+1]; e++ {
				x.Data[e] = m.at(uint64(i)*uint64(x.Cols) + uint64(x.Indices[e]))
			}
		}
	})
}

// The numbers of elements and of rows in one task: tens of microseconds.
const (
	chunk    = 1 << 15
	rowChunk = 256
)

// masking is a mask that is being drawn.
type masking struct {
	dst             []float32
	seed, threshold uint64
	// keep holds the two values, indexed by whether the element is kept. A branch on random bits would often be
	// mispredicted.
	keep [2]float32
}

var maskings parallel.Loop[masking]

func newMasking(dst []float32, p float64, src rand.Source) masking {
	return masking{dst, src.Uint64(), uint64(math.Round(p * (1 << 16))), [2]float32{0, float32(1 / (1 - p))}}
}

// at returns element k of the mask.
func (m *masking) at(k uint64) float32 {
	var four [4]float32
	m.fill(four[:], int(k/4*4))
	return four[k%4]
}

const golden = 0x9e3779b97f4a7c15 // 2⁶⁴ divided by the golden ratio: the step of SplitMix64 (Steele et al. 2014)

// fill sets dst to the elements of the mask from lo on. lo is a multiple of 4. Each 64-bit output of SplitMix64 gives
// four elements.
func (m *masking) fill(dst []float32, lo int) {
	state := m.seed + uint64(lo/4)*golden
	for len(dst) > 0 {
		state += golden
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		n := min(4, len(dst))
		for i := range dst[:n] {
			// The index is 1 if the lowest 16 bits are at least the threshold: only then is the difference not negative.
			dst[i] = m.keep[(z&0xffff-m.threshold)>>63^1]
			z >>= 16
		}
		dst = dst[n:]
	}
}

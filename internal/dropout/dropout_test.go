package dropout_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/dropout"
	"github.com/graph-condensation/cgc/mat"
)

func TestMask(t *testing.T) {
	const n = 1 << 18
	x := make([]float32, n)
	for _, p := range []float64{0.1, 0.5, 0.8} {
		dropout.Mask(t.Context(), x, p, rand.NewPCG(9, 9))
		kept, pairs := 0, 0
		for i, v := range x {
			if v != 0 && v != float32(1/(1-p)) {
				t.Fatalf("p=%v: element %v, want 0 or %v", p, v, 1/(1-p))
			}
			if v != 0 {
				kept++
				if i > 0 && x[i-1] != 0 {
					pairs++
				}
			}
		}
		// The tolerance is five standard deviations of a binomial count. Neighbours must be independent too.
		q := 1 - p
		if share := float64(kept) / n; math.Abs(share-q) > 5*math.Sqrt(p*q/n) {
			t.Errorf("p=%v: %v kept, want %v", p, share, q)
		}
		if share := float64(pairs) / n; math.Abs(share-q*q) > 10*math.Sqrt(q*q*(1-q*q)/n) {
			t.Errorf("p=%v: %v of neighbours both kept, want %v", p, share, q*q)
		}
	}
	a, b := make([]float32, 1000), make([]float32, 1000)
	src := rand.NewPCG(1, 2)
	dropout.Mask(t.Context(), a, 0.5, src)
	dropout.Mask(t.Context(), b, 0.5, src)
	if slices.Equal(a, b) {
		t.Error("two masks from one source are equal")
	}
}

// TestMaskStored checks that stored entries get the mask of the dense matrix, also beyond its first chunk.
func TestMaskStored(t *testing.T) {
	const rows, cols, p = 700, 611, 0.3
	random := rand.New(rand.NewPCG(2, 2))
	x := mat.NewDense(rows, cols)
	for range 9000 {
		x.Data[random.IntN(len(x.Data))] = 1
	}
	s, dense := x.Sparse(), make([]float32, rows*cols)
	dropout.Mask(t.Context(), dense, p, rand.NewPCG(3, 4))
	dropout.MaskStored(s, p, rand.NewPCG(3, 4))
	for i := range rows {
		for e := s.Indptr[i]; e < s.Indptr[i+1]; e++ {
			if want := dense[i*cols+int(s.Indices[e])]; s.Data[e] != want {
				t.Fatalf("entry (%d, %d) is %v, want %v", i, s.Indices[e], s.Data[e], want)
			}
		}
	}
}

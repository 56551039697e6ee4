package autodiff_test

import (
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// TestMaskStored checks that stored entries get the mask of the dense matrix, also beyond its first chunk.
func TestMaskStored(t *testing.T) {
	const rows, cols, p = 700, 611, 0.3
	random := rand.New(rand.NewPCG(2, 2))
	x := mat.NewDense(rows, cols)
	for range 9000 {
		x.Data[random.IntN(len(x.Data))] = 1
	}
	s, dense := x.Sparse(), make([]float32, rows*cols)
	autodiff.Mask(dense, p, rand.NewPCG(3, 4))
	autodiff.MaskStored(s, p, rand.NewPCG(3, 4))
	for i := range rows {
		for e := s.Indptr[i]; e < s.Indptr[i+1]; e++ {
			if want := dense[i*cols+int(s.Indices[e])]; s.Data[e] != want {
				t.Fatalf("entry (%d, %d) is %v, want %v", i, s.Indices[e], s.Data[e], want)
			}
		}
	}
}

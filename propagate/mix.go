package propagate

import (
	"fmt"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Mix returns Σ_l w_l·H⁽ˡ⁾, n×d, for embeddings h and equally many weights: a polynomial of the propagation, applied to
// the features. Terms are added in the order of the hops.
func Mix(h []mat.View, weights []float64) *mat.Dense {
	if len(h) != len(weights) {
		panic(fmt.Sprintf("propagate: %d weights of %d embeddings", len(weights), len(h)))
	}
	const rowChunk = 256
	mixture := mat.NewDense(h[0].Dims())
	parallel.For(mixture.Rows, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for l, hop := range h {
				kernel.Axpy(float32(weights[l]), hop.Row(i), mixture.Row(i))
			}
		}
	})
	return mixture
}

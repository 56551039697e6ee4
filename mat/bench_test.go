package mat_test

import (
	"testing"

	"github.com/graph-condensation/cgc/mat"
)

// BenchmarkFirstNotFinite looks for NaN in 256 MB.
func BenchmarkFirstNotFinite(b *testing.B) {
	m := mat.NewDense(1<<19, 128)
	b.SetBytes(4 * int64(len(m.Data)))
	for b.Loop() {
		if _, _, found, _ := mat.FirstNotFinite(b.Context(), m); found {
			b.Fatal("found a number that is not finite in zeros")
		}
	}
}

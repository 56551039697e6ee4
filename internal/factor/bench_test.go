package factor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// gram returns XᵀX.
func gram(t testing.TB, x *mat.Dense) *factor.Symmetric {
	t.Helper()
	return mattest.Must(factor.Gram(t.Context(), x))
}

// rate reports billions of additions and multiplications per second.
func rate(b *testing.B, operations float64) {
	b.ReportMetric(operations*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{100, 602, 2000} {
		s := gram(b, mattest.Normal(n+100, n, rand.New(rand.NewPCG(1, 0))))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Cholesky(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			rate(b, float64(n)*float64(n)*float64(n)/3)
		})
	}
}

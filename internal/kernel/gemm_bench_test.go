package kernel_test

import (
	"fmt"
	"testing"

	"github.com/graph-condensation/cgc/internal/kernel"
)

// perSecond reports billions of units per second, with count units in each iteration.
func perSecond(b *testing.B, count float64, unit string) {
	b.ReportMetric(count*float64(b.N)/b.Elapsed().Seconds()/1e9, unit)
}

func eachBench(b *testing.B, f func(b *testing.B, s kernel.Set)) {
	for _, s := range kernel.Available() {
		b.Run(s.Name(), func(b *testing.B) { f(b, s) })
	}
}

func BenchmarkGemm(b *testing.B) {
	type shape struct {
		m, n, k        int
		transA, transB bool
	}
	for _, s := range []shape{
		{1024, 1024, 1024, false, false},
		{1024, 1024, 1024, true, false},
		{1024, 1024, 1024, false, true},
		{100000, 256, 128, false, false},
		{128, 256, 100000, true, false},
		{2000, 2000, 2000, false, false},
		{70, 256, 1433, false, false},
		{454, 256, 128, false, false},
		{454, 40, 256, false, false},
		{128, 256, 454, true, false},
		{454, 454, 128, false, true},
		{20, 20, 20, false, false},
		{100000, 8, 128, false, false},
	} {
		name := fmt.Sprintf("%d×%d·%d×%d", s.m, s.k, s.k, s.n)
		if s.transA {
			name += ",transA"
		}
		if s.transB {
			name += ",transB"
		}
		b.Run(name, func(b *testing.B) {
			eachBench(b, func(b *testing.B, set kernel.Set) {
				random := source()
				x, y, c := normal(random, s.m*s.k), normal(random, s.k*s.n), make([]float32, s.m*s.n)
				lda, ldb := s.k, s.n
				if s.transA {
					lda = s.m
				}
				if s.transB {
					ldb = s.k
				}
				for b.Loop() {
					set.Gemm(kernel.Rows(c, s.n), kernel.Block{Data: x, Stride: lda, Transposed: s.transA},
						kernel.Block{Data: y, Stride: ldb, Transposed: s.transB}, s.m, s.n, s.k, false)
				}
				perSecond(b, 2*float64(s.m)*float64(s.n)*float64(s.k), "GFLOP/s")
			})
		})
	}
}

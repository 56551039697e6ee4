package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/internal/kernel"
)

// BenchmarkGatherSum sums rows of a block that exceeds every cache, and of one that fits into a cache.
func BenchmarkGatherSum(b *testing.B) {
	const edges, degree = 2_000_000, 50
	for _, n := range []int{3_000, 1_000_000} {
		random := source()
		indptr, indices := make([]int64, edges/degree+1), make([]int32, edges)
		for i := range indices {
			indices[i] = int32(random.IntN(n))
		}
		for i := range indptr {
			indptr[i] = int64(i * degree)
		}
		for _, d := range []int{16, 32, 64} {
			b.Run(fmt.Sprintf("n=%d,d=%d", n, d), func(b *testing.B) {
				eachBench(b, func(b *testing.B, s kernel.Set) {
					x, dst, scale := make([]float32, n*d), make([]float32, edges/degree*d), make([]float32, edges/degree)
					for i := range x {
						x[i] = 1
					}
					for b.Loop() {
						s.GatherSum(kernel.Rows(dst, d), indptr, indices, scale, kernel.Rows(x, d), d)
					}
					perSecond(b, 4*edges*float64(d), "GB/s")
				})
			})
		}
	}
}

// BenchmarkGather gathers random rows of a matrix much larger than the caches.
func BenchmarkGather(b *testing.B) {
	const n, degree = 300_000, 20
	random := source()
	indptr, indices := []int64{0}, make([]int32, 0, n*degree)
	for range n {
		for range random.IntN(2*degree + 1) {
			indices = append(indices, int32(random.IntN(n)))
		}
		indptr = append(indptr, int64(len(indices)))
	}
	rows := make([]int32, 0, n/2)
	position := make([]int32, n)
	for i := range position {
		position[i] = int32(i)
		if i%2 == 0 {
			rows = append(rows, int32(i))
		}
	}
	scales := make([]float32, n)
	for i := range scales {
		scales[i] = random.Float32()
	}
	for _, d := range []int{16, 100, 112, 128, 602} {
		x := make([]float32, n*d)
		for i := range x {
			x[i] = float32(i & 7)
		}
		dst := make([]float32, n*d)
		for i := range dst {
			dst[i] = 1 // so that the system allocates the pages
		}
		report := func(b *testing.B, edges int64) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(edges), "ns/edge")
			perSecond(b, 4*float64(d)*float64(edges), "GB/s")
		}
		b.Run(fmt.Sprintf("all,d=%d", d), func(b *testing.B) {
			eachBench(b, func(b *testing.B, s kernel.Set) {
				for b.Loop() {
					s.Gather(kernel.Rows(dst, d), kernel.Sparse{Indptr: indptr, Indices: indices}, 0, n, kernel.Rows(x, d), d)
				}
				report(b, indptr[n])
			})
		})
		if d != 112 {
			continue
		}
		b.Run(fmt.Sprintf("normalised,d=%d", d), func(b *testing.B) {
			eachBench(b, func(b *testing.B, s kernel.Set) {
				for b.Loop() {
					s.Gather(kernel.Rows(dst, d), kernel.Sparse{Indptr: indptr, Indices: indices, Left: scales, Right: scales,
						Self: 1}, 0, n, kernel.Rows(x, d), d)
				}
				report(b, indptr[n]+n)
			})
		})
		b.Run(fmt.Sprintf("listed,d=%d", d), func(b *testing.B) {
			eachBench(b, func(b *testing.B, s kernel.Set) {
				for b.Loop() {
					s.GatherRows(kernel.Rows(dst, d), kernel.Sparse{Indptr: indptr, Indices: indices, Left: scales, Right: scales},
						rows, position, kernel.Rows(x, d), d)
				}
				report(b, indptr[n]/2)
			})
		})
	}
}

func BenchmarkNearest(b *testing.B) {
	for _, shape := range [][3]int{{50_000, 454, 128}, {50_000, 26, 100}, {10_000, 153, 602}, {10_000, 1238, 100}} {
		n, k, d := shape[0], shape[1], shape[2]
		b.Run(fmt.Sprintf("n=%d,k=%d,d=%d", n, k, d), func(b *testing.B) {
			eachBench(b, func(b *testing.B, s kernel.Set) {
				random := source()
				x, c := normal(random, n*d), normal(random, k*d)
				rowNorms, norms := squaredNorms(x, n, d), squaredNorms(c, k, d)
				nearest, dist := make([]int32, n), make([]float32, n)
				for b.Loop() {
					s.Nearest(nearest, dist, kernel.Points{Data: x, Stride: d, N: n, Norms: rowNorms},
						kernel.Points{Data: c, Stride: d, N: k, Norms: norms}, d)
				}
				perSecond(b, 2*float64(n)*float64(k)*float64(d), "GFLOP/s")
			})
		})
	}
}

func BenchmarkGram(b *testing.B) {
	eachBench(b, func(b *testing.B, s kernel.Set) {
		const n, d = 20_000, 602
		x, g := normal(source(), n*d), make([]float32, d*d)
		for b.Loop() {
			s.GramRows(kernel.Rows(g, d), kernel.Rows(x, d), n, d, 0, d, false)
		}
		perSecond(b, float64(n)*d*(d+1), "GFLOP/s")
	})
}

func BenchmarkDot(b *testing.B) {
	for _, n := range []int{16, 128, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			eachBench(b, func(b *testing.B, s kernel.Set) {
				x, y := normal(source(), n), normal(source(), n)
				for b.Loop() {
					s.Dot(x, y)
				}
				perSecond(b, 2*float64(n), "GFLOP/s")
			})
		})
	}
}

func BenchmarkElementwise(b *testing.B) {
	const n = 454 * 256 // the hidden layer of a small graph
	random := rand.New(rand.NewPCG(1, 1))
	x, y, z, w := normal(random, n), normal(random, n), normal(random, n), normal(random, n)
	for i := range z {
		z[i] *= z[i] // second moments are not negative
	}
	for _, l := range []struct {
		name    string
		streams float64 // slices read or written
		run     func(s kernel.Set)
	}{
		{"axpy", 3, func(s kernel.Set) { s.Axpy(1e-9, x, y) }},
		{"mul", 3, func(s kernel.Set) { s.Mul(w, x, y) }},
		{"relu", 2, func(s kernel.Set) { s.ReLU(w, x) }},
		{"reluGrad", 3, func(s kernel.Set) { s.ReLUGrad(w, x, y) }},
		{"adam", 7, func(s kernel.Set) {
			s.AdamStep(w, x, y, z, kernel.Adam{Rate: 0.01, B1: 0.9, B2: 0.999, Epsilon: 1e-8, Step: 1})
		}},
		{"exp", 2, func(s kernel.Set) { s.ExpShifted(w, x, 1) }},
	} {
		b.Run(l.name, func(b *testing.B) {
			eachBench(b, func(b *testing.B, s kernel.Set) {
				for b.Loop() {
					l.run(s)
				}
				perSecond(b, 4*n*l.streams, "GB/s")
			})
		})
	}
}

func BenchmarkSoftmax(b *testing.B) {
	for _, n := range []int{7, 40, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			eachBench(b, func(b *testing.B, s kernel.Set) {
				x := normal(source(), n)
				for b.Loop() {
					s.Softmax(x)
				}
				perSecond(b, float64(n), "Gelement/s")
			})
		})
	}
}

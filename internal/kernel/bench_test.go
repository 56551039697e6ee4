package kernel

import (
	"fmt"
	"testing"
)

// measure runs f with each set of loops, and reports billions of units per second, with count units in a call of f.
func measure(b *testing.B, name string, count float64, unit string, f func(s *implementation)) {
	for _, s := range available() {
		b.Run(name+"/"+s.name, func(b *testing.B) {
			for b.Loop() {
				f(s)
			}
			b.ReportMetric(count*float64(b.N)/b.Elapsed().Seconds()/1e9, unit)
		})
	}
}

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
			x, dst, scale := make([]float32, n*d), make([]float32, edges/degree*d), make([]float32, edges/degree)
			for i := range x {
				x[i] = 1
			}
			measure(b, fmt.Sprintf("n=%d,d=%d", n, d), 4*edges*float64(d), "GB/s", func(s *implementation) {
				sums[float32]{Rows(dst, d), indptr, indices, nil, scale, x, d, d}.by(s.gatherSum)
			})
		}
	}
}

// BenchmarkGather gathers random rows of a matrix much larger than the caches.
func BenchmarkGather(b *testing.B) {
	const n, degree = 300_000, 20
	random := source()
	indptr, indices := sparse(random, n, 3*degree) // a third of the rows are empty
	var rows []int32
	position, scales := make([]int32, n), make([]float32, n)
	for i := range position {
		position[i], scales[i] = int32(i), random.Float32()
		if i%2 == 0 {
			rows = append(rows, int32(i))
		}
	}
	for _, d := range []int{16, 100, 112, 128, 602} {
		x, dst := whole(random, n*d), whole(random, n*d)
		g := gathering{dst: Rows(dst, d), s: Sparse{Indptr: indptr, Indices: indices}, count: n, x: Rows(x, d), d: d}
		bytes := 4 * float64(d) * float64(len(indices))
		run := func(name string, bytes float64, g gathering) {
			measure(b, fmt.Sprintf("%s,d=%d", name, d), bytes, "GB/s", func(s *implementation) { g.by(s.gather) })
		}
		run("all", bytes, g)
		if d == 112 {
			g.s.Left, g.s.Right = scales, scales
			listed := g
			listed.rows, listed.position, listed.count = rows, position, len(rows)
			run("listed", bytes/2, listed)
			g.s.Self = 1
			run("normalised", bytes+4*float64(n*d), g)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	for _, shape := range [][3]int{{50_000, 454, 128}, {50_000, 26, 100}, {10_000, 153, 602}, {10_000, 1238, 100}} {
		n, k, d := shape[0], shape[1], shape[2]
		random := source()
		x, c := points(normal(random, n*d), n, d), points(normal(random, k*d), k, d)
		nearest, dist := make([]int32, n), make([]float32, n)
		measure(b, fmt.Sprintf("n=%d,k=%d,d=%d", n, k, d), 2*float64(n)*float64(k)*float64(d), "GFLOP/s",
			func(s *implementation) { s.nearest(nearest, dist, x, c, d) })
	}
}

func BenchmarkGram(b *testing.B) {
	const n, d = 20_000, 602
	x, g := normal(source(), n*d), make([]float32, d*d)
	measure(b, "20000×602", float64(n)*d*(d+1), "GFLOP/s", func(s *implementation) {
		s.gramRows(Rows(g, d), Rows(x, d), n, d, 0, d, false)
	})
}

func BenchmarkGemm(b *testing.B) {
	for _, p := range []struct {
		m, n, k        int
		transA, transB bool
	}{
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
		random := source()
		x, y, c := normal(random, p.m*p.k), normal(random, p.k*p.n), make([]float32, p.m*p.n)
		a, bb := Rows(x, p.k), Rows(y, p.n)
		if p.transA {
			a = Rows(x, p.m).T()
		}
		if p.transB {
			bb = Rows(y, p.k).T()
		}
		name := fmt.Sprintf("%d×%d·%d×%d,transA=%t,transB=%t", p.m, p.k, p.k, p.n, p.transA, p.transB)
		measure(b, name, 2*float64(p.m)*float64(p.n)*float64(p.k), "GFLOP/s", func(s *implementation) {
			gemm(s, Rows(c, p.n), a, bb, p.m, p.n, p.k, false)
		})
	}
}

// BenchmarkVectors runs loops over the hidden layer of a small graph, and over short vectors.
func BenchmarkVectors(b *testing.B) {
	const n = 454 * 256
	random := source()
	x, y, z, w := normal(random, n), normal(random, n), normal(random, n), normal(random, n)
	for i := range z {
		z[i] *= z[i] // second moments are not negative
	}
	step := newAdamStep(Adam{Rate: 0.01, B1: 0.9, B2: 0.999, Epsilon: 1e-8, Step: 1})
	for _, l := range []struct {
		name    string
		streams float64 // slices read or written
		run     func(s *implementation)
	}{
		{"axpy", 3, func(s *implementation) { s.axpy(1e-9, x, y) }},
		{"mul", 3, func(s *implementation) { s.mul(w, x, y) }},
		{"relu", 2, func(s *implementation) { s.relu(w, x) }},
		{"reluGrad", 3, func(s *implementation) { s.reluGrad(w, x, y) }},
		{"adam", 7, func(s *implementation) { s.adam(w, x, y, z, step) }},
		{"exp", 2, func(s *implementation) { s.expShifted(w, x, 1) }},
	} {
		measure(b, l.name, 4*n*l.streams, "GB/s", l.run)
	}
	for _, n := range []int{16, 128, 1024} {
		measure(b, fmt.Sprintf("dot,n=%d", n), 2*float64(n), "GFLOP/s", func(s *implementation) { s.dot(x[:n], y[:n]) })
	}
	for _, n := range []int{7, 40, 256} {
		measure(b, fmt.Sprintf("softmax,n=%d", n), float64(n), "Gelement/s", func(s *implementation) { s.softmax(x[:n]) })
	}
}

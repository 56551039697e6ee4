//go:build js && simd128

package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestSIMDEqualsPortable compares every loop of simd with the portable one on random numbers, whose sums
// depend on the order.
func TestSIMDEqualsPortable(t *testing.T) {
	random := source()
	// compare calls run with both sets on copies of the same results.
	compare := func(what string, results []float32, run func(s *implementation, results []float32)) {
		t.Helper()
		got, want := slices.Clone(results), slices.Clone(results)
		run(&simd, got)
		run(&portable, want)
		if !sameBits(got, want) {
			t.Errorf("%s: %v, the portable loop has %v", what, got, want)
		}
	}
	for _, n := range []int{1, 3, 7, 8, 15, 16, 31, 32, 33, 70, 130} {
		a, b, c, e := normal(random, n*n), normal(random, n*n), normal(random, n*n), normal(random, n*n)
		for k, v := range c { // second moments of Adam
			e[k] = v * v
		}
		k := 5*n + 1 // more than the depth of a block for large n
		left, right := normal(random, n*k), normal(random, n*k)
		compare(fmt.Sprintf("gemm %d", n), c, func(s *implementation, results []float32) {
			gemm(s, Rows(results, n), Rows(left, k), Rows(right, n), n, n, k, true)
		})
		for _, centres := range []int{1, 5, 8, 9, 40} {
			x, y := points(left, n, k), points(normal(random, centres*k), centres, k)
			compare(fmt.Sprintf("nearest %d of %d", n, centres), make([]float32, 2*n),
				func(s *implementation, results []float32) {
					nearest := make([]int32, n)
					s.nearest(nearest, results[:n], x, y, k)
					for i, j := range nearest {
						results[n+i] = float32(j)
					}
				})
		}
		indptr, indices := sparse(random, n, 9)
		plain := Sparse{Indptr: indptr, Indices: indices}
		full := plain
		full.Weights, full.Left, full.Right, full.Self = normal(random, len(indices)+1), normal(random, n),
			normal(random, n), 0.7
		rows, position := []int32{int32(n - 1), 0, int32(n / 2)}, make([]int32, n)
		for i := range position {
			position[i] = int32(n - 1 - i)
		}
		for name, m := range map[string]Sparse{"plain": plain, "full": full} {
			for d := 1; d <= n; d++ {
				compare(fmt.Sprintf("gather %s, %d of %d columns", name, d, n), c,
					func(s *implementation, results []float32) {
						gathering{dst: Rows(results, n), s: m, lo: n / 3, count: n - n/3, x: Rows(a, n), d: d}.by(s.gather)
					})
			}
			compare(fmt.Sprintf("gather rows, %s, %d", name, n), make([]float32, 3*n),
				func(s *implementation, results []float32) {
					gathering{dst: Rows(results, n), s: m, rows: rows, count: 3, position: position, x: Rows(a, n), d: n}.by(s.gather)
				})
		}
		if n%16 == 0 {
			compare(fmt.Sprintf("gather sum %d", n), c, func(s *implementation, results []float32) {
				sums[float32]{Rows(results, n), indptr, indices, nil, full.Left, a, n, n}.by(s.gatherSum)
			})
		}
		for _, loop := range loops {
			compare(fmt.Sprintf("%s %d", loop.name, n), c[:n], func(s *implementation, results []float32) {
				loop.run(s, results, [][]float32{a[:n], b[:n]})
			})
		}
		compare(fmt.Sprintf("dot %d", n), []float32{0}, func(s *implementation, results []float32) {
			results[0] = s.dot(a[:n], b[:n])
		})
		compare(fmt.Sprintf("accumulate %d", n), make([]float32, n), func(s *implementation, results []float32) {
			sum := make([]float64, n)
			for range 3 {
				s.accumulate(sum, math.Pi, a[:n])
			}
			for i, v := range sum {
				results[i] = float32(v)
			}
		})
		compare(fmt.Sprintf("adam %d", n), a, func(s *implementation, results []float32) {
			first, second := slices.Clone(c), slices.Clone(e)
			for step := range 3 {
				s.adam(results, b, first, second, newAdamStep(Adam{
					Rate: .1, B1: .9, B2: .99, Epsilon: 1e-8, Decay: .1, Step: step + 1,
				}))
			}
		})
	}
}

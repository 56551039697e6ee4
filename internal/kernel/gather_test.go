package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sparse returns a CSR matrix of n rows with 0 to most entries each. Every third row is empty.
func sparse(random *rand.Rand, n, most int) (indptr []int64, indices []int32) {
	indptr = []int64{0}
	for i := range n {
		if i%3 != 1 {
			for range random.IntN(most + 1) {
				indices = append(indices, int32(random.IntN(n)))
			}
		}
		indptr = append(indptr, int64(len(indices)))
	}
	return indptr, indices
}

// gathered computes row i of m·x by definition.
func gathered(i int, m Sparse, x []float32, d int) []float32 {
	one := func(v []float32, i int) float64 {
		if v == nil {
			return 1
		}
		return float64(v[i])
	}
	sum := make([]float64, d)
	for e := int(m.Indptr[i]); e < int(m.Indptr[i+1]); e++ {
		j := int(m.Indices[e])
		for k := range sum {
			sum[k] += one(m.Weights, e) * one(m.Right, j) * float64(x[j*d+k])
		}
	}
	out := make([]float32, d)
	for k := range out {
		out[k] = float32(one(m.Left, i) * (sum[k] + float64(m.Self)*one(m.Right, i)*float64(x[i*d+k])))
	}
	return out
}

func TestGatherIsTheSparseProduct(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		n := 40
		widths := []int{112, 224, 225, 256, 257, 300, 513}
		for d := range 67 {
			widths = append(widths, d)
		}
		for _, d := range widths {
			for variant := range 16 {
				most := []int{3, 40}[d%2] // below and above the prefetch distance
				m := Sparse{Self: float32(variant&8) / 4}
				m.Indptr, m.Indices = sparse(random, n, most)
				if variant&1 != 0 {
					m.Weights = whole(random, len(m.Indices))
				}
				if variant&2 != 0 {
					m.Left = whole(random, n)
				}
				if variant&4 != 0 {
					m.Right = whole(random, n)
				}
				what := fmt.Sprintf("d=%d weights=%t left=%t right=%t self=%g", d, m.Weights != nil, m.Left != nil, m.Right != nil,
					m.Self)
				xv := whole(random, n*d)
				x, checkX := matrix(xv, n, d, d+5)
				lo, hi := variant%5, n-variant%7
				dst, check := anything(hi-lo, d, d+3)
				gathering{dst: Rows(dst, d+3), s: m, lo: lo, count: hi - lo, x: Rows(x, d+5), d: d}.by(s.gather)
				for i := lo; i < hi; i++ {
					want := gathered(i, m, xv, d)
					if got := dst[(i-lo)*(d+3):][:d]; !slices.Equal(got, want) {
						t.Fatalf("%s: row %d is %v, want %v", what, i, got, want)
					}
				}
				check(t, what)
				checkX(t, what)

				// A list of rows with repeats, and data at other positions, give the same values.
				rows := []int32{39, 0, 0, 1, 7, 4, 22, 23, 1}
				position := make([]int32, n)
				moved := make([]float32, len(xv))
				for i, p := range random.Perm(n) {
					position[i] = int32(p)
					copy(moved[p*d:][:d], xv[i*d:][:d])
				}
				dst, check = matrix(make([]float32, len(rows)*d), len(rows), d, d+3)
				listed := gathering{dst: Rows(dst, d+3), s: m, rows: rows, count: len(rows), position: position}
				listed.x, listed.d = Rows(moved, d), d
				listed.by(s.gather)
				for r, i := range rows {
					want := gathered(int(i), m, xv, d)
					if got := dst[r*(d+3):][:d]; !slices.Equal(got, want) {
						t.Fatalf("%s: listed row %d is %v, want %v", what, i, got, want)
					}
				}
				check(t, what)
			}
		}
	})
}

// TestGatherRowsNeedsOnlyTouchedPositions checks that nodes that no listed row refers to may have any position, because
// their data are never read.
func TestGatherRowsNeedsOnlyTouchedPositions(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		dst := []float32{nan}
		gathering{
			dst: Rows(dst, 1), s: Sparse{Indptr: []int64{0, 2, 4, 6}, Indices: []int32{1, 2, 0, 2, 0, 1}}, rows: []int32{0},
			count: 1, position: []int32{math.MinInt32, 0, 1}, x: Rows([]float32{1, 2}, 1), d: 1, // the data of nodes 1 and 2
		}.by(s.gather)
		if dst[0] != 3 {
			t.Errorf("got %g, want 3", dst[0])
		}
	})
}

func TestGatherSplitChangesNoBit(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		n, d := 100, 301
		m := Sparse{Self: 0.3}
		m.Indptr, m.Indices = sparse(random, n, 30)
		m.Weights, m.Left, m.Right = normal(random, len(m.Indices)), normal(random, n), normal(random, n)
		x := normal(random, n*d)
		all, split := make([]float32, n*d), make([]float32, n*d)
		gathering{dst: Rows(all, d), s: m, count: n, x: Rows(x, d), d: d}.by(s.gather)
		for lo, step := 0, 1; lo < n; lo, step = lo+step, step+3 {
			for j := 0; j < d; j += 50 {
				part := gathering{dst: Rows(split[lo*d+j:], d), s: m, lo: lo, count: min(step, n-lo), x: Rows(x[j:], d)}
				part.d = min(50, d-j)
				part.by(s.gather)
			}
		}
		if !sameBits(all, split) {
			t.Errorf("splitting changes element %d", firstDifference(all, split, 0))
		}
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = int32(i)
		}
		gathering{dst: Rows(split, d), s: m, rows: rows, count: n, x: Rows(x, d), d: d}.by(s.gather)
		if !sameBits(all, split) {
			t.Errorf("a list of the rows changes element %d", firstDifference(all, split, 0))
		}
		// Sums of at most 31 terms, each a product of four normal values: a few hundred at most, with relative error 33·2⁻²⁴.
		for i := range n {
			want := gathered(i, m, x, d)
			if k := firstDifference(all[i*d:][:d], want, 1e-3); k >= 0 {
				t.Fatalf("row %d, column %d is %g, want %g", i, k, all[i*d+k], want[k])
			}
		}
	})
}

// summed checks sums of rows of d columns, for every multiple d of 16 up to most, few and many edges, and several
// ranges of rows. Values between and after the rows of dst must not change. sum sets dst, whose rows are d+5 apart, to
// the sums of rows lo to hi−1 of m, scaled by m.Left, and returns the expected sums.
func summed(t *testing.T, most int, numbers func(*rand.Rand, int) []float32,
	rows func(random *rand.Rand, n, d int) (sum func(dst Block, m Sparse, lo, hi int) (want []float32))) {
	random := source()
	const n = 50
	for d := 0; d <= most; d += 16 {
		for _, edges := range []int{0, 1, 3, 200} { // below and above the prefetch distance
			var m Sparse
			m.Indptr, m.Indices = sparse(random, n, edges)
			m.Left, m.Weights = numbers(random, n), numbers(random, len(m.Indices))
			sum := rows(random, n, d)
			for _, part := range [][2]int{{0, n}, {7, n - 9}, {1, 2}, {20, 20}} { // row 1 is empty
				lo, hi := part[0], part[1]
				what := fmt.Sprintf("d=%d, rows %d to %d of up to %d edges", d, lo, hi, edges)
				dst, check := anything(hi-lo, d, d+5)
				want := sum(Rows(dst, d+5), m, lo, hi)
				if got := dense(dst, hi-lo, d, d+5); !slices.Equal(got, want) {
					t.Fatalf("%s: sums %v, want %v", what, got, want)
				}
				check(t, what)
			}
		}
	}
}

// rowsOf returns rows lo to hi−1 of the product of m with x by definition.
func rowsOf(m Sparse, x []float32, d, lo, hi int) (all []float32) {
	for i := lo; i < hi; i++ {
		all = append(all, gathered(i, m, x, d)...)
	}
	return all
}

// TestGatherHalfIsTheSparseProduct checks that sums of float16 numbers equal sums of the same numbers in float32. With
// integers, the sums are exact. NaNs after the rows of x must not be read.
func TestGatherHalfIsTheSparseProduct(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		for _, gap := range []int{0, 16, 7} { // rows that begin on cache lines, on half cache lines, or anywhere
			for _, weighted := range []bool{false, true} {
				summed(t, 144, whole, func(random *rand.Rand, n, d int) func(dst Block, m Sparse, lo, hi int) []float32 {
					xv, halves := whole(random, n*d), slices.Repeat([]uint16{0x7e00}, n*(d+gap)+1)
					for i := range n {
						NarrowFloat16(halves[i*(d+gap):][:d], xv[i*d:][:d])
					}
					return func(dst Block, m Sparse, lo, hi int) []float32 {
						if !weighted {
							m.Weights = nil
						}
						entries := m.Indices[:m.Indptr[hi]]
						sums[uint16]{dst, m.Indptr[lo : hi+1], entries, m.Weights, m.Left[lo:hi], halves, d + gap, d}.by(s.gatherHalf)
						return rowsOf(m, xv, d, lo, hi)
					}
				})
			}
		}
	})
}

// TestGatherHalfOfSetsIsTheSame checks that, without weights, all sets give the same bits, because they sum in the same
// order and round in the same way. With weights, the portable set also rounds each product, so only the other sets
// agree.
func TestGatherHalfOfSetsIsTheSame(t *testing.T) {
	random := source()
	const n, d = 60, 112
	indptr, indices := sparse(random, n, 70)
	scale, weights, halves := normal(random, n), normal(random, len(indices)), make([]uint16, n*d)
	NarrowFloat16(halves, normal(random, n*d))
	best := available()[0]
	sum := func(s *implementation, weights []float32) []float32 {
		dst := make([]float32, n*d)
		sums[uint16]{Rows(dst, d), indptr, indices, weights, scale, halves, d, d}.by(s.gatherHalf)
		return dst
	}
	for _, s := range available() {
		if !sameBits(sum(s, nil), sum(&portable, nil)) {
			t.Errorf("%s: sums differ from the portable ones", s.name)
		}
		// Sums of at most 70 terms, each a product of three normal values: a hundred at most, with relative error 72·2⁻²⁴.
		if k := firstDifference(sum(s, weights), sum(&portable, weights), 1e-3); k >= 0 {
			t.Errorf("%s: weighted sum %d differs from the portable one", s.name, k)
		}
		if s != &portable && !sameBits(sum(s, weights), sum(best, weights)) {
			t.Errorf("%s: weighted sums differ from those of %s", s.name, best.name)
		}
	}
}

// TestGatherFactoredIsGatherSum checks that sums of factored rows are bit-identical to sums of rows multiplied in
// advance.
func TestGatherFactoredIsGatherSum(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		summed(t, 64, normal, func(random *rand.Rand, n, d int) func(dst Block, m Sparse, lo, hi int) []float32 {
			stride := FactoredStride(d)
			xv, x, halves := normal(random, n*d), make([]uint16, n*stride), make([]uint16, d)
			for i, f := range normal(random, n) {
				row := xv[i*d:][:d]
				NarrowFloat16(halves, row)
				WidenFloat16(row, halves)
				PutFactored(x[i*stride:][:stride], f, row)
				Scale(row, f, row)
			}
			return func(dst Block, m Sparse, lo, hi int) []float32 {
				want := make([]float32, (hi-lo)*d)
				pointers, entries, left := m.Indptr[lo:hi+1], m.Indices[:m.Indptr[hi]], m.Left[lo:hi]
				sums[float32]{Rows(want, d), pointers, entries, nil, left, xv, d, d}.by(s.gatherSum)
				sums[uint16]{dst, pointers, entries, nil, left, x, stride, d}.by(s.factored)
				return want
			}
		})
	})
}

func TestGatherSumIsGather(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		summed(t, 144, whole, func(random *rand.Rand, n, d int) func(dst Block, m Sparse, lo, hi int) []float32 {
			xv := whole(random, n*d)
			x, checkX := matrix(xv, n, d, d+16)
			return func(dst Block, m Sparse, lo, hi int) []float32 {
				m.Weights = nil
				sums[float32]{dst, m.Indptr[lo : hi+1], m.Indices[:m.Indptr[hi]], nil, m.Left[lo:hi], x, d + 16, d}.by(s.gatherSum)
				checkX(t, "x")
				return rowsOf(m, xv, d, lo, hi)
			}
		})
	})
}

package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/kernel"
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

// gathered computes row i by definition.
func gathered(i int, indptr []int64, indices []int32, weights, left, right []float32, self float32, x []float32,
	d int) []float32 {
	one := func(v []float32, i int) float64 {
		if v == nil {
			return 1
		}
		return float64(v[i])
	}
	sum := make([]float64, d)
	for e := int(indptr[i]); e < int(indptr[i+1]); e++ {
		j := int(indices[e])
		for k := range sum {
			sum[k] += one(weights, e) * one(right, j) * float64(x[j*d+k])
		}
	}
	out := make([]float32, d)
	for k := range out {
		out[k] = float32(one(left, i) * (sum[k] + float64(self)*one(right, i)*float64(x[i*d+k])))
	}
	return out
}

func TestGatherIsTheSparseProduct(t *testing.T) {
	each(t, func(t *testing.T, s kernel.Set) {
		random := source()
		n := 40
		widths := []int{112, 224, 225, 256, 257, 300, 513}
		for d := range 67 {
			widths = append(widths, d)
		}
		for _, d := range widths {
			for variant := range 16 {
				most := []int{3, 40}[d%2] // below and above the prefetch distance
				indptr, indices := sparse(random, n, most)
				var weights, left, right []float32
				if variant&1 != 0 {
					weights = whole(random, len(indices))
				}
				if variant&2 != 0 {
					left = whole(random, n)
				}
				if variant&4 != 0 {
					right = whole(random, n)
				}
				self := float32(variant&8) / 4
				what := fmt.Sprintf("d=%d weights=%t left=%t right=%t self=%g", d, weights != nil, left != nil, right != nil, self)
				xv := whole(random, n*d)
				x, checkX := matrix(xv, n, d, d+5)
				lo, hi := variant%5, n-variant%7
				dst, check := matrix(make([]float32, (hi-lo)*d), hi-lo, d, d+3)
				for i := range dst {
					dst[i] = nan // arbitrary old content
				}
				s.Gather(kernel.Rows(dst, d+3), kernel.Sparse{Indptr: indptr, Indices: indices, Weights: weights, Left: left,
					Right: right, Self: self}, lo, hi, kernel.Rows(x, d+5), d)
				for i := lo; i < hi; i++ {
					want := gathered(i, indptr, indices, weights, left, right, self, xv, d)
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
				s.GatherRows(kernel.Rows(dst, d+3), kernel.Sparse{Indptr: indptr, Indices: indices, Weights: weights, Left: left,
					Right: right, Self: self}, rows, position, kernel.Rows(moved, d), d)
				for r, i := range rows {
					want := gathered(int(i), indptr, indices, weights, left, right, self, xv, d)
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
	each(t, func(t *testing.T, s kernel.Set) {
		indptr, indices := []int64{0, 2, 4, 6}, []int32{1, 2, 0, 2, 0, 1}
		x := []float32{1, 2} // the data of nodes 1 and 2
		dst := []float32{nan}
		s.GatherRows(kernel.Rows(dst, 1), kernel.Sparse{Indptr: indptr, Indices: indices}, []int32{0},
			[]int32{math.MinInt32, 0, 1}, kernel.Rows(x, 1), 1)
		if dst[0] != 3 {
			t.Errorf("got %g, want 3", dst[0])
		}
	})
}

func TestGatherSplitChangesNoBit(t *testing.T) {
	each(t, func(t *testing.T, s kernel.Set) {
		random := source()
		n, d := 100, 301
		indptr, indices := sparse(random, n, 30)
		weights, left, right, x := normal(random, len(indices)), normal(random, n), normal(random, n), normal(random, n*d)
		all := make([]float32, n*d)
		s.Gather(kernel.Rows(all, d), kernel.Sparse{Indptr: indptr, Indices: indices, Weights: weights, Left: left,
			Right: right, Self: 0.3}, 0, n, kernel.Rows(x, d), d)
		split := make([]float32, n*d)
		for lo, step := 0, 1; lo < n; lo, step = lo+step, step+3 {
			hi := min(lo+step, n)
			for j := 0; j < d; j += 50 {
				s.Gather(kernel.Rows(split[lo*d+j:], d), kernel.Sparse{Indptr: indptr, Indices: indices, Weights: weights,
					Left: left, Right: right, Self: 0.3}, lo, hi, kernel.Rows(x[j:], d), min(50, d-j))
			}
		}
		if !sameBits(all, split) {
			t.Errorf("splitting changes element %d", firstDifference(all, split, 0))
		}
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = int32(i)
		}
		s.GatherRows(kernel.Rows(split, d), kernel.Sparse{Indptr: indptr, Indices: indices, Weights: weights, Left: left,
			Right: right, Self: 0.3}, rows, nil, kernel.Rows(x, d), d)
		if !sameBits(all, split) {
			t.Errorf("a list of the rows changes element %d", firstDifference(all, split, 0))
		}
		// Sums of at most 31 terms, each a product of four normal values: a few hundred at most, with relative error 33·2⁻²⁴.
		for i := range n {
			want := gathered(i, indptr, indices, weights, left, right, 0.3, x, d)
			if k := firstDifference(all[i*d:][:d], want, 1e-3); k >= 0 {
				t.Fatalf("row %d, column %d is %g, want %g", i, k, all[i*d+k], want[k])
			}
		}
	})
}

// TestGatherHalfIsTheSparseProduct checks that sums of float16 equal those of the same numbers in float32, for every
// width and every first row. With integers, the sums are exact. NaNs after the rows of x must not be read, and values
// between and after the rows of dst must not change.
func TestGatherHalfIsTheSparseProduct(t *testing.T) {
	each(t, func(t *testing.T, s kernel.Set) {
		random := source()
		const n = 50
		for d := 0; d <= 144; d += 16 {
			for _, gap := range []int{0, 16, 7} { // rows that begin on cache lines, on half cache lines, or anywhere
				for _, most := range []int{0, 1, 3, 200} { // below and above the prefetch distance
					indptr, indices := sparse(random, n, most)
					scale, weights, xv := whole(random, n), whole(random, len(indices)), whole(random, n*d)
					halves := slices.Repeat([]uint16{0x7e00}, n*(d+gap)+1)
					for i := range n {
						kernel.NarrowFloat16(halves[i*(d+gap):][:d], xv[i*d:][:d])
					}
					x := kernel.Halves{Data: halves, Stride: d + gap}
					for variant, rows := range [][2]int{{0, n}, {7, n - 9}, {1, 2}, {20, 20}, {0, n}, {7, n - 9}} { // row 1 is empty
						lo, hi := rows[0], rows[1]
						var w []float32
						if variant > 2 {
							w = weights
						}
						what := fmt.Sprintf("d=%d, gap %d, rows %d to %d of up to %d edges, weights %t", d, gap, lo, hi, most,
							w != nil)
						dst, check := matrix(make([]float32, (hi-lo)*d), hi-lo, d, d+5)
						for i := range dst {
							dst[i] = nan // arbitrary old content
						}
						s.GatherHalf(kernel.Rows(dst, d+5), indptr[lo:hi+1], indices[:indptr[hi]], w, scale[lo:hi], x, d)
						for i := lo; i < hi; i++ {
							want := gathered(i, indptr, indices, w, scale, nil, 0, xv, d)
							if got := dst[(i-lo)*(d+5):][:d]; !slices.Equal(got, want) {
								t.Fatalf("%s: row %d is %v, want %v", what, i, got, want)
							}
						}
						check(t, what)
					}
				}
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
	kernel.NarrowFloat16(halves, normal(random, n*d))
	sets := kernel.Available()
	sums := func(s kernel.Set, weights []float32) []float32 {
		dst := make([]float32, n*d)
		s.GatherHalf(kernel.Rows(dst, d), indptr, indices, weights, scale, kernel.Halves{Data: halves, Stride: d}, d)
		return dst
	}
	portable := sets[len(sets)-1]
	for _, s := range sets {
		if !sameBits(sums(s, nil), sums(portable, nil)) {
			t.Errorf("%s: sums differ from the portable ones", s.Name())
		}
		// Sums of at most 70 terms, each a product of three normal values: a hundred at most, with relative error 72·2⁻²⁴.
		if k := firstDifference(sums(s, weights), sums(portable, weights), 1e-3); k >= 0 {
			t.Errorf("%s: weighted sum %d differs from the portable one", s.Name(), k)
		}
		if s != portable && !sameBits(sums(s, weights), sums(sets[0], weights)) {
			t.Errorf("%s: weighted sums differ from those of %s", s.Name(), sets[0].Name())
		}
	}
}

// TestGatherFactoredIsGatherSum checks that sums of factored rows have the bits of sums of rows multiplied in advance,
// for every width and every first row. Values between and after the rows of dst must not change.
func TestGatherFactoredIsGatherSum(t *testing.T) {
	each(t, func(t *testing.T, s kernel.Set) {
		random := source()
		const n = 50
		for d := 16; d <= 64; d += 16 {
			for _, most := range []int{0, 1, 3, 200} { // below and above the prefetch distance
				indptr, indices := sparse(random, n, most)
				scale, factors, xv := normal(random, n), normal(random, n), normal(random, n*d)
				stride := kernel.FactoredStride(d)
				x := kernel.Halves{Data: make([]uint16, n*stride), Stride: stride}
				for i, f := range factors {
					row := xv[i*d:][:d]
					halves := make([]uint16, d)
					kernel.NarrowFloat16(halves, row)
					kernel.WidenFloat16(row, halves)
					kernel.PutFactored(x.Data[i*stride:][:stride], f, row)
					kernel.Scale(row, f, row)
				}
				for _, rows := range [][2]int{{0, n}, {7, n - 9}, {1, 2}, {20, 20}} { // row 1 is empty
					lo, hi := rows[0], rows[1]
					what := fmt.Sprintf("d=%d, rows %d to %d of up to %d edges", d, lo, hi, most)
					dst, check := matrix(make([]float32, (hi-lo)*d), hi-lo, d, d+5)
					for i := range dst {
						dst[i] = nan // arbitrary old content
					}
					want := make([]float32, (hi-lo)*d)
					pointers, entries, left := indptr[lo:hi+1], indices[:indptr[hi]], scale[lo:hi]
					s.GatherSum(kernel.Rows(want, d), pointers, entries, left, kernel.Rows(xv, d), d)
					s.GatherFactored(kernel.Rows(dst, d+5), pointers, entries, left, x, d)
					for i := range hi - lo {
						if got := dst[i*(d+5):][:d]; !sameBits(got, want[i*d:][:d]) {
							t.Fatalf("%s: row %d is %v, want %v", what, lo+i, got, want[i*d:][:d])
						}
					}
					check(t, what)
				}
			}
		}
	})
}

func TestGatherSumIsGather(t *testing.T) {
	each(t, func(t *testing.T, s kernel.Set) {
		random := source()
		const n = 50
		for d := 0; d <= 144; d += 16 {
			for _, most := range []int{0, 1, 3, 200} { // below and above the prefetch distance
				indptr, indices := sparse(random, n, most)
				scale, xv := whole(random, n), whole(random, n*d)
				x, checkX := matrix(xv, n, d, d+16)
				for _, rows := range [][2]int{{0, n}, {7, n - 9}, {1, 2}, {20, 20}} { // row 1 is empty
					lo, hi := rows[0], rows[1]
					what := fmt.Sprintf("d=%d, rows %d to %d of up to %d edges", d, lo, hi, most)
					dst, check := matrix(make([]float32, (hi-lo)*d), hi-lo, d, d+5)
					for i := range dst {
						dst[i] = nan // arbitrary old content
					}
					s.GatherSum(kernel.Rows(dst, d+5), indptr[lo:hi+1], indices[:indptr[hi]], scale[lo:hi], kernel.Rows(x, d+16), d)
					for i := lo; i < hi; i++ {
						want := gathered(i, indptr, indices, nil, scale, nil, 0, xv, d)
						if got := dst[(i-lo)*(d+5):][:d]; !slices.Equal(got, want) {
							t.Fatalf("%s: row %d is %v, want %v", what, i, got, want)
						}
					}
					check(t, what)
					checkX(t, what)
				}
			}
		}
	})
}

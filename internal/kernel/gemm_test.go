package kernel

import (
	"fmt"
	"testing"
)

// definition returns the product: C (+)= A·B with all three dense and untransposed.
func definition(c, a, b []float32, m, n, k int, accumulate bool) []float32 {
	out := make([]float32, m*n)
	for i := range m {
		for j := range n {
			var s float64
			if accumulate {
				s = float64(c[i*n+j])
			}
			for p := range k {
				s += float64(a[i*k+p]) * float64(b[p*n+j])
			}
			out[i*n+j] = float32(s)
		}
	}
	return out
}

func gemm(s *implementation, c, a, b Block, m, n, k int, accumulate bool) {
	s.gemm(product{c: c, a: a, b: b, m: m, n: n, k: k, accumulate: accumulate, above: m})
}

func transposed(x []float32, rows, columns int) []float32 {
	out := make([]float32, len(x))
	for i := range rows {
		for j := range columns {
			out[j*rows+i] = x[i*columns+j]
		}
	}
	return out
}

func TestGemmIsTheProduct(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		rows, columns := s.rows, s.columns
		var shapes [][3]int
		for m := range rows + 2 {
			for _, n := range []int{1, columns/2 - 1, columns / 2, columns/2 + 1, columns - 1, columns, columns + 1,
				2*columns + 3} {
				shapes = append(shapes, [3]int{m, n, 5})
			}
		}
		for n := range columns + 2 {
			shapes = append(shapes, [3]int{rows + 1, n, 3})
		}
		for _, k := range []int{0, 1, 2, 3, 4, 7, 8, 9, s.depth - 1, s.depth, s.depth + 1, 2*s.depth + 1} {
			shapes = append(shapes, [3]int{2*rows + 1, columns + 1, k})
		}
		shapes = append(shapes, [3]int{s.height - 1, 5, 4}, [3]int{s.height + 1, 5, 4}, [3]int{3, s.width + 1, 4},
			[3]int{20, 20, 20},
			[3]int{509, 2*columns + 1, 5}) // with a gap of three values, columns of a transposed A are 512 apart
		for _, shape := range shapes {
			m, n, k := shape[0], shape[1], shape[2]
			for variant := range 8 {
				transA, transB, accumulate := variant&1 != 0, variant&2 != 0, variant&4 != 0
				what := fmt.Sprintf("m=%d n=%d k=%d transA=%t transB=%t accumulate=%t", m, n, k, transA, transB, accumulate)
				av, bv, cv := whole(random, m*k), whole(random, k*n), whole(random, m*n)
				want := definition(cv, av, bv, m, n, k, accumulate)
				ar, ac := m, k
				if transA {
					av, ar, ac = transposed(av, m, k), k, m
				}
				br, bc := k, n
				if transB {
					bv, br, bc = transposed(bv, k, n), n, k
				}
				a, checkA := matrix(av, ar, ac, ac+3)
				b, checkB := matrix(bv, br, bc, bc+1)
				c, checkC := matrix(cv, m, n, n+2)
				gemm(s, Rows(c, n+2), Block{Data: a, Stride: ac + 3, Transposed: transA},
					Block{Data: b, Stride: bc + 1, Transposed: transB}, m, n, k, accumulate)
				if got := dense(c, m, n, n+2); !sameBits(got, want) {
					i := firstDifference(got, want, 0)
					t.Fatalf("%s: element (%d,%d) is %g, want %g", what, i/max(n, 1), i%max(n, 1), got[i], want[i])
				}
				checkA(t, what)
				checkB(t, what)
				checkC(t, what)
				if !sameBits(dense(a, ar, ac, ac+3), av) || !sameBits(dense(b, br, bc, bc+1), bv) {
					t.Fatalf("%s: an input has changed", what)
				}
			}
		}
	})
}

func TestGemmSplitChangesNoBit(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		m, n, k := 2*s.height+5, 77, s.depth+90
		for variant := range 4 {
			transA, transB := variant&1 != 0, variant&2 != 0
			a, b := normal(random, m*k), normal(random, k*n)
			lda, ldb := k, n
			if transA {
				lda = m
			}
			if transB {
				ldb = k
			}
			all := make([]float32, m*n)
			gemm(s, Rows(all, n), Block{Data: a, Stride: lda, Transposed: transA},
				Block{Data: b, Stride: ldb, Transposed: transB}, m, n, k, false)
			split := make([]float32, m*n)
			for i0, step := 0, 1; i0 < m; i0, step = i0+step, step*2+1 {
				rows := min(step, m-i0)
				for j0 := 0; j0 < n; j0 += 19 {
					a0, b0 := a[min(i0*k, len(a)):], b[j0:]
					if transA {
						a0 = a[i0:]
					}
					if transB {
						b0 = b[j0*k:]
					}
					gemm(s, Rows(split[i0*n+j0:], n), Block{Data: a0, Stride: lda, Transposed: transA},
						Block{Data: b0, Stride: ldb, Transposed: transB}, rows, min(19, n-j0), k, false)
				}
			}
			if !sameBits(all, split) {
				t.Errorf("transA=%t transB=%t: splitting changes element %d", transA, transB, firstDifference(all, split, 0))
			}
			if variant > 0 {
				continue
			}
			// Each of about 500 additions rounds a partial sum of about √500, an error of at most 1.3e-6. The errors are
			// independent, so their sum is about √500 times as large, 3e-5.
			want := definition(nil, a, b, m, n, k, false)
			if i := firstDifference(all, want, 1e-4); i >= 0 {
				t.Errorf("element %d is %g, want %g", i, all[i], want[i])
			}
		}
	})
}

func TestGramIsSymmetricProduct(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		_, columns := s.rows, s.columns
		for _, n := range []int{0, 1, 5, s.depth + 3} {
			for _, d := range []int{0, 1, 5, columns - 1, columns, columns + 1, 3*columns + 7, s.height + 2,
				2*s.height + 3} {
				for _, accumulate := range []bool{false, true} {
					what := fmt.Sprintf("n=%d d=%d accumulate=%t", n, d, accumulate)
					xv, gv := whole(random, n*d), whole(random, d*d)
					for i := range d {
						for j := range i {
							gv[i*d+j] = gv[j*d+i]
						}
					}
					want := definition(gv, transposed(xv, n, d), xv, d, d, n, accumulate)
					for i := range d {
						for j := range i {
							gv[i*d+j] = nan // never read
						}
					}
					x, checkX := matrix(xv, n, d, d+1)
					g, checkG := matrix(gv, d, d, d+2)
					step := []int{50, 1000}[d%2]
					for lo := 0; lo < d; lo += step {
						s.gramRows(Rows(g, d+2), Rows(x, d+1), n, d, lo, min(lo+step, d), accumulate)
					}
					for i := range d { // only the upper triangle is specified
						for j := range i {
							g[i*(d+2)+j] = g[j*(d+2)+i]
						}
					}
					if got := dense(g, d, d, d+2); !sameBits(got, want) {
						t.Fatalf("%s: differs at %d", what, firstDifference(got, want, 0))
					}
					checkX(t, what)
					checkG(t, what)
				}
			}
		}
	})
}

func TestTranspose(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		for rows := range 40 {
			for columns := range 40 {
				xv := normal(random, rows*columns)
				x, _ := matrix(xv, rows, columns, columns+3)
				d, check := matrix(make([]float32, rows*columns), columns, rows, rows+1)
				s.transpose(d, rows+1, x, columns+3, rows, columns)
				if !sameBits(dense(d, columns, rows, rows+1), transposed(xv, rows, columns)) {
					t.Fatalf("%d×%d is not transposed", rows, columns)
				}
				check(t, fmt.Sprintf("%d×%d", rows, columns))
			}
		}
	})
}

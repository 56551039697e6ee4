package kernel

import (
	"fmt"
	"slices"
	"testing"
)

// points returns n points of d coordinates, without gaps, and their norms.
func points(x []float32, n, d int) Points {
	norms := make([]float32, n)
	for i := range norms {
		for _, v := range x[i*d : (i+1)*d] {
			norms[i] += v * v
		}
	}
	return Points{Data: x, Stride: d, N: n, Norms: norms}
}

// closest finds the nearest centres by definition.
func closest(x, centres []float32, n, d, k int) (nearest []int32, dist []float32) {
	for i := range n {
		at, least := int32(-1), 0.0
		for j := range k {
			var sum float64
			for p := range d {
				v := float64(x[i*d+p]) - float64(centres[j*d+p])
				sum += v * v
			}
			if at < 0 || sum < least {
				at, least = int32(j), sum
			}
		}
		nearest, dist = append(nearest, at), append(dist, float32(least))
	}
	return nearest, dist
}

func TestNearest(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		rows, columns := s.rows, s.columns
		for _, n := range []int{0, 1, rows - 1, rows, rows + 1, s.height + 1} {
			for _, k := range []int{1, 2, 4, 5, 8, 9, 15, 16, 17, columns - 1, columns, columns + 1, 2*columns + 3, 100} {
				for _, d := range []int{0, 1, 2, 7, s.depth + 1} {
					what := fmt.Sprintf("n=%d k=%d d=%d", n, k, d)
					xv, cv := whole(random, n*d), whole(random, k*d) // small d gives few distinct values, hence many ties
					x, c := points(xv, n, d), points(cv, k, d)
					var checkX, checkC func(*testing.T, string)
					x.Data, checkX = matrix(xv, n, d, d+3)
					c.Data, checkC = matrix(cv, k, d, d+1)
					x.Stride, c.Stride = d+3, d+1
					dist, checkDist := guarded(make([]float32, n))
					nearest := make([]int32, n)
					s.nearest(nearest, dist, x, c, d)
					wantNearest, wantDist := closest(xv, cv, n, d, k)
					if !slices.Equal(nearest, wantNearest) {
						t.Fatalf("%s: nearest %v, want %v", what, nearest, wantNearest)
					}
					if !slices.Equal(dist, wantDist) {
						t.Fatalf("%s: distances %v, want %v", what, dist, wantDist)
					}
					checkX(t, what)
					checkC(t, what)
					checkDist(t, what)
				}
			}
		}
	})
}

func TestNearestSplitChangesNoBit(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		for _, k := range []int{6, 61} {
			n, d := 2*s.height+7, 33
			x, c := points(normal(random, n*d), n, d), points(normal(random, k*d), k, d)
			nearest, dist := make([]int32, n), make([]float32, n)
			s.nearest(nearest, dist, x, c, d)
			for lo, step := 0, 1; lo < n; lo, step = lo+step, step*2 {
				rows := min(step, n-lo)
				part, partDist := make([]int32, rows), make([]float32, rows)
				some := Points{Data: x.Data[lo*d:], Stride: d, N: rows, Norms: x.Norms[lo:]}
				s.nearest(part, partDist, some, c, d)
				if !slices.Equal(part, nearest[lo:lo+rows]) || !sameBits(partDist, dist[lo:lo+rows]) {
					t.Errorf("rows %d to %d change when split off", lo, lo+rows)
				}
			}
			// Squared distances of about 2·33, whose terms are rounded to a relative 2⁻²⁴ some 33 times.
			_, want := closest(x.Data, c.Data, n, d, k)
			if i := firstDifference(dist, want, 1e-3); i >= 0 {
				t.Errorf("distance %d is %g, want %g", i, dist[i], want[i])
			}
		}
	})
}

func TestNearestOfNaNIsTheFirst(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		nearest, dist := []int32{-1, -1}, make([]float32, 2)
		s.nearest(nearest, dist, Points{Data: []float32{nan, 5}, Stride: 1, N: 2, Norms: []float32{nan, 25}},
			Points{Data: []float32{1, 4, 9}, Stride: 1, N: 3, Norms: []float32{1, 16, 81}}, 1)
		if nearest[0] != 0 || nearest[1] != 1 || dist[1] != 1 {
			t.Errorf("got %v, %v", nearest, dist)
		}
	})
}

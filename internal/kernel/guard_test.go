package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// each runs f for every set of loops that this machine supports.
func each(t *testing.T, f func(t *testing.T, s *implementation)) {
	for _, s := range available() {
		t.Run(s.name, func(t *testing.T) { f(t, s) })
	}
}

func source() *rand.Rand { return rand.New(rand.NewPCG(3, 1)) }

// whole returns n small integers. Sums of a few thousand of their products are exact in float32, in any order.
func whole(random *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(random.IntN(9) - 4)
	}
	return x
}

func normal(random *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(random.NormFloat64())
	}
	return x
}

const guard = 67 // more than the width of any tile

var nan = float32(math.NaN())

// guarded returns a copy of x surrounded by NaNs, and a check that these are unchanged.
func guarded(x []float32) (inside []float32, check func(t *testing.T, what string)) {
	return matrix(x, 1, len(x), len(x))
}

// matrix returns the rows of x (rows×columns) at distance ld, with NaNs between, before and after, and a check that
// these are unchanged.
func matrix(x []float32, rows, columns, ld int) (inside []float32, check func(t *testing.T, what string)) {
	all := make([]float32, rows*ld+2*guard)
	for i := range all {
		all[i] = nan
	}
	inside = all[guard : guard+rows*ld : guard+rows*ld]
	if rows > 0 {
		inside = inside[: (rows-1)*ld+columns : (rows-1)*ld+columns]
	}
	for i := range rows {
		copy(inside[i*ld:], x[i*columns:(i+1)*columns])
	}
	return inside, func(t *testing.T, what string) {
		t.Helper()
		for at, v := range all {
			i := at - guard
			if (i < 0 || i >= rows*ld || i%ld >= columns) && v == v {
				t.Fatalf("%s: value %d outside %d×%d (leading dimension %d) was overwritten", what, i, rows, columns, ld)
			}
		}
	}
}

// anything returns a matrix for results, filled with NaNs, and a check that only its elements are written.
func anything(rows, columns, ld int) (inside []float32, check func(t *testing.T, what string)) {
	return matrix(slices.Repeat([]float32{nan}, rows*columns), rows, columns, ld)
}

// dense is the inverse of matrix.
func dense(x []float32, rows, columns, ld int) []float32 {
	out := make([]float32, 0, rows*columns)
	for i := range rows {
		out = append(out, x[i*ld:][:columns]...)
	}
	return out
}

// sameBits compares with NaN equal to itself.
func sameBits(x, y []float32) bool {
	return slices.EqualFunc(x, y, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
}

// firstDifference returns the first index at which |x−y| > tolerance, or −1.
func firstDifference(x, y []float32, tolerance float64) int {
	for i := range x {
		if !(math.Abs(float64(x[i])-float64(y[i])) <= tolerance) {
			return i
		}
	}
	return -1
}

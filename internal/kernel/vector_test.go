package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// lengths returns lengths around multiples of 8 and 16, the lanes of registers.
func lengths() []int {
	var all []int
	for n := range 70 {
		all = append(all, n)
	}
	return append(all, 127, 128, 129, 1000)
}

// elementwise is a loop over slices of one length, and its definition for one element. The first slice is the
// destination.
type elementwise struct {
	name   string
	inputs int
	run    func(s *implementation, dst []float32, in [][]float32)
	want   func(dst float32, in []float32) float32
	alias  bool // dst may be an input
}

var loops = []elementwise{
	{"axpy", 1, func(s *implementation, dst []float32, in [][]float32) { s.axpy(3, in[0], dst) },
		func(dst float32, in []float32) float32 { return dst + 3*in[0] }, false},
	{"add", 2, func(s *implementation, dst []float32, in [][]float32) { s.add(dst, in[0], in[1]) },
		func(_ float32, in []float32) float32 { return in[0] + in[1] }, true},
	{"mul", 2, func(s *implementation, dst []float32, in [][]float32) { s.mul(dst, in[0], in[1]) },
		func(_ float32, in []float32) float32 { return in[0] * in[1] }, true},
	{"scale", 1, func(s *implementation, dst []float32, in [][]float32) { s.scale(dst, -2, in[0]) },
		func(_ float32, in []float32) float32 { return -2 * in[0] }, true},
	{"relu", 1, func(s *implementation, dst []float32, in [][]float32) { s.relu(dst, in[0]) },
		func(_ float32, in []float32) float32 { return max(0, in[0]) }, true},
	{"reluGrad", 2, func(s *implementation, dst []float32, in [][]float32) { s.reluGrad(dst, in[0], in[1]) },
		func(_ float32, in []float32) float32 {
			if in[1] > 0 {
				return in[0]
			}
			return 0
		}, true},
}

func TestElementwise(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		for _, loop := range loops {
			for _, n := range lengths() {
				what := fmt.Sprintf("%s of %d", loop.name, n)
				before := whole(random, n)
				dst, check := guarded(before)
				var values, in [][]float32
				for range loop.inputs {
					v := whole(random, n)
					g, _ := guarded(v)
					values, in = append(values, v), append(in, g)
				}
				want := make([]float32, n)
				for i := range want {
					var element []float32
					for _, v := range values {
						element = append(element, v[i])
					}
					want[i] = loop.want(before[i], element)
				}
				loop.run(s, dst, in)
				if i := firstDifference(dst, want, 0); i >= 0 {
					t.Fatalf("%s: element %d is %g, want %g", what, i, dst[i], want[i])
				}
				check(t, what)
				for i, v := range values {
					if !sameBits(in[i], v) {
						t.Fatalf("%s: input %d has changed", what, i)
					}
				}
				if loop.alias {
					for i := range in {
						copies := slices.Clone(in)
						copies[i] = slices.Clone(values[i])
						loop.run(s, copies[i], copies)
						if at := firstDifference(copies[i], want, 0); at >= 0 {
							t.Fatalf("%s upon input %d: element %d is %g, want %g", what, i, at, copies[i][at], want[at])
						}
					}
				}
			}
		}
	})
}

// Accumulate sums float32 numbers, times a weight that float32 cannot represent, in float64. With integers of up to 40
// bits, the sums are exact.
func TestAccumulate(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		const w = 1<<30 + 1
		for _, n := range lengths() {
			what := fmt.Sprintf("%d values", n)
			values := whole(random, n)
			x, check := guarded(values)
			all := make([]float64, n+2)
			all[0], all[n+1] = math.NaN(), math.NaN()
			sum := all[1 : n+1 : n+1]
			for i := range sum {
				sum[i] = float64(i)
			}
			s.accumulate(sum, w, x)
			s.accumulate(sum, -1, x)
			for i, v := range values {
				if want := float64(i) + w*float64(v) - float64(v); sum[i] != want {
					t.Fatalf("%s: sum %d is %v, want %v", what, i, sum[i], want)
				}
			}
			if all[0] == all[0] || all[n+1] == all[n+1] {
				t.Fatalf("%s: written beside the sums", what)
			}
			check(t, what)
			if !sameBits(x, values) {
				t.Fatalf("%s: the input has changed", what)
			}
		}
	})
}

func TestReLUOfNaNIsZero(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		x := slices.Repeat([]float32{nan}, 37)
		y, g := slices.Clone(x), slices.Clone(x)
		s.relu(y, y)
		s.reluGrad(g, g, x)
		for i := range x {
			if y[i] != 0 || g[i] != 0 {
				t.Fatalf("element %d is %g, its gradient %g", i, y[i], g[i])
			}
		}
	})
}

func TestDot(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		for _, n := range lengths() {
			xv, yv := whole(random, n), whole(random, n)
			x, _ := guarded(xv)
			y, _ := guarded(yv)
			var want float32
			for i := range xv {
				want += xv[i] * yv[i]
			}
			if got := s.dot(x, y); got != want {
				t.Fatalf("of %d: %g, want %g", n, got, want)
			}
		}
		x, y := normal(random, 10000), normal(random, 10000)
		var want float64
		for i := range x {
			want += float64(x[i]) * float64(y[i])
		}
		// Sums of up to 10000 terms, of size about 100, rounded to a relative 2⁻²⁴ each time and at random: 100·100·2⁻²⁴ ≈
		// 6e-4.
		if got := float64(s.dot(x, y)); math.Abs(got-want) > 2e-3 {
			t.Errorf("of 10000 normal values: %g, want %g", got, want)
		}
	})
}

func TestAdamStep(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		const lr, b1, b2, eps, decay = 0.01, 0.9, 0.999, 1e-8, 5e-4
		for _, n := range lengths() {
			w, checkW := guarded(normal(random, n))
			m, checkM := guarded(make([]float32, n))
			v, checkV := guarded(make([]float32, n))
			w64, m64, v64 := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range w {
				w64[i] = float64(w[i])
			}
			for step := 1; step <= 5; step++ {
				gv := normal(random, n)
				g, _ := guarded(gv)
				s.adam(w, g, m, v, newAdamStep(Adam{Rate: lr, B1: b1, B2: b2, Epsilon: eps, Decay: decay, Step: step}))
				for i := range w64 {
					h := float64(gv[i]) + decay*w64[i]
					m64[i] = b1*m64[i] + (1-b1)*h
					v64[i] = b2*v64[i] + (1-b2)*h*h
					w64[i] -= lr * m64[i] / (1 - math.Pow(b1, float64(step))) / (math.Sqrt(v64[i]/(1-math.Pow(b2, float64(step)))) +
						eps)
					// Each of the five steps has about ten roundings of 2⁻²⁴, on values of about 1.
					if !(math.Abs(float64(w[i])-w64[i]) < 4e-6) {
						t.Fatalf("n=%d step %d: weight %d is %g, want %g", n, step, i, w[i], w64[i])
					}
				}
				if !sameBits(g, gv) {
					t.Fatalf("n=%d: the gradient has changed", n)
				}
			}
			checkW(t, "w")
			checkM(t, "m")
			checkV(t, "v")
		}
	})
}

// exp equals math.Exp bit for bit, for any number.
func TestExp(t *testing.T) {
	random := source()
	special := []float64{
		0, math.Copysign(0, -1), 1, -1, 700, -700, 701, -701, 709.78, 709.79, -745.13, -745.14, math.Inf(1), math.Inf(-1),
		math.NaN(), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0.5 * math.Ln2, -0.5 * math.Ln2,
	}
	each(t, func(t *testing.T, s *implementation) {
		for _, scale := range []float64{1e-9, 1, 40, 1400} {
			for _, blocks := range []int{0, 1, 2, 3, 2000} {
				for i := range special {
					x := make([]float64, blocks*expBlock)
					for i := range x {
						x[i] = scale * (random.Float64() - 0.5)
					}
					if blocks == 1 {
						x[i%expBlock] = special[i]
					}
					got := slices.Clone(x)
					s.exp(got)
					for i, v := range x {
						if want := math.Exp(v); math.Float64bits(got[i]) != math.Float64bits(want) {
							t.Fatalf("exp(%v) is %v, want %v (element %d of %d)", v, got[i], want, i, len(x))
						}
					}
				}
			}
		}
	})
}

// Exp and ExpSum round and add as their definitions do.
func TestExpInParts(t *testing.T) {
	for _, n := range lengths() {
		x, want := normal(source(), n), 0.0
		for _, v := range x {
			want += math.Exp(3 * float64(v-0.5))
		}
		if got := ExpSum(x, 0.5, 3); got != want {
			t.Errorf("sum of %d is %v, want %v", n, got, want)
		}
		dst := make([]float32, n)
		Exp(dst, x)
		for i, v := range x {
			if want := float32(math.Exp(float64(v))); dst[i] != want {
				t.Errorf("exp(%v) is %v, want %v", v, dst[i], want)
			}
		}
	}
}

func TestExpShifted(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		for _, n := range lengths() {
			xv := make([]float32, n)
			for i := range xv {
				xv[i] = float32(i-n/2) * 170 / float32(n) // over the whole range of results
			}
			x, checkX := guarded(xv)
			dst, check := guarded(make([]float32, n))
			sum := s.expShifted(dst, x, 1.5)
			var total float64
			for i, v := range dst {
				want := math.Exp(float64(xv[i] - 1.5))
				total += want
				if !(math.Abs(float64(v)-want) <= want/(1<<22)) { // as documented
					t.Fatalf("n=%d: exp(%g) is %g, want %g", n, xv[i]-1.5, v, want)
				}
			}
			if math.Abs(float64(sum)-total) > total/(1<<18) { // at most 1000 roundings of 2⁻²⁴, mostly of small terms
				t.Fatalf("n=%d: the sum is %g, want %g", n, sum, total)
			}
			check(t, "dst")
			checkX(t, "x")
		}
		infinity := float32(math.Inf(1))
		for _, c := range [][2]float32{{-87.4, 0}, {-1000, 0}, {-infinity, 0}, {88.8, infinity}, {1000, infinity},
			{infinity, infinity}, {0, 1}} {
			for _, n := range []int{1, 40} {
				x := slices.Repeat(c[:1], n)
				s.expShifted(x, x, 0)
				if !slices.Equal(x, slices.Repeat(c[1:], n)) {
					t.Fatalf("exp(%g) is %g, want %g", c[0], x, c[1])
				}
			}
		}
		x := []float32{nan, 0}
		s.expShifted(x, x, 0)
		if x[0] == x[0] || x[1] != 1 {
			t.Errorf("exp of NaN and 0 is %g", x)
		}
	})
}

func TestSoftmax(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		for _, n := range lengths()[1:] {
			for _, offset := range []float32{0, -500, 1e4} { // large values must not overflow
				xv := normal(random, n)
				for i := range xv {
					xv[i] = xv[i]*5 + offset
				}
				top := float64(slices.Max(xv))
				want, sum := make([]float64, n), 0.0
				for i, v := range xv {
					want[i] = math.Exp(float64(v) - top)
					sum += want[i]
				}
				x, check := guarded(xv)
				s.softmax(x)
				for i, v := range x {
					if w := want[i] / sum; math.Abs(float64(v)-w) > w/(1<<17) { // the sum's error dominates; see TestExpShifted
						t.Fatalf("n=%d: element %d is %g, want %g", n, i, v, w)
					}
				}
				check(t, "x")
			}
		}
		x := []float32{float32(math.Inf(-1)), 0, 0}
		s.softmax(x)
		if x[0] != 0 || x[1] != 0.5 || x[2] != 0.5 {
			t.Errorf("softmax of −∞, 0, 0 is %g", x)
		}
	})
}

package kernel

import (
	"math"
	"slices"
	"testing"
)

// all16 returns all 16-bit numbers.
func all16() []uint16 {
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	return all
}

// value returns the value of float16 h by definition.
func value(h uint16) float64 {
	exponent, mantissa := int(h>>10&0x1f), float64(h&0x3ff)
	v := math.Ldexp(1+mantissa/1024, exponent-15)
	switch {
	case exponent == 0:
		v = math.Ldexp(mantissa/1024, -14)
	case exponent == 31 && mantissa == 0:
		v = math.Inf(1)
	case exponent == 31:
		v = math.NaN()
	}
	if h&0x8000 != 0 {
		v = -v
	}
	return v
}

// TestWiden checks that every 16-bit number is widened according to its definition, with the same bits in all sets.
func TestWiden(t *testing.T) {
	all := all16()
	reference, brain := make([]float32, len(all)), make([]float32, len(all))
	portable.widenFloat16(reference, all)
	portable.widenBFloat16(brain, all)
	for h, got := range reference {
		if want := value(uint16(h)); float64(got) != want && !(math.IsNaN(want) && math.IsNaN(float64(got))) ||
			math.Signbit(float64(got)) != (h&0x8000 != 0) {
			t.Fatalf("float16 %#04x is %v, want %v", h, got, want)
		}
		if math.Float32bits(brain[h]) != uint32(h)<<16 {
			t.Fatalf("bfloat16 %#04x is %v", h, brain[h])
		}
	}
	each(t, func(t *testing.T, s *implementation) {
		got := make([]float32, len(all))
		s.widenFloat16(got, all)
		if !sameBits(got, reference) {
			t.Error("float16 differ")
		}
		s.widenBFloat16(got, all)
		if !sameBits(got, brain) {
			t.Error("bfloat16 differ")
		}
	})
}

// TestNarrow checks that numbers are rounded to the nearest float16, ties to even.
func TestNarrow(t *testing.T) {
	var x []float32
	var want []uint16
	add := func(v float64, h uint16) {
		x, want = append(x, float32(v), float32(-v)), append(want, h, h|0x8000)
	}
	for h := uint16(0); h < 0x7c00; h++ {
		v, next := value(h), value(h+1)
		if h == 0x7bff {
			next = 65536 // the value that would follow the largest finite one
		}
		add(v, h)
		add((v+next)/2, h+h&1)
		add(float64(math.Nextafter32(float32((v+next)/2), 0)), h)
		add(float64(math.Nextafter32(float32((v+next)/2), 1e9)), h+1)
	}
	add(math.Inf(1), 0x7c00)
	add(math.MaxFloat32, 0x7c00)
	add(1e-30, 0)
	add(math.SmallestNonzeroFloat32, 0)
	each(t, func(t *testing.T, s *implementation) {
		got := make([]uint16, len(x))
		s.narrowFloat16(got, x)
		for i, h := range got {
			if h != want[i] {
				t.Fatalf("%v becomes %#04x, want %#04x", x[i], h, want[i])
			}
		}
		for _, n := range lengths() {
			short := slices.Repeat([]uint16{0xabcd}, n+1)
			s.narrowFloat16(short[:n], x[5:][:n])
			if !slices.Equal(short[:n], want[5:][:n]) || short[n] != 0xabcd {
				t.Fatalf("%d numbers become %x, want %x and nothing behind them", n, short, want[5:][:n])
			}
		}
		s.narrowFloat16(got[:17], slices.Repeat([]float32{float32(math.NaN())}, 17))
		for i, h := range got[:17] {
			if h&0x7fff <= 0x7c00 {
				t.Fatalf("NaN %d becomes %#04x", i, h)
			}
		}
	})
}

// TestBFloat16 checks that widening and rounding back gives the same number, and that ties go to the even neighbour.
func TestBFloat16(t *testing.T) {
	all := all16()
	wide, again := make([]float32, len(all)), make([]uint16, len(all))
	WidenBFloat16(wide, all)
	NarrowBFloat16(again, wide)
	for i, h := range all {
		nan := h&0x7fff > 0x7f80
		if nan && again[i]&0x7fff <= 0x7f80 || !nan && again[i] != h {
			t.Fatalf("%#04x is %v and becomes %#04x", h, wide[i], again[i])
		}
	}
	for bits, want := range map[uint32]uint16{
		0x3f808000: 0x3f80, 0x3f808001: 0x3f81, 0x3f818000: 0x3f82, 0x3f80ffff: 0x3f81, 0xbf818000: 0xbf82,
		0x7f7f8000: 0x7f80, 0x7f7f7fff: 0x7f7f, 0x7f800001: 0x7fc0, 0: 0, 0x80000000: 0x8000,
	} {
		got := make([]uint16, 1)
		NarrowBFloat16(got, []float32{math.Float32frombits(bits)})
		if got[0] != want {
			t.Errorf("%#08x becomes %#04x, want %#04x", bits, got[0], want)
		}
	}
}

// TestScaledHalves checks that scaled numbers are rounded once for each product and once to float16, for every length
// and position, and that nothing after them is written.
func TestScaledHalves(t *testing.T) {
	random := source()
	const most = 200
	x, factors := normal(random, most), make([]float32, most)
	for k := range factors {
		factors[k] = float32(math.Ldexp(1, random.IntN(60)-30))
	}
	x[3], x[20], x[40] = 0, float32(math.Inf(-1)), 1e-40
	each(t, func(t *testing.T, s *implementation) {
		for _, n := range lengths() {
			for at := range 4 {
				if at+n > most {
					continue
				}
				alpha := float32(random.NormFloat64())
				from, by := x[at:at+n], factors[at:at+n]
				scaled, want := make([]float32, n), make([]uint16, n)
				for k, v := range from {
					scaled[k] = float32(alpha*v) * by[k]
				}
				NarrowFloat16(want, scaled)
				got := slices.Repeat([]uint16{0xabcd}, at+n+1)
				s.narrowScaled(got[at:at+n], alpha, by, from)
				if !slices.Equal(got[at:at+n], want) || got[at+n] != 0xabcd {
					t.Fatalf("%d numbers from %d on become %x, want %x and nothing behind them", n, at, got[at:], want)
				}
				back, check := guarded(make([]float32, n))
				s.widenScaled(back, alpha, by, want)
				for k, h := range want {
					if v := float32(alpha*float32(value(h))) * by[k]; math.Float32bits(back[k]) != math.Float32bits(v) {
						t.Fatalf("of %d numbers, %#04x at %d becomes %v, want %v", n, h, k, back[k], v)
					}
				}
				check(t, "widened")
			}
		}
	})
}

// TestMagnitudes checks that Magnitudes keeps the larger magnitude of each element, for every length and position, NaN
// and infinity included.
func TestMagnitudes(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		for _, n := range lengths() {
			rows, want := normal(random, 5*n), make([]float64, n)
			top, check := guarded(make([]float32, n))
			for r := range 5 {
				row := rows[r*n:][:n]
				s.magnitudes(top, row)
				for k, v := range row {
					want[k] = max(want[k], math.Abs(float64(v)))
				}
			}
			for k := range want {
				if float64(top[k]) != want[k] {
					t.Fatalf("column %d of %d is %v, want %v", k, n, top[k], want[k])
				}
				odd := make([]float32, n)
				odd[k] = float32(math.Inf(-1))
				s.magnitudes(top, odd)
				infinite := math.IsInf(float64(top[k]), 1)
				odd[k] = nan
				s.magnitudes(top, odd)
				s.magnitudes(top, rows[:n])
				if !infinite || top[k] == top[k] {
					t.Fatalf("column %d of %d: infinity or NaN is lost", k, n)
				}
				top[k] = float32(want[k])
			}
			check(t, "magnitudes")
		}
	})
}

func TestLargest(t *testing.T) {
	each(t, func(t *testing.T, s *implementation) {
		random := source()
		for _, n := range lengths() {
			x := whole(random, n)
			for at := range n {
				before := x[at]
				for _, v := range []float64{-1e9, 1e9, math.Inf(-1), math.Inf(1), math.NaN()} {
					x[at] = float32(v)
					if got, want := s.largest(x), math.Float32bits(x[at])&0x7fffffff; got != want {
						t.Fatalf("of %d numbers, %v at %d: %#x, want %#x", n, v, at, got, want)
					}
				}
				x[at] = before
			}
			if n == 0 && s.largest(x) != 0 {
				t.Error("the largest of no numbers is not 0")
			}
		}
	})
	if x := []float32{65504, -65504, 0}; !Within(x, MaxFloat16) || Within(x, 65503) {
		t.Error("a bound on magnitudes does not hold")
	}
	numbers := []float32{0, math.MaxFloat32, float32(math.Inf(1)), nan}
	if none, at := FirstNotFinite(numbers[:2]), FirstNotFinite(numbers); none != -1 || at != 2 {
		t.Errorf("infinity at 2 is found at %d, and without it %d is", at, none)
	}
}

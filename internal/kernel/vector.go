package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

// equal panics unless two vectors have the same length. It is inlined.
func equal(n, m int) {
	if n != m {
		unequal(n, m)
	}
}

func unequal(n, m int) { panic(fmt.Sprintf("kernel: vectors of lengths %d and %d", n, m)) }

// Dot returns Σ x_i·y_i. The order of the sum depends only on the length.
func Dot(x, y []float32) float32 {
	equal(len(y), len(x))
	return best.dot(x, y)
}

// Axpy sets y += alpha·x.
func Axpy(alpha float32, x, y []float32) {
	equal(len(y), len(x))
	best.axpy(alpha, x, y)
}

// Accumulate sets sum += w·x in float64: one step of a sum over many rows.
func Accumulate(sum []float64, w float64, x []float32) {
	equal(len(sum), len(x))
	best.accumulate(sum, w, x)
}

// Prefetch prefetches x without waiting for it. It pays off one or two rows ahead, for rows that are far apart.
func Prefetch(x []float32) { best.prefetch(x) }

// PrefetchAt prefetches the elements of a table at some indices. It reads nothing, so an index out of range does no
// harm.
func PrefetchAt(table []int32, indices []int32) { best.prefetchAt(unsafe.SliceData(table), indices) }

// PrefetchHalves is like Prefetch, for float16.
func PrefetchHalves(x []uint16) {
	best.prefetch(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/2))
}

// ArgMax returns the index of the largest number of x. Ties go to the first.
func ArgMax(x []float32) (at int) {
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}

// Add sets dst = x + y. dst may be x or y.
func Add(dst, x, y []float32) {
	equal(len(dst), len(x))
	equal(len(dst), len(y))
	best.add(dst, x, y)
}

// Mul sets dst = x·y, element by element. dst may be x or y.
func Mul(dst, x, y []float32) {
	equal(len(dst), len(x))
	equal(len(dst), len(y))
	best.mul(dst, x, y)
}

// Scale sets dst = alpha·x. dst may be x.
func Scale(dst []float32, alpha float32, x []float32) {
	equal(len(dst), len(x))
	best.scale(dst, alpha, x)
}

// ReLU sets dst = max(0, x); NaN gives 0. dst may be x.
func ReLU(dst, x []float32) {
	equal(len(dst), len(x))
	best.relu(dst, x)
}

// ReLUGrad sets dst = g where x > 0 and 0 elsewhere. If x is the input or the output of ReLU and g is the gradient
// after ReLU, dst is the gradient before it. dst may be g or x.
func ReLUGrad(dst, g, x []float32) {
	equal(len(dst), len(x))
	equal(len(dst), len(g))
	best.reluGrad(dst, g, x)
}

// Adam holds the parameters of one Adam step.
type Adam struct {
	Rate    float64 // lr
	B1, B2  float64 // decay of the moments, in [0, 1)
	Epsilon float64
	Decay   float64 // weight of the L2 penalty
	Step    int     // t, counted from 1
}

// AdamStep is step t of Adam (Kingma and Ba 2015, algorithm 1) with L2 decay added to the gradient:
//
//	h = g + decay·w;  m = b1·m + (1−b1)·h;  v = b2·v + (1−b2)·h²;  w −= lr·(m/(1−b1ᵗ)) / (√(v/(1−b2ᵗ)) + eps).
//
// w, m and v are changed; g is not.
func AdamStep(w, g, m, v []float32, a Adam) {
	equal(len(w), len(g))
	equal(len(w), len(m))
	equal(len(w), len(v))
	if a.Step < 1 {
		panic(fmt.Sprintf("kernel: step %d of Adam", a.Step))
	}
	best.adam(w, g, m, v, newAdamStep(a))
}

// adamStep holds the coefficients of a step:
//
//	h = g + decay·w;  m = b1·m + c1·h;  v = b2·v + c2·h²;  w −= rate·m / (√v·root + eps).
type adamStep struct {
	decay, b1, c1, b2, c2, rate, root, eps float32
}

func newAdamStep(a Adam) adamStep {
	return adamStep{
		decay: float32(a.Decay),
		b1:    float32(a.B1), c1: float32(1 - a.B1),
		b2: float32(a.B2), c2: float32(1 - a.B2),
		rate: float32(a.Rate / (1 - math.Pow(a.B1, float64(a.Step)))),
		root: float32(1 / math.Sqrt(1-math.Pow(a.B2, float64(a.Step)))),
		eps:  float32(a.Epsilon),
	}
}

func dotGeneric(x, y []float32) float32 {
	var s0, s1, s2, s3 float32
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 {
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s0 += float32(v * y[i])
	}
	return (s0 + s1) + (s2 + s3)
}

func axpyGeneric(alpha float32, x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float32(alpha * v)
	}
}

func accumulateGeneric(sum []float64, w float64, x []float32) {
	sum = sum[:len(x)]
	for i, v := range x {
		sum[i] += float64(w * float64(v))
	}
}

func prefetchGeneric([]float32) {} // portable Go cannot prefetch

func prefetchAtGeneric(*int32, []int32) {}

func addGeneric(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

func mulGeneric(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

func scaleGeneric(dst []float32, alpha float32, x []float32) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = alpha * x[i]
	}
}

// reluGeneric works on bits: choosing between integers needs no branch, which unpredictable signs would make slow.
func reluGeneric(dst, x []float32) {
	x = x[:len(dst)]
	for i, v := range x {
		bits := math.Float32bits(v)
		if !(v > 0) {
			bits = 0
		}
		dst[i] = math.Float32frombits(bits)
	}
}

func reluGradGeneric(dst, g, x []float32) {
	g, x = g[:len(dst)], x[:len(dst)]
	for i, v := range x {
		bits := math.Float32bits(g[i])
		if !(v > 0) {
			bits = 0
		}
		dst[i] = math.Float32frombits(bits)
	}
}

func adamGeneric(w, g, m, v []float32, s adamStep) {
	g, m, v = g[:len(w)], m[:len(w)], v[:len(w)]
	for i, x := range w {
		h := g[i] + float32(s.decay*x)
		m[i] = float32(s.b1*m[i]) + float32(s.c1*h)
		v[i] = float32(s.b2*v[i]) + float32(s.c2*float32(h*h))
		root := float32(math.Sqrt(float64(v[i])))
		w[i] = x - float32(s.rate*m[i])/(float32(root*s.root)+s.eps)
	}
}

package autodiff_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"weak"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

func TestGradOfWhatDoesNotMatterIsZero(t *testing.T) {
	tape := autodiff.NewTape()
	a, b := tape.Var(mat.NewDense(2, 3)), tape.Var(mat.NewDense(3, 2))
	y := tape.Sum(tape.Exp(a))
	later := tape.Var(mat.NewDense(1, 4))
	for i, want := range []float32{1, 0, 0} {
		g := tape.Grad(y, a, b, later)[i]
		of := []*autodiff.Var{a, b, later}[i]
		if g.Value.Rows != of.Value.Rows || g.Value.Cols != of.Value.Cols {
			t.Errorf("gradient %d is %d×%d, want %d×%d", i, g.Value.Rows, g.Value.Cols, of.Value.Rows, of.Value.Cols)
		}
		for _, v := range g.Value.Data {
			mattest.Equal(t, v, want, "gradient %d holds", i)
		}
	}
}

// TestGradOfIntermediate computes, in one call, the gradients at an intermediate record and at a leaf before it.
func TestGradOfIntermediate(t *testing.T) {
	tape := autodiff.NewTape()
	x := tape.Var(&mat.Dense{Rows: 1, Cols: 1, Data: []float32{3}})
	square := tape.Mul(x, x)
	y := tape.Mul(square, x) // x³
	g := tape.Grad(y, square, x)
	mattest.Equal(t, g[0].Value.Data[0], 3, "dy/d(x²) is")
	mattest.Equal(t, g[1].Value.Data[0], 27, "dy/dx is")
	third := tape.Grad(tape.Grad(g[1], x)[0], x)[0] // exact: all values are small integers
	mattest.Equal(t, third.Value.Data[0], 6, "third derivative of x³ is")
}

func problem(n, d, h, c int) (x, y *mat.Dense, w []*mat.Dense) {
	random := rand.New(rand.NewPCG(5, 6))
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % c)
	}
	w = []*mat.Dense{normal(d, h, random).dense(), normal(1, h, random).dense(), normal(h, c, random).dense()}
	return normal(n, d, random).dense(), autodiff.OneHot(labels, c), w
}

func TestThreadsGiveTheSameBytes(t *testing.T) {
	x, y, w := problem(3000, 40, 50, 4) // several chunks for each kind of operation
	tape := autodiff.NewTape()
	mattest.IgnoresThreads(t, func() (gradients []*mat.Dense) {
		tape.Reset()
		vars, src := []*autodiff.Var{tape.Var(w[0]), tape.Var(w[1]), tape.Var(w[2])}, rand.NewPCG(1, 1)
		in := tape.Dropout(tape.Var(x), 0.5, src)
		h := tape.Dropout(tape.ReLU(tape.AddRow(tape.MatMul(in, vars[0]), vars[1])), 0.5, src)
		for _, g := range tape.Grad(tape.CrossEntropy(tape.MatMul(h, vars[2]), tape.Var(y)), vars...) {
			gradients = append(gradients, g.Value.Clone()) // Reset reuses the memory
		}
		return gradients
	})
}

// TestSumsOfManyRows adds a million rows of 1.1. Summing in blocks keeps the error close to the error of one block. A
// single float32 sum would be off by more than 1e-3.
func TestSumsOfManyRows(t *testing.T) {
	const n = 1 << 20
	x := mat.NewDense(n, 2)
	for i := range x.Data {
		x.Data[i] = 1.1
	}
	tape := autodiff.NewTape()
	got := float64(tape.ColumnSums(tape.Var(x)).Value.Data[1])
	// Adding 256 rows rounds 255 times by at most half a unit of 2⁻¹⁵ at 281.6. These errors may all have the same sign.
	want := float64(float32(1.1)) * n
	mattest.Near(t, got, want, 2e-5*want, "column sum")
	mattest.Near(t, float64(tape.Sum(tape.Var(x)).Value.Data[0]), 2*want, 2e-5*2*want, "sum")
}

// TestValueTape compares values on a tape without records with values on an ordinary tape, and checks that memory is
// freed.
func TestValueTape(t *testing.T) {
	x, y, w := problem(300, 40, 50, 4)
	loss := func(tape *autodiff.Tape, hidden func(h *autodiff.Var)) float32 {
		h := tape.ReLU(tape.AddRow(tape.MatMul(tape.Var(x), tape.Var(w[0])), tape.Var(w[1])))
		hidden(h)
		z := tape.MatMul(h, tape.Var(w[2]))
		h = nil
		return tape.CrossEntropy(tape.Scale(1, z), tape.Var(y)).Value.Data[0]
	}
	want := loss(autodiff.NewTape(), func(*autodiff.Var) {})
	var units weak.Pointer[float32]
	tape := autodiff.NewTape().Values()
	got := loss(tape, func(h *autodiff.Var) { units = weak.Make(&h.Value.Data[0]) })
	mattest.Equal(t, got, want, "loss without records")
	runtime.GC()
	if units.Value() != nil {
		t.Error("hidden units are still in memory")
	}
	runtime.KeepAlive(tape)
}

// TestArcCosineOfOne checks that cosines near 1 count as 1, where the derivative of κ₀ counts as 0.
func TestArcCosineOfOne(t *testing.T) {
	tape := autodiff.NewTape()
	c := tape.Var(&mat.Dense{Rows: 1, Cols: 1, Data: []float32{1 - 1e-7}})
	y := tape.ArcCosine0(c)
	if slope := tape.Grad(y, c)[0]; y.Value.Data[0] != 1 || slope.Value.Data[0] != 0 {
		t.Errorf("κ₀ is %v with the derivative %v, want 1 and 0", y.Value.Data[0], slope.Value.Data[0])
	}
}

func TestMisuse(t *testing.T) {
	tape := autodiff.NewTape()
	values := autodiff.NewTape().Values()
	a, b := tape.Var(mat.NewDense(2, 3)), tape.Var(mat.NewDense(3, 2))
	a.Value.Data = append(a.Value.Data, 1, 2, 3)[:6] // room for a third row
	for name, f := range map[string]func(){
		"add of two shapes":    func() { tape.Add(a, b) },
		"gradient of a matrix": func() { tape.Grad(a, a) },
		"row of wrong length":  func() { tape.AddRow(a, b) },
		"columns beyond":       func() { tape.Columns(a, 1, 4) },
		"label out of range":   func() { autodiff.OneHot([]int32{3}, 3) },
		"rows beyond":          func() { tape.Rows(a, []int32{2}) },
		"rows before":          func() { tape.Rows(a, []int32{-1}) },
		"places beyond":        func() { tape.SpreadRows(a, []int32{0, 2}, 2) },
		"gradient of values":   func() { values.Grad(values.Var(mat.NewDense(1, 1))) },
	} {
		mattest.Panics(t, name, f)
	}
}

// ending is a linear map that cancels a context when it is applied.
type ending struct{ end context.CancelFunc }

func (e ending) Apply(dst, x *mat.Dense) {
	dst.Reshape(x.Rows, x.Cols)
	e.end()
}

func (e ending) T() autodiff.Linear { return e }

// TestWithin checks that a tape starts no operation after its context is done, that Within returns the context's error
// or the function's, and that another Within works again.
func TestWithin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tape := autodiff.NewTape()
	x := mat.NewDense(2, 3)
	var reached *autodiff.Var
	err := tape.Within(ctx, func() error {
		v := tape.Linear(ending{cancel}, tape.Var(x))
		reached = tape.Add(v, v)
		return nil
	})
	if !errors.Is(err, context.Canceled) || reached != nil {
		t.Errorf("error %v, and the operation after the end gives %v", err, reached)
	}
	err = tape.Within(ctx, func() error {
		values := tape.Values()
		reached = values.Var(x)
		return nil
	})
	if !errors.Is(err, context.Canceled) || reached != nil {
		t.Errorf("a tape of values: error %v and %v", err, reached)
	}
	own := errors.New("own")
	err = tape.Within(t.Context(), func() error { reached = tape.Var(x); return own })
	if err != own || reached == nil {
		t.Errorf("another context: error %v and %v", err, reached)
	}
	if v := tape.Var(x); v.Value != x {
		t.Error("outside Within, operations do not work")
	}
}

// TestWithinPanics checks that Within passes other panics on.
func TestWithinPanics(t *testing.T) {
	tape := autodiff.NewTape()
	mattest.Panics(t, "a product of shapes that do not fit", func() {
		_ = tape.Within(t.Context(), func() error {
			tape.MatMul(tape.Var(mat.NewDense(2, 3)), tape.Var(mat.NewDense(2, 3)))
			return nil
		})
	})
}

package kernel_test

import (
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/kernel"
)

func TestNameIsTheFastestSet(t *testing.T) {
	if got, want := kernel.Name(), kernel.Available()[0].Name(); got != want {
		t.Errorf("%q in use, %q is the fastest", got, want)
	}
	last := kernel.Available()[len(kernel.Available())-1]
	if last.Name() != "generic" {
		t.Errorf("the last set is %q, want the portable one", last.Name())
	}
}

// calls holds the exported functions that take matrices of n×n or vectors.
var calls = []struct {
	name string
	run  func(x, y, z, w []float32, n int)
}{
	{"Gemm", func(x, y, z, _ []float32, n int) { kernel.Gemm(z, n, x, n, true, y, n, true, n, n, n, true) }},
	{"Gram", func(x, _, z, _ []float32, n int) { kernel.Gram(z, n, x, n, n, n, false) }},
	{"Dot", func(x, y, z, _ []float32, n int) { z[0] = kernel.Dot(x, y) }},
	{"Axpy", func(x, _, z, _ []float32, n int) { kernel.Axpy(2, x, z) }},
	{"Add", func(x, y, z, _ []float32, n int) { kernel.Add(z, x, y) }},
	{"Mul", func(x, y, z, _ []float32, n int) { kernel.Mul(z, x, y) }},
	{"MulAdd", func(x, y, z, _ []float32, n int) { kernel.MulAdd(z, x, y) }},
	{"Scale", func(x, _, z, _ []float32, n int) { kernel.Scale(z, 3, x) }},
	{"ReLU", func(x, _, z, _ []float32, n int) { kernel.ReLU(z, x) }},
	{"ReLUGrad", func(x, y, z, _ []float32, n int) { kernel.ReLUGrad(z, x, y) }},
	{"AdamStep", func(x, y, z, w []float32, n int) { kernel.AdamStep(w, x, y, z, 0.1, 0.9, 0.99, 1e-8, 0, 1) }},
	{"ExpShifted", func(x, _, z, _ []float32, n int) { z[0] += kernel.ExpShifted(z, x, 1) }},
	{"Maximum", func(x, _, z, _ []float32, n int) { z[0] = kernel.Maximum(x) }},
	{"Softmax", func(_, _, z, _ []float32, n int) { kernel.Softmax(z) }},
}

// Once the buffers have grown, a call needs no memory of its own.
func TestCallsAllocateNothing(t *testing.T) {
	const n = 100
	random := source()
	x, y, z, w := normal(random, n*n), normal(random, n*n), normal(random, n*n), normal(random, n*n)
	indptr, indices := sparse(random, n, 9)
	rows, nearest := []int32{3, 50, 7}, make([]int32, n)
	check := func(name string, run func()) {
		least := testing.AllocsPerRun(1, run)
		for range 30 { // now and then the pool of buffers is emptied, or under the race detector forgets one
			least = min(least, testing.AllocsPerRun(1, run))
		}
		if least > 0 {
			t.Errorf("%s allocates %g times", name, least)
		}
	}
	for _, c := range calls {
		check(c.name, func() { c.run(x, y, z, w, n) })
	}
	check("Gather", func() { kernel.Gather(z, n, 0, n, indptr, indices, nil, x, y, 1, w, n, n) })
	check("GatherRows", func() { kernel.GatherRows(z, n, rows, nil, indptr, indices, nil, x, y, 1, w, n, n) })
	wide := make([]float64, n)
	check("Accumulate", func() { kernel.Accumulate(wide, 2, x[:n]) })
	check("Nearest", func() { kernel.Nearest(nearest, z, x, n, n, n, w, y, n, 10, w) })
}

func TestWrongShapesPanic(t *testing.T) {
	four := make([]float32, 4)
	five := make([]float32, 5)
	for name, f := range map[string]func(){
		"Gemm: C too short":       func() { kernel.Gemm(four, 3, five, 1, false, five, 3, false, 2, 3, 1, false) },
		"Gemm: A narrow":          func() { kernel.Gemm(four, 2, four, 1, false, four, 2, false, 2, 2, 2, false) },
		"Gemm: B too short":       func() { kernel.Gemm(four, 2, four, 2, false, four[:3], 2, true, 2, 2, 2, false) },
		"Gram: rows":              func() { kernel.GramRows(four, 2, four, 2, 2, 2, 1, 3, false) },
		"Mirror":                  func() { kernel.Mirror(four, 3, 3) },
		"Dot":                     func() { kernel.Dot(four, five) },
		"Accumulate":              func() { kernel.Accumulate(make([]float64, 4), 1, five) },
		"Axpy":                    func() { kernel.Axpy(1, four, five) },
		"Add":                     func() { kernel.Add(four, four, five) },
		"Mul":                     func() { kernel.Mul(four, five, four) },
		"MulAdd":                  func() { kernel.MulAdd(five, four, four) },
		"Scale":                   func() { kernel.Scale(five, 1, four) },
		"ReLU":                    func() { kernel.ReLU(five, four) },
		"ReLUGrad":                func() { kernel.ReLUGrad(four, four, five) },
		"ExpShifted":              func() { kernel.ExpShifted(four, five, 0) },
		"AdamStep":                func() { kernel.AdamStep(four, four, four, five, 1, 0, 0, 0, 0, 1) },
		"AdamStep: step":          func() { kernel.AdamStep(four, four, four, four, 1, 0, 0, 0, 0, 0) },
		"Gather: rows":            func() { kernel.Gather(four, 1, 0, 2, []int64{0, 0}, nil, nil, nil, nil, 0, four, 1, 1) },
		"Gather: destination":     func() { kernel.Gather(four, 5, 0, 1, []int64{0, 0}, nil, nil, nil, nil, 0, five, 5, 5) },
		"GatherRows: destination": func() { kernel.GatherRows(four, 5, []int32{0}, nil, []int64{0, 0}, nil, nil, nil, nil, 0, five, 5, 5) },
		"Gather: indices":         func() { kernel.Gather(four, 1, 0, 1, []int64{0, 3}, []int32{0, 0}, nil, nil, nil, 0, four, 1, 1) },
		"Gather: weights":         func() { kernel.Gather(four, 1, 0, 1, []int64{0, 2}, []int32{0, 0}, four[:1], nil, nil, 0, four, 1, 1) },
		"GatherRows: left": func() {
			kernel.GatherRows(four, 1, []int32{0}, nil, []int64{0, 0, 0}, nil, nil, four[:1], nil, 0, four, 1, 1)
		},
		"Nearest: no centres":      func() { kernel.Nearest([]int32{0}, four, four, 1, 1, 1, four, nil, 1, 0, nil) },
		"Nearest: norms":           func() { kernel.Nearest([]int32{0}, four, four, 1, 1, 1, four, four, 1, 2, four[:1]) },
		"Nearest: row norms":       func() { kernel.Nearest([]int32{0}, four, four, 1, 1, 1, nil, four, 1, 1, four) },
		"Nearest: results too few": func() { kernel.Nearest(nil, four, four, 1, 1, 1, four, four, 1, 1, four) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestEmptyIsNothing(t *testing.T) {
	kernel.Gemm(nil, 0, nil, 0, false, nil, 0, false, 0, 0, 0, false)
	kernel.Gather(nil, 0, 0, 0, []int64{0}, nil, nil, nil, nil, 0, nil, 0, 0)
	kernel.GatherRows(nil, 3, nil, nil, []int64{0}, nil, nil, nil, nil, 0, nil, 3, 3)
	kernel.Nearest(nil, nil, nil, 2, 0, 2, nil, []float32{1, 2}, 2, 1, []float32{5})
	kernel.Softmax(nil)
	c := []float32{nan, nan}
	kernel.Gemm(c, 2, nil, 0, false, nil, 2, false, 1, 2, 0, false)
	if !slices.Equal(c, []float32{0, 0}) {
		t.Errorf("an empty sum is %g", c)
	}
}

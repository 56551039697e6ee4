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

// calls holds the exported functions that process n×n matrices or vectors.
var calls = []struct {
	name string
	run  func(x, y, z, w []float32, n int)
}{
	{"Gemm", func(x, y, z, _ []float32, n int) {
		kernel.Gemm(kernel.Rows(z, n), kernel.Rows(x, n).T(), kernel.Rows(y, n).T(), n, n, n, true)
	}},
	{"GramRows", func(x, _, z, _ []float32, n int) {
		kernel.GramRows(kernel.Rows(z, n), kernel.Rows(x, n), n, n, 0, n, false)
	}},
	{"Dot", func(x, y, z, _ []float32, n int) { z[0] = kernel.Dot(x, y) }},
	{"Axpy", func(x, _, z, _ []float32, n int) { kernel.Axpy(2, x, z) }},
	{"Add", func(x, y, z, _ []float32, n int) { kernel.Add(z, x, y) }},
	{"Mul", func(x, y, z, _ []float32, n int) { kernel.Mul(z, x, y) }},
	{"Scale", func(x, _, z, _ []float32, n int) { kernel.Scale(z, 3, x) }},
	{"ReLU", func(x, _, z, _ []float32, n int) { kernel.ReLU(z, x) }},
	{"ReLUGrad", func(x, y, z, _ []float32, n int) { kernel.ReLUGrad(z, x, y) }},
	{"AdamStep", func(x, y, z, w []float32, n int) {
		kernel.AdamStep(w, x, y, z, kernel.Adam{Rate: 0.1, B1: 0.9, B2: 0.99, Epsilon: 1e-8, Step: 1})
	}},
	{"ExpShifted", func(x, _, z, _ []float32, n int) { z[0] += kernel.ExpShifted(z, x, 1) }},
	{"Maximum", func(x, _, z, _ []float32, n int) { z[0] = kernel.Maximum(x) }},
	{"Softmax", func(_, _, z, _ []float32, n int) { kernel.Softmax(z) }},
}

// TestCallsAllocateNothing checks that a call allocates no memory once the buffers have grown.
func TestCallsAllocateNothing(t *testing.T) {
	const n = 100
	random := source()
	x, y, z, w := normal(random, n*n), normal(random, n*n), normal(random, n*n), normal(random, n*n)
	indptr, indices := sparse(random, n, 9)
	rows, nearest := []int32{3, 50, 7}, make([]int32, n)
	check := func(name string, run func()) {
		least := testing.AllocsPerRun(1, run)
		for range 30 { // the pool of buffers is sometimes emptied; with the race detector, it drops some
			least = min(least, testing.AllocsPerRun(1, run))
		}
		if least > 0 {
			t.Errorf("%s allocates %g times", name, least)
		}
	}
	for _, c := range calls {
		check(c.name, func() { c.run(x, y, z, w, n) })
	}
	check("Gather", func() {
		kernel.Gather(kernel.Rows(z, n), kernel.Sparse{Indptr: indptr, Indices: indices, Left: x, Right: y, Self: 1}, 0, n,
			kernel.Rows(w, n), n)
	})
	check("GatherRows", func() {
		kernel.GatherRows(kernel.Rows(z, n), kernel.Sparse{Indptr: indptr, Indices: indices, Left: x, Right: y, Self: 1},
			rows, nil, kernel.Rows(w, n), n)
	})
	halves := make([]uint16, n*n)
	check("GatherHalf", func() {
		kernel.GatherHalf(kernel.Rows(z, n), indptr, indices, nil, x[:n], kernel.Halves{Data: halves, Stride: n}, 96)
	})
	check("NarrowScaled", func() { kernel.NarrowScaled(halves, 2, x, y) })
	check("WidenScaled", func() { kernel.WidenScaled(z, 2, x, halves) })
	check("Magnitudes", func() { kernel.Magnitudes(z, x) })
	check("PrefetchHalves", func() { kernel.PrefetchHalves(halves) })
	far := []int32{0, 1 << 30, -1 << 30} // prefetching out of range does no harm
	check("PrefetchAt", func() { kernel.PrefetchAt(nearest, far) })
	wide := make([]float64, n)
	check("Accumulate", func() { kernel.Accumulate(wide, 2, x[:n]) })
	check("Nearest", func() {
		kernel.Nearest(nearest, z, kernel.Points{Data: x, Stride: n, N: n, Norms: w}, kernel.Points{Data: y, Stride: n, N: 10,
			Norms: w}, n)
	})
}

func TestWrongShapesPanic(t *testing.T) {
	four := make([]float32, 4)
	five := make([]float32, 5)
	for name, f := range map[string]func(){
		"Gemm: C too short": func() {
			kernel.Gemm(kernel.Rows(four, 3), kernel.Rows(five, 1), kernel.Rows(five, 3), 2, 3, 1, false)
		},
		"Gemm: A narrow": func() {
			kernel.Gemm(kernel.Rows(four, 2), kernel.Rows(four, 1), kernel.Rows(four, 2), 2, 2, 2, false)
		},
		"Gemm: B too short": func() {
			kernel.Gemm(kernel.Rows(four, 2), kernel.Rows(four, 2), kernel.Rows(four[:3], 2).T(), 2, 2, 2, false)
		},
		"Gram: rows": func() {
			kernel.GramRows(kernel.Rows(four, 2), kernel.Rows(four, 2), 2, 2, 1, 3, false)
		},
		"Dot":            func() { kernel.Dot(four, five) },
		"Accumulate":     func() { kernel.Accumulate(make([]float64, 4), 1, five) },
		"Axpy":           func() { kernel.Axpy(1, four, five) },
		"Add":            func() { kernel.Add(four, four, five) },
		"Mul":            func() { kernel.Mul(four, five, four) },
		"Scale":          func() { kernel.Scale(five, 1, four) },
		"ReLU":           func() { kernel.ReLU(five, four) },
		"ReLUGrad":       func() { kernel.ReLUGrad(four, four, five) },
		"ExpShifted":     func() { kernel.ExpShifted(four, five, 0) },
		"AdamStep":       func() { kernel.AdamStep(four, four, four, five, kernel.Adam{Rate: 1, Step: 1}) },
		"AdamStep: step": func() { kernel.AdamStep(four, four, four, four, kernel.Adam{Rate: 1, Step: 0}) },
		"Gather: rows": func() {
			kernel.Gather(kernel.Rows(four, 1), kernel.Sparse{Indptr: []int64{0, 0}}, 0, 2, kernel.Rows(four, 1), 1)
		},
		"Gather: destination": func() {
			kernel.Gather(kernel.Rows(four, 5), kernel.Sparse{Indptr: []int64{0, 0}}, 0, 1, kernel.Rows(five, 5), 5)
		},
		"GatherRows: destination": func() {
			kernel.GatherRows(kernel.Rows(four, 5), kernel.Sparse{Indptr: []int64{0, 0}}, []int32{0}, nil, kernel.Rows(five, 5),
				5)
		},
		"Gather: indices": func() {
			kernel.Gather(kernel.Rows(four, 1), kernel.Sparse{Indptr: []int64{0, 3}, Indices: []int32{0, 0}}, 0, 1,
				kernel.Rows(four, 1), 1)
		},
		"Gather: weights": func() {
			kernel.Gather(kernel.Rows(four, 1), kernel.Sparse{Indptr: []int64{0, 2}, Indices: []int32{0, 0}, Weights: four[:1]},
				0, 1, kernel.Rows(four, 1), 1)
		},
		"GatherRows: left": func() {
			kernel.GatherRows(kernel.Rows(four, 1), kernel.Sparse{Indptr: []int64{0, 0, 0}, Left: four[:1]}, []int32{0}, nil,
				kernel.Rows(four, 1), 1)
		},
		"GatherHalf: columns": func() {
			kernel.GatherHalf(kernel.Rows(make([]float32, 8), 8), []int64{0, 0}, nil, nil, four[:1], kernel.Halves{Stride: 8}, 8)
		},
		"GatherHalf: weights": func() {
			kernel.GatherHalf(kernel.Rows(make([]float32, 16), 16), []int64{0, 1}, []int32{0}, four[:0], four[:1],
				kernel.Halves{Data: make([]uint16, 16), Stride: 16}, 16)
		},
		"NarrowScaled": func() { kernel.NarrowScaled(make([]uint16, 4), 1, four, five) },
		"WidenScaled":  func() { kernel.WidenScaled(four, 1, five, make([]uint16, 4)) },
		"Magnitudes":   func() { kernel.Magnitudes(four, five) },
		"Nearest: no centres": func() {
			kernel.Nearest([]int32{0}, four, kernel.Points{Data: four, Stride: 1, N: 1, Norms: four},
				kernel.Points{Data: nil, Stride: 1, N: 0, Norms: nil}, 1)
		},
		"Nearest: norms": func() {
			kernel.Nearest([]int32{0}, four, kernel.Points{Data: four, Stride: 1, N: 1, Norms: four},
				kernel.Points{Data: four, Stride: 1, N: 2, Norms: four[:1]}, 1)
		},
		"Nearest: row norms": func() {
			kernel.Nearest([]int32{0}, four, kernel.Points{Data: four, Stride: 1, N: 1, Norms: nil},
				kernel.Points{Data: four, Stride: 1, N: 1, Norms: four}, 1)
		},
		"Nearest: results too few": func() {
			kernel.Nearest(nil, four, kernel.Points{Data: four, Stride: 1, N: 1, Norms: four},
				kernel.Points{Data: four, Stride: 1, N: 1, Norms: four}, 1)
		},
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
	kernel.Gemm(kernel.Block{}, kernel.Block{}, kernel.Block{}, 0, 0, 0, false)
	kernel.Gather(kernel.Block{}, kernel.Sparse{Indptr: []int64{0}}, 0, 0, kernel.Block{}, 0)
	kernel.GatherRows(kernel.Rows(nil, 3), kernel.Sparse{Indptr: []int64{0}}, nil, nil, kernel.Rows(nil, 3), 3)
	kernel.Nearest(nil, nil, kernel.Points{Data: nil, Stride: 2, N: 0, Norms: nil},
		kernel.Points{Data: []float32{1, 2}, Stride: 2, N: 1, Norms: []float32{5}}, 2)
	kernel.Softmax(nil)
	c := []float32{nan, nan}
	kernel.Gemm(kernel.Rows(c, 2), kernel.Block{}, kernel.Rows(nil, 2), 1, 2, 0, false)
	if !slices.Equal(c, []float32{0, 0}) {
		t.Errorf("an empty sum is %g", c)
	}
}

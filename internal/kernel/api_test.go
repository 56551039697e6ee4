package kernel

import (
	"slices"
	"testing"
)

func TestNameIsTheFastestSet(t *testing.T) {
	if got, want := Name(), available()[0].name; got != want {
		t.Errorf("%q in use, %q is the fastest", got, want)
	}
	last := available()[len(available())-1]
	if last.name != "generic" {
		t.Errorf("the last set is %q, want the portable one", last.name)
	}
}

// calls holds exported functions that process n×n matrices or vectors.
var calls = []struct {
	name string
	run  func(x, y, z, w []float32, n int)
}{
	{"Gemm", func(x, y, z, _ []float32, n int) {
		Gemm(Rows(z, n), Rows(x, n).T(), Rows(y, n).T(), n, n, n, true)
	}},
	{"GramRows", func(x, _, z, _ []float32, n int) {
		GramRows(Rows(z, n), Rows(x, n), n, n, 0, n, false)
	}},
	{"Dot", func(x, y, z, _ []float32, n int) { z[0] = Dot(x, y) }},
	{"Axpy", func(x, _, z, _ []float32, n int) { Axpy(2, x, z) }},
	{"Add", func(x, y, z, _ []float32, n int) { Add(z, x, y) }},
	{"Mul", func(x, y, z, _ []float32, n int) { Mul(z, x, y) }},
	{"Scale", func(x, _, z, _ []float32, n int) { Scale(z, 3, x) }},
	{"ReLU", func(x, _, z, _ []float32, n int) { ReLU(z, x) }},
	{"ReLUGrad", func(x, y, z, _ []float32, n int) { ReLUGrad(z, x, y) }},
	{"AdamStep", func(x, y, z, w []float32, n int) {
		AdamStep(w, x, y, z, Adam{Rate: 0.1, B1: 0.9, B2: 0.99, Epsilon: 1e-8, Step: 1})
	}},
	{"ExpShifted", func(x, _, z, _ []float32, n int) { z[0] += ExpShifted(z, x, 1) }},
	{"Exp", func(x, _, z, _ []float32, n int) { Exp(z, x) }},
	{"ExpSum", func(x, _, z, _ []float32, n int) { z[0] += float32(ExpSum(x, 1, 1)) }},
	{"Maximum", func(x, _, z, _ []float32, n int) { z[0] = Maximum(x) }},
	{"Softmax", func(_, _, z, _ []float32, n int) { Softmax(z) }},
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
	m := Sparse{Indptr: indptr, Indices: indices, Left: x, Right: y, Self: 1}
	check("Gather", func() { Gather(Rows(z, n), m, 0, n, Rows(w, n), n) })
	check("GatherRows", func() { GatherRows(Rows(z, n), m, rows, nil, Rows(w, n), n) })
	halves := make([]uint16, n*n)
	check("GatherHalf", func() {
		GatherHalf(Rows(z, n), indptr, indices, nil, x[:n], Halves{Data: halves, Stride: n}, 96)
	})
	check("NarrowScaled", func() { NarrowScaled(halves, 2, x, y) })
	check("WidenScaled", func() { WidenScaled(z, 2, x, halves) })
	check("Magnitudes", func() { Magnitudes(z, x) })
	check("PrefetchHalves", func() { PrefetchHalves(halves) })
	far := []int32{0, 1 << 30, -1 << 30} // prefetching out of range does no harm
	check("PrefetchAt", func() { PrefetchAt(nearest, far) })
	wide := make([]float64, n)
	check("Accumulate", func() { Accumulate(wide, 2, x[:n]) })
	check("Nearest", func() {
		Nearest(nearest, z, Points{Data: x, Stride: n, N: n, Norms: w}, Points{Data: y, Stride: n, N: 10,
			Norms: w}, n)
	})
}

func TestWrongShapesPanic(t *testing.T) {
	four := make([]float32, 4)
	five := make([]float32, 5)
	points := func(n int, norms []float32) Points { return Points{Data: four, Stride: 1, N: n, Norms: norms} }
	for name, f := range map[string]func(){
		"Gemm: C too short": func() { Gemm(Rows(four, 3), Rows(five, 1), Rows(five, 3), 2, 3, 1, false) },
		"Gemm: A narrow":    func() { Gemm(Rows(four, 2), Rows(four, 1), Rows(four, 2), 2, 2, 2, false) },
		"Gemm: B too short": func() { Gemm(Rows(four, 2), Rows(four, 2), Rows(four[:3], 2).T(), 2, 2, 2, false) },
		"Gram: rows":        func() { GramRows(Rows(four, 2), Rows(four, 2), 2, 2, 1, 3, false) },
		"Dot":               func() { Dot(four, five) },
		"Accumulate":        func() { Accumulate(make([]float64, 4), 1, five) },
		"Axpy":              func() { Axpy(1, four, five) },
		"Add":               func() { Add(four, four, five) },
		"Mul":               func() { Mul(four, five, four) },
		"Scale":             func() { Scale(five, 1, four) },
		"ReLU":              func() { ReLU(five, four) },
		"ReLUGrad":          func() { ReLUGrad(four, four, five) },
		"ExpShifted":        func() { ExpShifted(four, five, 0) },
		"Exp":               func() { Exp(four, five) },
		"AdamStep":          func() { AdamStep(four, four, four, five, Adam{Rate: 1, Step: 1}) },
		"AdamStep: step":    func() { AdamStep(four, four, four, four, Adam{Rate: 1, Step: 0}) },
		"Gather: rows":      func() { Gather(Rows(four, 1), Sparse{Indptr: []int64{0, 0}}, 0, 2, Rows(four, 1), 1) },
		"Gather: destination": func() {
			Gather(Rows(four, 5), Sparse{Indptr: []int64{0, 0}}, 0, 1, Rows(five, 5), 5)
		},
		"GatherRows: destination": func() {
			GatherRows(Rows(four, 5), Sparse{Indptr: []int64{0, 0}}, []int32{0}, nil, Rows(five, 5), 5)
		},
		"Gather: indices": func() {
			Gather(Rows(four, 1), Sparse{Indptr: []int64{0, 3}, Indices: []int32{0, 0}}, 0, 1, Rows(four, 1), 1)
		},
		"Gather: weights": func() {
			Gather(Rows(four, 1), Sparse{Indptr: []int64{0, 2}, Indices: []int32{0, 0}, Weights: four[:1]},
				0, 1, Rows(four, 1), 1)
		},
		"GatherRows: left": func() {
			GatherRows(Rows(four, 1), Sparse{Indptr: []int64{0, 0, 0}, Left: four[:1]}, []int32{0}, nil,
				Rows(four, 1), 1)
		},
		"GatherHalf: columns": func() {
			GatherHalf(Rows(make([]float32, 8), 8), []int64{0, 0}, nil, nil, four[:1], Halves{Stride: 8}, 8)
		},
		"GatherHalf: weights": func() {
			GatherHalf(Rows(make([]float32, 16), 16), []int64{0, 1}, []int32{0}, four[:0], four[:1],
				Halves{Data: make([]uint16, 16), Stride: 16}, 16)
		},
		"NarrowScaled":             func() { NarrowScaled(make([]uint16, 4), 1, four, five) },
		"WidenScaled":              func() { WidenScaled(four, 1, five, make([]uint16, 4)) },
		"Magnitudes":               func() { Magnitudes(four, five) },
		"Nearest: no centres":      func() { Nearest([]int32{0}, four, points(1, four), points(0, nil), 1) },
		"Nearest: norms":           func() { Nearest([]int32{0}, four, points(1, four), points(2, four[:1]), 1) },
		"Nearest: row norms":       func() { Nearest([]int32{0}, four, points(1, nil), points(1, four), 1) },
		"Nearest: results too few": func() { Nearest(nil, four, points(1, four), points(1, four), 1) },
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
	Gemm(Block{}, Block{}, Block{}, 0, 0, 0, false)
	Gather(Block{}, Sparse{Indptr: []int64{0}}, 0, 0, Block{}, 0)
	GatherRows(Rows(nil, 3), Sparse{Indptr: []int64{0}}, nil, nil, Rows(nil, 3), 3)
	Nearest(nil, nil, Points{Data: nil, Stride: 2, N: 0, Norms: nil},
		Points{Data: []float32{1, 2}, Stride: 2, N: 1, Norms: []float32{5}}, 2)
	Softmax(nil)
	c := []float32{nan, nan}
	Gemm(Rows(c, 2), Block{}, Rows(nil, 2), 1, 2, 0, false)
	if !slices.Equal(c, []float32{0, 0}) {
		t.Errorf("an empty sum is %g", c)
	}
}

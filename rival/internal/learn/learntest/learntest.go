// Package learntest contains helpers for testing methods that learn step by step.
package learntest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// Graph returns a graph of 48 nodes in three classes, with dense or sparse features.
func Graph(t *testing.T, sparse bool) *graph.Graph {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 1))
	const n = 48
	b := graph.Builder{Name: "small", Y: make([]int32, n), Classes: 3}
	x := mat.NewDense(n, 6)
	for v := range n {
		b.Y[v] = int32(v % 3)
		for j := range x.Row(v) {
			x.Row(v)[j] = random.Float32()
		}
		x.Row(v)[v%3]++
		for range 3 {
			if u := random.IntN(n); u != v {
				b.AddEdge(u, v)
			}
		}
		if v < 30 {
			b.Split.Train = append(b.Split.Train, int32(v))
		} else {
			b.Split.Val = append(b.Split.Val, int32(v))
		}
	}
	b.X = x
	if sparse {
		b.X = x.Sparse()
	}
	return mattest.First(b.Graph(t.Context()))
}

// Begin returns a Start with 9 condensed nodes for a Graph with dense features.
func Begin(t *testing.T) *learn.Start { return BeginOn(t, Graph(t, false)) }

// BeginOn returns a Start with 9 condensed nodes for g.
func BeginOn(t *testing.T, g *graph.Graph) *learn.Start {
	t.Helper()
	return mattest.Must(learn.Begin(t.Context(), g, 9, 1))
}

// Written returns an operator of g as a dense matrix.
func Written(t *testing.T, g *graph.Graph, of func(*mat.CSR) graph.Operator) *mat.Dense {
	t.Helper()
	m := new(mat.Dense)
	mattest.OK(t, of(g.Adj).Apply(t.Context(), m, learn.Identity(g.Nodes())))
	return m
}

// Shift adds normal numbers of the given standard deviation to all entries.
func Shift(matrices []*mat.Dense, by float64, random *rand.Rand) {
	for _, m := range matrices {
		for i := range m.Data {
			m.Data[i] += float32(by * random.NormFloat64())
		}
	}
}

// Symmetric returns a symmetric n×n matrix of weights in [0, 1) with a zero diagonal.
func Symmetric(n int, random *rand.Rand) *mat.Dense {
	a := mat.NewDense(n, n)
	for i := range n {
		for j := range i {
			w := random.Float32()
			a.Row(i)[j], a.Row(j)[i] = w, w
		}
	}
	return a
}

// FirstLayer returns the rows of ReLU(BN(W₁x_i + W₂x_j)) for each pair (i, j) in float64. p holds the parameters of a
// learn.Pairs.
func FirstLayer(p []*mat.Dense, x *mat.Dense) (rows [][]float64) {
	h := p[3].Rows
	for i := range x.Rows {
		for j := range x.Rows {
			row := make([]float64, h)
			for k := range row {
				for f := range x.Cols {
					row[k] += float64(x.Row(i)[f])*float64(p[0].Row(f)[k]) + float64(x.Row(j)[f])*float64(p[0].Row(f)[h+k])
				}
			}
			rows = append(rows, row)
		}
	}
	return normalised(rows, p[1], p[2])
}

// SecondLayer returns the rows of ReLU(BN(V·h)) for the rows h of the first layer.
func SecondLayer(p []*mat.Dense, from [][]float64) (rows [][]float64) {
	for _, in := range from {
		row := make([]float64, p[3].Cols)
		for k := range row {
			for f, v := range in {
				row[k] += v * float64(p[3].Row(f)[k])
			}
		}
		rows = append(rows, row)
	}
	return normalised(rows, p[4], p[5])
}

// normalised applies batch normalisation and ReLU to rows.
func normalised(rows [][]float64, gain, shift *mat.Dense) [][]float64 {
	n := float64(len(rows))
	for k := range rows[0] {
		var mean, variance float64
		for _, row := range rows {
			mean += row[k] / n
		}
		for _, row := range rows {
			variance += (row[k] - mean) * (row[k] - mean) / n
		}
		for _, row := range rows {
			row[k] = max(0, (row[k]-mean)/math.Sqrt(variance+1e-5)*float64(gain.Data[k])+float64(shift.Data[k]))
		}
	}
	return rows
}

// Close fails the test unless each entry of got differs from want by at most tolerance times the largest entry of want.
func Close(t *testing.T, what string, got, want *mat.Dense, tolerance float64) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("%s: %d×%d, want %d×%d", what, got.Rows, got.Cols, want.Rows, want.Cols)
	}
	var largest float64
	for _, w := range want.Data {
		largest = max(largest, math.Abs(float64(w)))
	}
	for i, w := range want.Data {
		if difference := math.Abs(float64(got.Data[i] - w)); !(difference <= tolerance*largest) { // also true for NaN
			t.Fatalf("%s: entry %d is %v, want %v", what, i, got.Data[i], w)
		}
	}
}

// Differences compares the gradients that match returns with central differences of its value, using Close. x and a are
// the matrices that match reads; they may be nil. a is symmetric: both entries of an edge change together, and their
// gradients are added.
func Differences(
	t *testing.T, what string, x, a *mat.Dense, step float32, tolerance float64,
	match func() (value float64, dx, da *mat.Dense),
) {
	t.Helper()
	_, dx, da := match()
	if dx != nil {
		dx = dx.Clone()
	}
	if da != nil {
		da = da.Clone()
	}
	value := func() float64 { value, _, _ := match(); return value }
	slope := func(old float32, set func(float32)) float32 {
		above, below := old+step, old-step
		set(above)
		difference := value()
		set(below)
		difference -= value()
		set(old)
		return float32(difference / float64(above-below))
	}
	if x != nil {
		want := mat.NewDense(x.Dims())
		for i, v := range x.Data {
			want.Data[i] = slope(v, func(v float32) { x.Data[i] = v })
		}
		Close(t, what+": dX", dx, want, tolerance)
	}
	if a == nil {
		return
	}
	got, want := mat.NewDense(a.Dims()), mat.NewDense(a.Dims())
	for i := range a.Rows {
		for j := range i {
			got.Row(i)[j] = da.Row(i)[j] + da.Row(j)[i]
			want.Row(i)[j] = slope(a.Row(i)[j], func(w float32) { a.Row(i)[j], a.Row(j)[i] = w, w })
		}
	}
	Close(t, what+": dA", got, want, tolerance)
}

// Account condenses g to the given number of nodes and returns the run metadata.
func Account(t *testing.T, m condense.Method, g *graph.Graph, nodes int, seed uint64) (a learn.Account) {
	t.Helper()
	small, err := m.Condense(t.Context(), g, nodes, seed)
	if err == nil {
		err = json.Unmarshal(small.Account, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

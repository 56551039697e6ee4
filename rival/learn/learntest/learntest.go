// Package learntest has what tests of methods that learn step by step share.
package learntest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/learn"
)

// Begin returns a start with 9 condensed nodes on a graph of 48 nodes in three classes.
func Begin(t *testing.T) *learn.Start {
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
	g, _, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	s, err := learn.Begin(t.Context(), g, 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Normal returns a matrix of normal numbers.
func Normal(rows, cols int, random *rand.Rand) *mat.Dense {
	m := mat.NewDense(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(random.NormFloat64())
	}
	return m
}

// Symmetric returns weights in [0, 1) between n nodes, with a diagonal of 0.
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

// Close fails unless all entries of got are within a tolerance of want, as a share of the largest entry of want.
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
		if difference := math.Abs(float64(got.Data[i] - w)); !(difference <= tolerance*largest) { // true for NaN
			t.Fatalf("%s: entry %d is %v, want %v", what, i, got.Data[i], w)
		}
	}
}

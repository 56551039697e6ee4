// Package learntest has what tests of methods that learn step by step share.
package learntest

import (
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

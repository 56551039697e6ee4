package gnn_test

import (
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// BenchmarkTrain runs 50 epochs on a condensed graph of 454 nodes with 128 features and 40 classes. The target has
// 50,000 nodes: 10,000 are validated every 10 epochs, and 10,000 more are tested at the end.
func BenchmarkTrain(b *testing.B) {
	const n, d, classes = 50_000, 128, 40
	random := rand.New(rand.NewPCG(1, 1))
	g := &graph.Graph{Adj: ring(n), X: mattest.Normal(n, d, random), Y: make([]int32, n), Classes: classes}
	for i := range int32(10_000) {
		g.Split.Val, g.Split.Test = append(g.Split.Val, i), append(g.Split.Test, 20_000+i)
	}
	target := mattest.Must(gnn.NewTarget(g, false))
	s := &gnn.Sample{Adj: randomGraph(454, 0.02, false, random), X: mattest.Normal(454, d, random), Classes: classes}
	for i := range int32(454) {
		s.Y = append(s.Y, i%classes)
	}
	c := gnn.Defaults()
	c.Epochs = 50
	for _, m := range gnn.All() {
		b.Run(m.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mattest.Must(gnn.Train(b.Context(), m, s, target, c, rand.NewPCG(1, 1)))
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*c.Epochs), "ms/epoch")
		})
	}
}

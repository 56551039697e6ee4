package dataset_test

import (
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
)

// Making products takes 3 GB: -bench Make/products asks for it alone.
func BenchmarkMake(b *testing.B) {
	for _, name := range []string{"cora", "arxiv", "flickr", "reddit", "products"} {
		b.Run(name, func(b *testing.B) {
			shape, err := dataset.Like(name)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				g, err := dataset.Make(shape, rand.NewPCG(1, 0))
				if err != nil {
					b.Fatal(err)
				}
				if g.Edges() != shape.Edges {
					b.Fatalf("%d edges, want %d", g.Edges(), shape.Edges)
				}
			}
			b.ReportMetric(float64(shape.Edges)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
		})
	}
}

func BenchmarkDemo(b *testing.B) {
	for b.Loop() {
		dataset.Demo()
	}
}

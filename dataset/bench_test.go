package dataset_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
)

// BenchmarkMake makes synthetic graphs. The shape of products needs 3 GB: -bench Make/products runs only that one.
func BenchmarkMake(b *testing.B) {
	for _, name := range []string{"cora", "arxiv", "flickr", "reddit", "products"} {
		b.Run(name, func(b *testing.B) {
			shape, err := synth.Like(name)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				g, err := synth.Make(b.Context(), shape, rand.NewPCG(1, 0))
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
		synth.Demo()
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"cora", "citeseer", "amazon-photo", "arxiv"} {
		b.Run(name, func(b *testing.B) {
			o := dataset.Environment()
			o.Cache = "" // never fetch
			if _, err := o.Open(b.Context(), name); err != nil {
				b.Skip(err)
			}
			for b.Loop() {
				if _, err := o.Open(b.Context(), name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpenNative maps and checks a native file with a tenth of the nodes of products.
func BenchmarkOpenNative(b *testing.B) {
	shape, err := synth.Like("products")
	if err != nil {
		b.Fatal(err)
	}
	g, err := synth.Make(b.Context(), shape.Scale(0.1), rand.NewPCG(1, 0))
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "g.safetensors")
	if err := dataset.Write(b.Context(), file, g); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := dataset.Open(b.Context(), file); err != nil {
			b.Fatal(err)
		}
	}
}

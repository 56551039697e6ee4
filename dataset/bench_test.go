package dataset_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
)

// Making products takes 3 GB: -bench Make/products asks for it alone.
func BenchmarkMake(b *testing.B) {
	for _, name := range []string{"cora", "arxiv", "flickr", "reddit", "products"} {
		b.Run(name, func(b *testing.B) {
			shape, err := synth.Like(name)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				g, err := synth.Make(shape, rand.NewPCG(1, 0))
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
			if _, err := dataset.Open(b.Context(), name); err != nil {
				b.Skip(err)
			}
			for b.Loop() {
				if _, err := dataset.Open(b.Context(), name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A graph of a tenth of products, in this project's own format: mapped and checked.
func BenchmarkOpenNative(b *testing.B) {
	shape, err := synth.Like("products")
	if err != nil {
		b.Fatal(err)
	}
	g, err := synth.Make(shape.Scale(0.1), rand.NewPCG(1, 0))
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

// BenchmarkRead reads 20 MB of numbers in each format of other programs. MB/s are of the file as it is on disk, but for .gz of the text in it.
func BenchmarkRead(b *testing.B) {
	const rows, cols = 50_000, 100
	random := rand.New(rand.NewPCG(1, 1))
	numbers := make([]float32, rows*cols)
	var table, edges []byte
	for i := range numbers {
		numbers[i] = float32(random.NormFloat64())
		table = strconv.AppendFloat(table, float64(numbers[i]), 'g', -1, 32)
		table = append(table, ',')
		if i%cols == cols-1 {
			table[len(table)-1] = '\n'
		}
		if i%2 == 0 {
			edges = fmt.Appendf(edges, "%d,%d\n", random.IntN(2_449_029), random.IntN(2_449_029))
		}
	}
	array := npy("<f4", fmt.Sprint(rows, ", ", cols), numbers)
	zipped := func(method uint16) []byte {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		w, err := z.CreateHeader(&zip.FileHeader{Name: "x.npy", Method: method})
		if err == nil {
			_, err = w.Write(array)
		}
		if err := errors.Join(err, z.Close()); err != nil {
			b.Fatal(err)
		}
		return out.Bytes()
	}
	for _, f := range []struct {
		name string
		data []byte
		size int
	}{
		{"edges.csv", edges, len(edges)}, {"features.csv", table, len(table)}, {"features.csv.gz", packed(string(table)), len(table)},
		{"features.npy", array, len(array)}, {"stored.npz", zipped(zip.Store), len(array)}, {"deflated.npz", zipped(zip.Deflate), len(array)},
	} {
		b.Run(f.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), f.name)
			if err := os.WriteFile(file, f.data, 0o600); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(f.size))
			for b.Loop() {
				if n, err := dataset.Readers[f.name](file); err != nil || n != len(numbers) {
					b.Fatalf("%d numbers, want %d; error %v", n, len(numbers), err)
				}
			}
		})
	}
}

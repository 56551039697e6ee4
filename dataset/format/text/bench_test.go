package text_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/text"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
)

// BenchmarkRead reads five million numbers. MB/s are of the text, before it is packed.
func BenchmarkRead(b *testing.B) {
	const rows, cols = 50_000, 100
	random := rand.New(rand.NewPCG(1, 1))
	var table, edges []byte
	for i := range rows * cols {
		table = strconv.AppendFloat(table, float64(float32(random.NormFloat64())), 'g', -1, 32)
		table = append(table, ',')
		if i%cols == cols-1 {
			table[len(table)-1] = '\n'
		}
		if i%2 == 0 {
			edges = fmt.Appendf(edges, "%d,%d\n", random.IntN(2_449_029), random.IntN(2_449_029))
		}
	}
	for _, f := range []struct {
		name string
		data []byte
		size int
		read func(file string) (int, error)
	}{
		{"edges.csv", edges, len(edges), text.ReadEdges},
		{"features.csv", table, len(table), text.ReadTable},
		{"features.csv.gz", fixture.Packed(string(table)), len(table), text.ReadTable},
	} {
		b.Run(f.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), f.name)
			if err := os.WriteFile(file, f.data, 0o600); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(f.size))
			for b.Loop() {
				if n, err := f.read(file); err != nil || n != rows*cols {
					b.Fatalf("%d numbers, want %d; error %v", n, rows*cols, err)
				}
			}
		})
	}
}

package named_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/formats/named"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
)

// BenchmarkRead reads a name for each node of products and edges between them, and then a table of features. The MB/s
// count text, and the time includes building the graph.
func BenchmarkRead(b *testing.B) {
	const many, edges, rows, cols = 2_449_029, 8_000_000, 50_000, 100
	random := rand.New(rand.NewPCG(1, 1))
	header := "id,label,split,f0\n"
	short := []byte(header)
	for i := range many {
		short = fmt.Appendf(short, "p%d,%d,train,0.5\n", i*7, i%47)
	}
	list := func(prefix string, n, step int) []byte {
		text := []byte("source,target\n")
		for range edges {
			text = fmt.Appendf(text, "%s%d,%s%d\n", prefix, step*random.IntN(n), prefix, step*random.IntN(n))
		}
		return text
	}
	wide := []byte("id,label,split")
	for j := range cols {
		wide = fmt.Appendf(wide, ",f%d", j)
	}
	wide = append(wide, '\n')
	numbers := append([]byte(nil), short[:len(header)]...)
	for i := range many {
		numbers = fmt.Appendf(numbers, "%d,%d,train,0.5\n", i, i%47)
	}
	for i := range rows {
		wide = fmt.Appendf(wide, "p%d,%d,train", i, i%47)
		for range cols {
			wide = strconv.AppendFloat(append(wide, ','), float64(float32(random.NormFloat64())), 'g', -1, 32)
		}
		wide = append(wide, '\n')
	}
	for _, f := range []struct {
		name         string
		nodes, edges []byte
	}{
		{"names", short, list("p", many, 7)},
		{"numbers", numbers, list("", many, 1)},
		{"nodes", short, []byte("source,target\np0,p7\n")},
		{"features", wide, []byte("source,target\np0,p1\n")},
	} {
		b.Run(f.name, func(b *testing.B) {
			dir := fixture.Folder(b, map[string][]byte{"nodes.csv": f.nodes, "edges.csv": f.edges})
			b.SetBytes(int64(len(f.nodes) + len(f.edges)))
			for b.Loop() {
				if _, _, err := (named.Format{}).Read(b.Context(), dir); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

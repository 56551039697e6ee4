package text_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/formats/text"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
)

// BenchmarkRead reads a folder of 50 thousand nodes with 100 features and 2.5 million edges. The MB/s count
// uncompressed text.
func BenchmarkRead(b *testing.B) {
	const nodes, features, edges = 50_000, 100, 2_500_000
	random := rand.New(rand.NewPCG(1, 1))
	var table, list, labels []byte
	for range nodes {
		for range features {
			table = append(strconv.AppendFloat(table, float64(float32(random.NormFloat64())), 'g', -1, 32), ',')
		}
		table[len(table)-1] = '\n'
		labels = fmt.Appendf(labels, "%d,train\n", random.IntN(40))
	}
	for range edges {
		list = fmt.Appendf(list, "%d,%d\n", random.IntN(nodes), random.IntN(nodes))
	}
	for name, files := range map[string]map[string][]byte{
		"csv":    {"edges.csv": list, "features.csv": table, "labels.csv": labels},
		"csv.gz": {"edges.csv": list, "features.csv.gz": fixture.Packed(string(table)), "labels.csv": labels},
	} {
		dir := fixture.Folder(b, files)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(table) + len(list) + len(labels)))
			for b.Loop() {
				if _, _, err := (text.Format{}).Read(b.Context(), dir); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

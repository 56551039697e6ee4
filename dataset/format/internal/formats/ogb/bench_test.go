package ogb_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/formats/ogb"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
)

// BenchmarkRead reads a folder of 100 thousand nodes with 100 features and 2 million edges. The MB/s count uncompressed
// text.
func BenchmarkRead(b *testing.B) {
	const nodes, features, edges = 100_000, 100, 2_000_000
	random := rand.New(rand.NewPCG(1, 1))
	var table, list, labels []byte
	for range nodes {
		for range features {
			table = append(strconv.AppendFloat(table, random.NormFloat64()/8, 'f', 6, 32), ',')
		}
		table[len(table)-1] = '\n'
		labels = fmt.Appendln(labels, random.IntN(40))
	}
	for range edges {
		list = fmt.Appendf(list, "%d,%d\n", random.IntN(nodes), random.IntN(nodes))
	}
	files := map[string][]byte{
		"raw/num-node-list.csv": fmt.Append(nil, nodes), "raw/num-edge-list.csv": fmt.Append(nil, edges),
		"raw/edge.csv": list, "raw/node-feat.csv": table, "raw/node-label.csv": labels,
	}
	packed := map[string][]byte{}
	for name, data := range files {
		packed[name+".gz"] = fixture.Packed(string(data))
	}
	for name, files := range map[string]map[string][]byte{"csv": files, "csv.gz": packed} {
		dir := fixture.Folder(b, files)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(table) + len(list) + len(labels)))
			for b.Loop() {
				if _, _, err := (ogb.Format{}).Read(b.Context(), dir); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/features", func(b *testing.B) {
			b.SetBytes(int64(len(table)))
			for b.Loop() {
				file := filepath.Join(dir, "raw", "node-feat."+name)
				if _, err := lines.Matrix(b.Context(), file, nodes, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

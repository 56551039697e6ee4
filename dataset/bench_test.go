package dataset_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/fixture"
)

func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"cora", "citeseer", "amazon-photo", "arxiv"} {
		b.Run(name, func(b *testing.B) {
			o := dataset.Environment()
			o.Cache = "" // never fetch
			if _, err := o.Open(b.Context(), name); err != nil {
				b.Skip(err)
			}
			for b.Loop() {
				fixture.Must(o.Open(b.Context(), name))(b)
			}
		})
	}
}

// BenchmarkRead reads a graph of 50 thousand nodes with 100 features and 2 million edges in several formats, with files
// that are compressed or not. The MB/s count decompressed text and numbers.
func BenchmarkRead(b *testing.B) {
	const nodes, features, edges = 50_000, 100, 2_000_000
	random := rand.New(rand.NewPCG(1, 1))
	var x, y, named, pairs, classes, roles []byte
	numbers := make([]float32, 0, nodes*features)
	for i := range nodes {
		class := random.IntN(40)
		y = fmt.Appendln(y, class)
		named = fmt.Appendf(named, "p%d,%d", 7*i, class)
		classes, roles = fmt.Appendf(classes, ", \"%d\": %d", i, class), fmt.Appendf(roles, ", %d", i)
		line := len(x)
		for range features {
			numbers = append(numbers, float32(random.NormFloat64()))
			x = strconv.AppendFloat(append(x, ','), float64(numbers[len(numbers)-1]), 'g', -1, 32)
		}
		named = append(append(named, x[line:]...), '\n')
		x = append(append(x[:line], x[line+1:]...), '\n')
	}
	header := "id,label"
	for j := range features {
		header += fmt.Sprintf(",f%d", j)
	}
	ends, indptr := make([]int32, edges), make([]int64, nodes+1)
	names := []byte("source,target\n")
	for e := range ends {
		u := e * nodes / edges
		ends[e] = random.Int32N(nodes)
		indptr[u+1] = int64(e + 1)
		pairs = fmt.Appendf(pairs, "%d,%d\n", u, ends[e])
		names = fmt.Appendf(names, "p%d,p%d\n", 7*u, 7*ends[e])
	}
	array := fixture.Npy("<f4", fmt.Sprint(nodes, ", ", features), numbers)
	adjacency := fixture.Npz(map[string][]byte{
		"indptr":  fixture.Npy("<i8", fmt.Sprint(nodes+1, ","), indptr),
		"indices": fixture.Npy("<i4", fmt.Sprint(edges, ","), ends),
		"data":    fixture.Npy("<f4", fmt.Sprint(edges, ","), slices.Repeat([]float32{1}, edges)),
		"shape":   fixture.Npy("<i8", "2,", []int64{nodes, nodes}),
	})
	for name, files := range map[string]map[string][]byte{
		"csv":   {"edges.csv": pairs, "features.csv": x, "labels.csv": y},
		"npy":   {"edges.csv": pairs, "features.npy": array, "labels.csv": y},
		"named": {"nodes.csv": append([]byte(header+"\n"), named...), "edges.csv": names},
		"ogb": {
			"raw/num-node-list.csv": fmt.Append(nil, nodes), "raw/num-edge-list.csv": fmt.Append(nil, edges),
			"raw/edge.csv": pairs, "raw/node-feat.csv": x, "raw/node-label.csv": y,
		},
		"graphsaint": {
			"adj_full.npz": adjacency, "feats.npy": array, "class_map.json": append(append([]byte{'{'}, classes[1:]...), '}'),
			"role.json": append(append([]byte(`{"tr": [`), roles[1:]...), `], "va": [], "te": []}`...),
		},
	} {
		size := int64(0)
		packed := map[string][]byte{}
		for file, content := range files {
			size += int64(len(content))
			if packed[file] = content; strings.HasSuffix(file, ".csv") {
				packed[file], packed[file+".gz"] = nil, fixture.Packed(string(content))
			}
		}
		for variant, files := range map[string]map[string][]byte{name: files, name + ", packed": packed} {
			dir := fixture.Folder(b, files)
			b.Run(variant, func(b *testing.B) {
				b.SetBytes(size)
				for b.Loop() {
					fixture.Open(b, dir)
				}
			})
		}
	}
}

// BenchmarkOpenNative maps and checks a native file with a tenth of the nodes of products.
func BenchmarkOpenNative(b *testing.B) {
	shape := fixture.Must(synth.Like("products"))(b)
	g := fixture.Must(synth.Make(b.Context(), shape.Scale(0.1), rand.NewPCG(1, 0)))(b)
	file := filepath.Join(b.TempDir(), "g.safetensors")
	fixture.OK(b, dataset.Write(b.Context(), file, g))
	for b.Loop() {
		fixture.Must(dataset.Open(b.Context(), file))(b)
	}
}

package dataset_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
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
				mattest.Must(o.Open(b.Context(), name))
			}
		})
	}
}

// BenchmarkRead reads a graph of 50 thousand nodes with 100 features and 2 million edges in several formats, with files
// that are compressed or not. The MB/s count decompressed text and numbers.
func BenchmarkRead(b *testing.B) {
	l := randomLists(50_000, 1_600_000, 100)
	own := l.own(len(l.from))
	id := func(i int64) string { return fmt.Sprintf("p%d", 7*i) }
	for name, files := range map[string]map[string][]byte{
		"csv": own, "npy": fixture.With(fixture.With(own, "features.csv", nil), "features.npy", l.npy(false)),
		"named": l.named(id, false), "ogb": l.ogbText(true),
		"graphsaint": fixture.SAINT(fixture.Open(b, fixture.Folder(b, own)), ""),
	} {
		size := int64(0)
		for _, content := range files {
			size += int64(len(content))
		}
		for variant, files := range map[string]map[string][]byte{name: files, name + ", packed": packed(files)} {
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
	shape := mattest.Must(synth.Like("products"))
	g := mattest.Must(synth.Make(b.Context(), shape.Scale(0.1), rand.NewPCG(1, 0)))
	file := filepath.Join(b.TempDir(), "g.safetensors")
	mattest.OK(b, dataset.Write(b.Context(), file, g))
	for b.Loop() {
		mattest.Must(dataset.Open(b.Context(), file))
	}
}

package cgc_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew for the kernels of this processor")

const goldenFile = "testdata/golden.txt"

// goldenCases are configurations of the whole pipeline. Together they reach every step, every extension and the
// code paths for large classes.
var goldenCases = []struct {
	name, graph string
	change      func(*cgc.Config)
}{
	{"defaults", "demo", func(*cgc.Config) {}},
	{"spectral", "demo", func(c *cgc.Config) { c.Partition = "spectral" }},
	{"random", "demo", func(c *cgc.Config) { c.Partition, c.Seed = "random", 7 }},
	{"augment", "demo", func(c *cgc.Config) { c.Augment, c.Temperature = 2.5, 0.1 }},
	{"augment, spectral", "demo", func(c *cgc.Config) { c.Augment, c.Partition, c.Variant = 0.4, "spectral", cgc.CGCX }},
	{"simdm", "demo", func(c *cgc.Config) { c.Variant = cgc.SimDM }},
	{"dense A′", "demo", func(c *cgc.Config) { c.Threshold, c.Degree, c.Alpha = 0.2, 0, 0.3 }},
	{"degree bound", "demo", func(c *cgc.Config) { c.Threshold, c.Degree = 0.1, 3 }},
	{"ppr", "demo", func(c *cgc.Config) { c.Propagation, c.Hops = propagate.PPR, 4 }},
	{"sage", "demo", func(c *cgc.Config) { c.Propagation, c.Hops = propagate.SAGE, 1 }},
	{"no hops", "demo", func(c *cgc.Config) { c.Hops = 0 }},
	{"real edges", "demo", func(c *cgc.Config) { c.Edges, c.Degree = cgc.RealEdges, 4 }},
	{"hop weights", "demo", func(c *cgc.Config) { c.HopWeights = cgc.HopWeights{1, 1, 2} }},
	{"pseudo and soft labels", "demo", func(c *cgc.Config) { c.PseudoLabels, c.SoftLabels, c.Partitions = 2, true, 3 }},
	{"standardize", "demo", func(c *cgc.Config) { c.Standardize = true }},
	{"inductive", "demo", func(c *cgc.Config) { c.Inductive, c.Edges, c.Degree = true, cgc.RealEdges, 4 }},
	{"memory", "demo", func(c *cgc.Config) { c.Memory = 1 << 20 }},
	{"defaults", "words", func(*cgc.Config) {}},
	{"augment, ppr", "words", func(c *cgc.Config) { c.Propagation, c.Augment = propagate.PPR, 0.4 }},
	{"pseudo labels", "words", func(c *cgc.Config) { c.PseudoLabels, c.SoftLabels = 1, true }},
	{"augment, weights", "weighted", func(c *cgc.Config) { c.Augment = 0.4 }},
	{"real edges, weights", "weighted", func(c *cgc.Config) { c.Edges, c.Degree = cgc.RealEdges, 4 }},
	{"augment", "large", func(c *cgc.Config) { c.Augment = 0.4 }},
	{"spectral", "large", func(c *cgc.Config) { c.Partition, c.Augment = "spectral", 0.4 }},
	{"cgc-x", "large", func(c *cgc.Config) { c.Variant = cgc.CGCX }},
}

// goldenGraph returns a made graph. Its name is set here, since it is part of the file.
func goldenGraph(t *testing.T, name string) *graph.Graph {
	t.Helper()
	if name == "demo" {
		return synth.Demo()
	}
	like, scale := map[string]string{"words": "cora", "weighted": "cora", "large": "flickr"}[name], 0.4
	if like == "cora" {
		scale = 1
	}
	shape, err := synth.Like(like)
	if err != nil {
		t.Fatal(err)
	}
	shape = shape.Scale(scale)
	shape.Name = name
	if name == "weighted" {
		shape.Features, shape.Words, shape.Signal = 50, 0, 1.5
	}
	g, err := synth.Make(t.Context(), shape, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if name == "weighted" {
		g.Adj.Data = symmetricWeights(g.Adj)
	}
	return g
}

// symmetricWeights returns weights in [1, 1.9] that depend on the two nodes of an edge and not on its direction.
func symmetricWeights(a *mat.CSR) []float32 {
	weights := make([]float32, a.NNZ())
	for i := range a.Rows {
		for e := a.Indptr[i]; e < a.Indptr[i+1]; e++ {
			weights[e] = 1 + 0.1*float32((i+int(a.Indices[e]))%10)
		}
	}
	return weights
}

// The bytes of a condensed file, seconds aside, do not change from one version to the next for the same kernels.
func TestGolden(t *testing.T) {
	golden, err := os.ReadFile(goldenFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	known := map[string]string{}
	var others []string
	for line := range strings.Lines(string(golden)) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(name, mat.Kernels()+": ") {
			known[name] = hash
		} else {
			others = append(others, hash+" "+name)
		}
	}
	if len(known) == 0 && !*update {
		t.Skipf("%s holds nothing for the kernels of this processor, %s", goldenFile, mat.Kernels())
	}
	graphs := map[string]*graph.Graph{}
	for _, c := range goldenCases {
		if graphs[c.graph] == nil {
			graphs[c.graph] = goldenGraph(t, c.graph)
		}
		small := mustCondense(t, graphs[c.graph], configured(70, c.change))
		if len(small.Warnings) > 0 {
			t.Errorf("%s, %s: warnings %q of an ordinary graph", c.graph, c.name, small.Warnings)
		}
		for i := range small.Seconds.Steps {
			small.Seconds.Steps[i].Seconds = 0
		}
		small.Seconds.Total = 0
		path := filepath.Join(t.TempDir(), "small.safetensors")
		if err := small.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(file)
		name, hash := fmt.Sprintf("%s: %s, %s", mat.Kernels(), c.graph, c.name), hex.EncodeToString(sum[:12])
		if *update {
			others = append(others, hash+" "+name)
		} else if known[name] != hash {
			t.Errorf("%s: the file's hash is %s, want %q", name, hash, known[name])
		}
	}
	if *update {
		slices.SortStableFunc(others, func(a, b string) int {
			return strings.Compare(a[strings.Index(a, " "):], b[strings.Index(b, " "):])
		})
		if err := os.WriteFile(goldenFile, []byte(strings.Join(others, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

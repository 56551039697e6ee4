package cgc_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/golden"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// goldenCases are configurations of the full pipeline. Together they cover every step and the code paths for large
// classes.
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
	{"standardize", "demo", func(c *cgc.Config) { c.Standardize = true }},
	{"inductive", "demo", func(c *cgc.Config) { c.Inductive, c.Threshold = true, 0.2 }},
	{"memory", "demo", func(c *cgc.Config) { c.Memory = 1 << 20 }},
	{"defaults", "words", func(*cgc.Config) {}},
	{"augment, ppr", "words", func(c *cgc.Config) { c.Propagation, c.Augment = propagate.PPR, 0.4 }},
	{"augment, weights", "weighted", func(c *cgc.Config) { c.Augment = 0.4 }},
	{"augment", "large", func(c *cgc.Config) { c.Augment = 0.4 }},
	{"spectral", "large", func(c *cgc.Config) { c.Partition, c.Augment = "spectral", 0.4 }},
	{"cgc-x", "large", func(c *cgc.Config) { c.Variant = cgc.CGCX }},
}

// goldenGraph returns a synthetic graph. Its name is set here because the condensed file contains it.
func goldenGraph(t *testing.T, name string) *graph.Graph {
	t.Helper()
	if name == "demo" {
		return synth.Demo()
	}
	like, scale := map[string]string{"words": "cora", "weighted": "cora", "large": "flickr"}[name], 0.4
	if like == "cora" {
		scale = 1
	}
	shape := mattest.Must(synth.Like(like))
	shape = shape.Scale(scale)
	shape.Name = name
	if name == "weighted" {
		shape.Features, shape.Words, shape.Signal = 50, 0, 1.5
	}
	g := mattest.Must(synth.Make(t.Context(), shape, rand.NewPCG(1, 2)))
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

// TestGolden checks that the bytes of a condensed file, without its seconds, are the same as in earlier versions with
// the same kernels. Each line also summarises the graph, as a hint to what a change affected.
func TestGolden(t *testing.T) {
	t.Run("small", func(t *testing.T) {
		compareGolden(t, "condense", func(graph string) bool { return graph != "large" })
	})
	t.Run("large", func(t *testing.T) {
		slow.Test(t, "18,000 training nodes")
		compareGolden(t, "condense-large", func(graph string) bool { return graph == "large" })
	})
}

// compareGolden condenses the golden cases whose graphs in accepts, and compares the results with the file for the
// kernels.
func compareGolden(t *testing.T, name string, in func(graph string) bool) {
	file := filepath.Join("internal", "golden", name+"-"+kernel.Name()+".txt")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("no golden file for the kernels of this processor: %v", err)
	}
	graphs := map[string]*graph.Graph{}
	var lines []byte
	for _, c := range goldenCases {
		if !in(c.graph) {
			continue
		}
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
		small.Seconds.Total, small.Timed = 0, true
		small.Source = nil // the golden files have hashes of files without a source
		path := filepath.Join(t.TempDir(), "small.safetensors")
		mattest.OK(t, small.Save(t.Context(), path))
		bytes := mattest.Must(os.ReadFile(path))
		sum, account := sha256.Sum256(bytes), accountOf(t, small)
		squares := 0.0
		for _, v := range small.X.Data {
			squares += float64(v) * float64(v)
		}
		lines = fmt.Appendf(lines, "%x %s, %s: nodes of each class %v, members %d, edges %d, threshold %.4f, "+
			"‖X′‖ %.4f, accuracy %.2f, rank %d\n", sum[:12], c.graph, c.name, small.Budget, small.Members.NNZ(), small.Edges(),
			account.Threshold, math.Sqrt(squares), account.Assessed.Accuracy, account.Assessed.Rank)
	}
	golden.Compare(t, file, lines)
}

package experiment_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// demo is the graph of examples.
func demo() *graph.Graph {
	g, err := synth.Make(synth.Shape{
		Name: "demo", Nodes: 300, Edges: 900, Features: 16, Classes: 3, Train: 60, Val: 60, Test: 120, Groups: 2, Homophily: 0.8, Signal: 2, Balanced: true,
	}, rand.NewPCG(5, 5))
	if err != nil {
		panic(err)
	}
	return g
}

// The fingerprint follows all that a graph holds, and not its name.
func TestFingerprint(t *testing.T) {
	want := experiment.Identify(demo())
	if want.Name != "demo" || want.Nodes != 300 || want.Edges != 900 || want.Features != 16 || want.Classes != 3 || want.Train != 60 || want.Val != 60 || want.Test != 120 || len(want.Fingerprint) != 32 {
		t.Errorf("%+v", want)
	}
	other := demo()
	other.Name = "other"
	if got := experiment.Identify(other); got.Fingerprint != want.Fingerprint {
		t.Error("the fingerprint follows the name")
	}
	seen := map[string]string{want.Fingerprint: "nothing"}
	for what, change := range map[string]func(g *graph.Graph){
		"a feature":     func(g *graph.Graph) { x := g.X.(*mat.Dense); x.Data[len(x.Data)-1]++ },
		"the shape":     func(g *graph.Graph) { x := g.X.(*mat.Dense); x.Rows, x.Cols = x.Cols, x.Rows },
		"a label":       func(g *graph.Graph) { g.Y[299] = (g.Y[299] + 1) % 3 },
		"an edge":       func(g *graph.Graph) { g.Adj.Indices[0]++ },
		"a row":         func(g *graph.Graph) { g.Adj.Indptr[1]++ },
		"weights":       func(g *graph.Graph) { g.Adj.Data = slices.Repeat([]float32{1}, len(g.Adj.Indices)) },
		"the classes":   func(g *graph.Graph) { g.Classes++ },
		"a split moved": func(g *graph.Graph) { s := &g.Split; s.Val, s.Test = append(s.Val, s.Test[0]), s.Test[1:] },
		"no training":   func(g *graph.Graph) { g.Split.Train = nil },
		"sparse":        func(g *graph.Graph) { g.X = &mat.CSR{Rows: 300, Cols: 16, Indptr: make([]int64, 301)} },
	} {
		g := demo()
		change(g)
		got := experiment.Identify(g).Fingerprint
		if before, is := seen[got]; is {
			t.Errorf("%s and %s have one fingerprint", what, before)
		}
		seen[got] = what
	}
}

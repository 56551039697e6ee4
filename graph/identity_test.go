package graph_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// demo returns a synthetic graph.
func demo() *graph.Graph {
	g, err := synth.Make(context.Background(), synth.Shape{
		Name: "demo", Nodes: 300, Edges: 900, Features: 16, Classes: 3, Train: 60, Val: 60, Test: 120,
		Groups: 2, Homophily: 0.8, Signal: 2, Balanced: true,
	}, rand.NewPCG(5, 5))
	if err != nil {
		panic(err)
	}
	return g
}

func identify(t *testing.T, g *graph.Graph) graph.Identity {
	t.Helper()
	id, err := graph.Identify(g)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Logs of experiments contain fingerprints, so fingerprints must not change between versions.
func TestFingerprintsStay(t *testing.T) {
	dense, sparse := path(), path()
	sparse.X = sparse.X.(*mat.Dense).Sparse()
	for name, c := range map[string]struct {
		g    *graph.Graph
		want string
	}{"dense": {dense, "d879250c8730930d064ca9f0385fe0ec"}, "sparse": {sparse, "4f8bc53c511918ea4a700e871b370f75"}} {
		if got := identify(t, c.g).Fingerprint; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestFingerprintOfOtherMatrices(t *testing.T) {
	g := path()
	want := identify(t, g)
	g.X = &reader{of: g.X}
	if got := identify(t, g); got != want {
		t.Errorf("%+v, want that of dense features %+v", got, want)
	}
	lost := errors.New("lost")
	g.X = &reader{of: g.X, err: lost}
	if _, err := graph.Identify(g); !errors.Is(err, lost) {
		t.Errorf("error %v, want %v", err, lost)
	}
}

// The fingerprint depends on everything in a graph except its name.
func TestFingerprint(t *testing.T) {
	want := identify(t, demo())
	sizes := demo().Sizes()
	sizes.Fingerprint = want.Fingerprint
	if want != sizes || want != (graph.Identity{Name: "demo", Fingerprint: want.Fingerprint, Nodes: 300, Edges: 900,
		Features: 16, Classes: 3, Train: 60, Val: 60, Test: 120}) || len(want.Fingerprint) != 32 {
		t.Errorf("%+v", want)
	}
	other := demo()
	other.Name = "other"
	if got := identify(t, other); got.Fingerprint != want.Fingerprint {
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
		got := identify(t, g).Fingerprint
		if before, is := seen[got]; is {
			t.Errorf("%s and %s have one fingerprint", what, before)
		}
		seen[got] = what
	}
}

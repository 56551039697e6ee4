package graph_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// large returns the graph of demo with more features, so that its digest reads only a sample of its nodes.
func large() *graph.Graph {
	g := demo()
	x := mat.NewDense(300, 500)
	for i := range x.Data {
		if i%3 == 0 {
			x.Data[i] = float32(i%17) - 8
		}
	}
	g.X = x
	return g
}

// A digest does not depend on names, nor on how features and weights are stored.
func TestDigestOfOtherStorage(t *testing.T) {
	for name, made := range map[string]func() *graph.Graph{"small": demo, "large": large} {
		want := mattest.Must(graph.DigestOf(made()))
		for what, change := range map[string]func(g *graph.Graph){
			"sparse":         func(g *graph.Graph) { g.X = g.X.(*mat.Dense).Sparse() },
			"another type":   func(g *graph.Graph) { g.X = mattest.Distant{Of: g.X} },
			"names":          func(g *graph.Graph) { g.Name, g.IDs = "other", make([]string, 300) },
			"weights of 1":   func(g *graph.Graph) { g.Adj.Data = slices.Repeat([]float32{1}, len(g.Adj.Indices)) },
			"negative zeros": func(g *graph.Graph) { negate(g.X.(*mat.Dense).Data) },
			"labels of test nodes": func(g *graph.Graph) {
				for _, v := range g.Split.Test {
					g.Y[v] = graph.Unlabelled
				}
			},
		} {
			g := made()
			change(g)
			mattest.Equal(t, mattest.Must(graph.DigestOf(g)), want, "%s, %s", name, what)
		}
	}
	lost := errors.New("lost")
	g := demo()
	g.X = mattest.Distant{Of: g.X, Err: lost}
	_, err := graph.DigestOf(g)
	mattest.WantIs(t, err, lost)
}

// negate turns zeros into negative zeros.
func negate(data []float32) {
	for i, v := range data {
		if v == 0 {
			data[i] = -v
		}
	}
}

// Each change of a graph changes the corresponding part of the digest, and no other.
func TestDigest(t *testing.T) {
	for name, made := range map[string]func() *graph.Graph{"small": demo, "large": large} {
		for what, c := range map[string]struct {
			change func(g *graph.Graph)
			parts  string // the fields of the digest that change
		}{
			"a feature":        {func(g *graph.Graph) { g.X.(*mat.Dense).Data[0]++ }, "X"},
			"a neighbour":      {func(g *graph.Graph) { g.Adj.Indices[0]++ }, "Adjacency"},
			"a degree":         {func(g *graph.Graph) { g.Adj.Indptr[150]++ }, "Adjacency"},
			"a training label": {func(g *graph.Graph) { v := g.Split.Train[0]; g.Y[v] = (g.Y[v] + 1) % 3 }, "Labels"},
			"the classes":      {func(g *graph.Graph) { g.Classes++ }, "Classes"},
			"weights": {
				func(g *graph.Graph) { g.Adj.Data = slices.Repeat([]float32{2}, len(g.Adj.Indices)) }, "Adjacency",
			},
			"the split": {
				func(g *graph.Graph) { s := &g.Split; s.Val, s.Test = append(s.Val, s.Test[0]), s.Test[1:] },
				"Val Test ValNodes TestNodes",
			},
		} {
			before, g := mattest.Must(graph.DigestOf(made())), made()
			c.change(g)
			after := mattest.Must(graph.DigestOf(g))
			if after == before {
				t.Errorf("%s, %s: the digest stays", name, what)
			}
			for part := range strings.FieldsSeq(c.parts) {
				reflect.ValueOf(&before).Elem().FieldByName(part).Set(reflect.ValueOf(after).FieldByName(part))
			}
			if after != before {
				t.Errorf("%s, %s: other parts have changed: %+v, were %+v", name, what, after, before)
			}
		}
	}
}

// Files of condensed graphs contain digests, so digests must not change between versions.
func TestDigestsStay(t *testing.T) {
	want := graph.Digest{
		Nodes: 4, Edges: 3, Features: 4, Classes: 2, TrainNodes: 2, ValNodes: 1, TestNodes: 1,
		Adjacency: "daaa7b3f9fc15336", X: "7db6ed1d341671fc", Labels: "94de6cc85d988b9b",
		Train: "94de6cc85d988b9b", Val: "a890adf674b36ba6", Test: "8e453e8b05606c94",
	}
	if got := mattest.Must(graph.DigestOf(path())); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func demo() *graph.Graph {
	return mattest.Must(synth.Make(context.Background(), synth.Shape{
		Name: "demo", Nodes: 300, Edges: 900, Features: 16, Classes: 3, Train: 60, Val: 60, Test: 120,
		Groups: 2, Homophily: 0.8, Signal: 2, Balanced: true,
	}, rand.NewPCG(5, 5)))
}

// Logs of experiments contain fingerprints, so fingerprints must not change between versions.
func TestFingerprintsStay(t *testing.T) {
	dense, sparse := path(), path()
	sparse.X = sparse.X.(*mat.Dense).Sparse()
	for name, c := range map[string]struct {
		g    *graph.Graph
		want string
	}{"dense": {dense, "d879250c8730930d064ca9f0385fe0ec"}, "sparse": {sparse, "4f8bc53c511918ea4a700e871b370f75"}} {
		mattest.Equal(t, mattest.Must(graph.Identify(c.g)).Fingerprint, c.want, "%s", name)
	}
}

func TestFingerprintOfOtherMatrices(t *testing.T) {
	g := path()
	want := mattest.Must(graph.Identify(g))
	g.X = mattest.Distant{Of: g.X}
	if got := mattest.Must(graph.Identify(g)); got != want {
		t.Errorf("%+v, want that of dense features %+v", got, want)
	}
	lost := errors.New("lost")
	g.X = mattest.Distant{Of: g.X, Err: lost}
	_, err := graph.Identify(g)
	mattest.WantIs(t, err, lost)
}

// The fingerprint depends on everything in a graph except its name.
func TestFingerprint(t *testing.T) {
	want := mattest.Must(graph.Identify(demo()))
	sizes := demo().Sizes()
	sizes.Fingerprint = want.Fingerprint
	if want != sizes || want != (graph.Identity{Name: "demo", Fingerprint: want.Fingerprint, Nodes: 300, Edges: 900,
		Features: 16, Classes: 3, Train: 60, Val: 60, Test: 120}) || len(want.Fingerprint) != 32 {
		t.Errorf("%+v", want)
	}
	other := demo()
	other.Name = "other"
	if got := mattest.Must(graph.Identify(other)); got.Fingerprint != want.Fingerprint {
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
		got := mattest.Must(graph.Identify(g)).Fingerprint
		if before, is := seen[got]; is {
			t.Errorf("%s and %s have one fingerprint", what, before)
		}
		seen[got] = what
	}
}

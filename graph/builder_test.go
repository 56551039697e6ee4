package graph_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// square returns a builder of the square 0–1–2–3, with a repeated edge, a reversed edge and a self-loop.
func square() *graph.Builder {
	b := &graph.Builder{Name: "square", X: mat.NewDense(4, 2), Y: []int32{0, 2, 0, graph.Unlabelled}}
	for _, e := range [][2]int{{2, 3}, {1, 0}, {1, 2}, {2, 1}, {3, 3}, {0, 3}, {1, 0}} {
		b.AddEdge(e[0], e[1])
	}
	b.Split = graph.Split{Train: []int32{2, 0}, Test: []int32{1}}
	return b
}

func TestBuilder(t *testing.T) {
	b := square()
	g, changes, err := b.Graph(t.Context())
	mattest.OK(t, err)
	mattest.OK(t, g.Validate(t.Context()))
	if changes != (graph.Changes{Entries: 7, Loops: 1, Merged: 2}) || !changes.Any() {
		t.Errorf("changes %+v", changes)
	}
	want := "7 edge entries became 4 undirected edges (1 self-loop dropped, 2 repeats or opposite directions merged)"
	if changes.String() != want {
		t.Errorf("%q, want %q", changes, want)
	}
	if g.Name != "square" || g.Nodes() != 4 || g.Edges() != 4 || g.Classes != 3 || g.Adj.Data != nil {
		t.Errorf("graph %+v, adjacency %+v", g, g.Adj)
	}
	if !slices.Equal(g.Split.Train, []int32{0, 2}) || !slices.Equal(b.Split.Train, []int32{2, 0}) {
		t.Errorf("the graph trains on %v, the builder's list is now %v", g.Split.Train, b.Split.Train)
	}
	b.AddWeightedEdge(0, 1, 3)
	b.AddWeightedEdge(1, 2, 0.5)
	g, _, err = b.Graph(t.Context())
	if err != nil || !slices.Equal(g.Adj.Data, []float32{3, 1, 3, 1, 1, 1, 1, 1}) {
		t.Errorf("%v: weights %v, want the largest of each edge", err, g.Adj.Data)
	}
}

func TestBuilderNeedsFeaturesAlone(t *testing.T) {
	b := graph.Builder{X: &mat.CSR{Rows: 2, Cols: 3, Indptr: []int64{0, 1, 1}, Indices: []int32{2}}}
	g, changes, err := b.Graph(t.Context())
	if err != nil || changes.Any() || g.Validate(t.Context()) != nil {
		t.Fatalf("%v, %v", err, changes)
	}
	none := []int32{graph.Unlabelled, graph.Unlabelled}
	if g.Nodes() != 2 || g.Edges() != 0 || g.Classes != 0 || !slices.Equal(g.Y, none) {
		t.Errorf("%+v", g)
	}
}

func TestBuilderNamesTheFault(t *testing.T) {
	dense := func(b *graph.Builder) *mat.Dense { return b.X.(*mat.Dense) }
	for _, c := range []struct {
		want   string
		change func(*graph.Builder)
	}{
		{"edges: edge 7 (1–4): node 4, must be 0 to 3", func(b *graph.Builder) { b.AddEdge(1, 4) }},
		{"edges: edge 7 (-1–2): node -1, must be 0 to 3", func(b *graph.Builder) { b.AddEdge(-1, 2) }},
		{"edges: edge 7 (4294967296–2): must be nodes 0 to 2147483646", func(b *graph.Builder) { b.AddEdge(1<<32, 2) }},
		{"edges: edge 7 (1–2): weight 0, must be a positive finite", func(b *graph.Builder) { b.AddWeightedEdge(1, 2, 0) }},
		{"edges: edge 7 (1–2): weight +Inf, must be a positive finite", func(b *graph.Builder) {
			b.AddWeightedEdge(1, 2, inf)
			b.AddEdge(1, 4)
		}},
		{"edges: edges have 7 sources, 6 targets and 0 weights, must be", func(b *graph.Builder) {
			b.Edges.To = b.Edges.To[:6]
		}},
		{"features: there are no nodes (0), must be features with", func(b *graph.Builder) { b.X, b.Nodes = nil, 0 }},
		{"edges: -1 nodes, must be 0 to", func(b *graph.Builder) { b.Nodes = -1 }},
		{"features: there are no features, expected a matrix of 4 rows", func(b *graph.Builder) { b.X, b.Nodes = nil, 4 }},
		{"features: features are 3×2, expected 4 rows", func(b *graph.Builder) { b.X, b.Nodes = mat.NewDense(3, 2), 4 }},
		{"features: features are 4×0, expected", func(b *graph.Builder) { b.X = mat.NewDense(4, 0) }},
		{"features: features are 4×2 and hold 7 numbers, expected 8", func(b *graph.Builder) {
			d := dense(b)
			d.Data = d.Data[:7]
		}},
		{"features: feature 1 of node 2 is not a finite number", func(b *graph.Builder) {
			dense(b).Data[5] = float32(math.NaN())
		}},
		{"features: feature 0 of node 3 is not a finite number", func(b *graph.Builder) {
			d := dense(b)
			d.Data[6], b.X = inf, mattest.Distant{Of: d}
		}},
		{"features: features: 3 row pointers for 4 rows", func(b *graph.Builder) {
			b.X = &mat.CSR{Rows: 4, Cols: 1, Indptr: []int64{0, 0, 0}}
		}},
		{"labels: 3 labels for 4 nodes", func(b *graph.Builder) { b.Y = b.Y[:3] }},
		{"labels: label -2 of node 1, must be 0 to 65535, or -1", func(b *graph.Builder) { b.Y[1] = -2 }},
		{"labels: label 2 of node 1, must be 0 to 1, or -1", func(b *graph.Builder) { b.Classes = 2 }},
		{"labels: 65537 classes, must be 0 to 65536", func(b *graph.Builder) { b.Classes = graph.MaxClasses + 1 }},
		{"split: node 4 of test, must be 0 to 3", func(b *graph.Builder) { b.Split.Test = []int32{4} }},
		{"split: node 0 is in train and again in val, must be once", func(b *graph.Builder) { b.Split.Val = []int32{0} }},
		{"split: node 2 is in train and again in train", func(b *graph.Builder) { b.Split.Train = []int32{2, 2} }},
		{"split: node 3 of test has no label", func(b *graph.Builder) { b.Split.Test = []int32{3} }},
	} {
		b := square()
		c.change(b)
		g, _, err := b.Graph(t.Context())
		var part *graph.PartError
		if !errors.As(err, &part) || g != nil || !strings.HasPrefix(part.Part+": "+part.Err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestBuilderPassesOnErrorsOfReading(t *testing.T) {
	lost := errors.New("connection lost")
	b := square()
	b.X = mattest.Distant{Of: mat.NewDense(4, 2), Err: lost}
	_, _, err := b.Graph(t.Context())
	mattest.WantIs(t, err, lost)
	b.X = mattest.Distant{Of: mat.NewDense(4, 2)}
	if g, _, err := b.Graph(t.Context()); err != nil || g.Features() != 2 {
		t.Errorf("a matrix of another type: %v", err)
	}
}

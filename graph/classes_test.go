package graph_test

import (
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// TestWithClasses checks labels, unknown classes and the split after a comparison with other classes.
func TestWithClasses(t *testing.T) {
	abc := []string{"a", "b", "c"}
	for _, c := range []struct {
		own     []string
		classes int
		names   []string
		y       []int32 // of nodes with the classes 0, 1, 2 and none
		unknown []string
	}{
		{abc, 3, abc, []int32{0, 1, 2}, nil},
		{abc, 2, []string{"c", "a"}, []int32{1, -1, 0}, []string{"b"}},
		{abc, 3, nil, []int32{0, 1, 2}, nil},
		{nil, 3, abc, []int32{0, 1, 2}, nil},
		{nil, 7, nil, []int32{0, 1, 2}, nil},
		{[]string{"5", "0", "6"}, 7, nil, []int32{5, 0, 6}, nil},
		{nil, 2, []string{"2", "0"}, []int32{1, -1, 0}, []string{"1"}},
		{[]string{"1", "2", "3"}, 3, nil, []int32{0, 1, 2}, nil}, // numbered from 1
	} {
		g := &graph.Graph{
			X: mat.NewDense(4, 1), Y: []int32{0, 1, 2, graph.Unlabelled}, Classes: 3, ClassNames: c.own,
			Split: graph.Split{Train: []int32{0, 1}, Test: []int32{2}},
		}
		got, unknown := g.WithClasses(c.classes, c.names)
		if want := max(c.classes, 3); c.names == nil && got.Classes != want {
			t.Errorf("%q as %d classes: %d classes, want %d", c.own, c.classes, got.Classes, want)
		}
		if !slices.Equal(got.Y[:3], c.y) || got.Y[3] != graph.Unlabelled || !slices.Equal(unknown, c.unknown) {
			t.Errorf("%q as %d classes %q: labels %v, unknown %q", c.own, c.classes, c.names, got.Y, unknown)
		}
		for _, v := range slices.Concat(got.Split.Train, got.Split.Test) {
			if got.Y[v] == graph.Unlabelled {
				t.Errorf("%q as %d classes %q: node %d of the split has no label", c.own, c.classes, c.names, v)
			}
		}
	}
}

// TestWithFeatures selects and reorders features by name, for all kinds of matrices.
func TestWithFeatures(t *testing.T) {
	dense := &mat.Dense{Rows: 2, Cols: 4, Data: []float32{1, 0, 3, 4, 5, 6, 0, 8}}
	want := []float32{4, 1, 0, 8, 5, 6}
	for _, x := range []mat.Matrix{dense, dense.Sparse(), mat.RowsOf(dense, []int32{0, 1})} {
		g := &graph.Graph{Name: "g", X: x, FeatureNames: []string{"a", "b", "c", "d"}}
		got := mattest.Must(g.WithFeatures([]string{"d", "a", "b"}))
		read := new(mat.Dense)
		mattest.OK(t, mat.Read(read, got.X, []int32{0, 1}, 0, 3))
		if !slices.Equal(read.Data, want) || !slices.Equal(got.FeatureNames, []string{"d", "a", "b"}) {
			t.Errorf("%T: %v of %q, want %v", x, read.Data, got.FeatureNames, want)
		}
		if s, is := got.X.(*mat.CSR); is {
			mattest.OK(t, s.Validate(t.Context()))
		}
		_, err := g.WithFeatures([]string{"a", "e", "f"})
		mattest.Fails(t, `graph g has no feature "e", "f" (2 of 3 are missing); its features are a, b, c, d`)(got, err)
		for _, names := range [][]string{nil, g.FeatureNames} {
			if same := mattest.Must(g.WithFeatures(names)); same != g {
				t.Errorf("%q: another graph", names)
			}
		}
	}
	// Names that occur twice do not identify a feature, and a feature is not taken twice.
	for _, c := range []struct{ own, names []string }{
		{[]string{"a", "b", "b", "d"}, []string{"d", "b", "a"}}, {[]string{"a", "b", "c", "d"}, []string{"b", "a", "b"}},
	} {
		g := &graph.Graph{Name: "g", X: dense.Sparse(), FeatureNames: c.own}
		mattest.Fails(t, `two features are called "b", must have different names: those of graph g are found by name`)(
			g.WithFeatures(c.names))
	}
	unnamed := &graph.Graph{X: dense}
	if same := mattest.Must(unnamed.WithFeatures([]string{"a"})); same != unnamed {
		t.Error("features without names: another graph")
	}
}

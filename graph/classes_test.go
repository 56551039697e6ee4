package graph_test

import (
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/graph"
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

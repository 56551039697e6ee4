package condense_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// hundred returns a graph of 100 nodes and 3 classes. Even nodes are training nodes, odd nodes up to 19 are validation
// nodes, and the other odd nodes are test nodes.
func hundred(t *testing.T) *graph.Graph {
	t.Helper()
	b := graph.Builder{Name: "hundred", X: mat.NewDense(100, 4)}
	for v := range int32(100) {
		b.Y = append(b.Y, v%3)
		for j := range 4 {
			b.X.(*mat.Dense).Row(int(v))[j] = float32(math.Sin(float64(v)*float64(j+1))) + float32(j)
		}
		b.AddEdge(int(v), int(v+1)%100)
		b.AddEdge(int(v), int(v+2)%100)
		switch {
		case v%2 == 0:
			b.Split.Train = append(b.Split.Train, v)
		case v < 20:
			b.Split.Val = append(b.Split.Val, v)
		default:
			b.Split.Test = append(b.Split.Test, v)
		}
	}
	return mattest.First(b.Graph(t.Context()))
}

func TestSize(t *testing.T) {
	g := hundred(t)
	for _, c := range []struct {
		size      condense.Size
		inductive bool
		want      int
		err       string
	}{
		{condense.Size{Nodes: 3}, false, 3, ""},
		{condense.Size{Nodes: 50}, true, 50, ""},
		{condense.Size{Ratio: 0.125}, false, 13, ""},
		{condense.Size{Ratio: 0.125}, true, 6, ""},
		{condense.Size{LabelRatio: 1}, false, 50, ""},
		{condense.Size{Nodes: 2}, false, 0, "nodes 2, must be from 3 (the classes with training nodes) to 50"},
		{condense.Size{Nodes: 51}, false, 0, "nodes 51, must be from 3"},
		{condense.Size{Ratio: 0.01}, false, 0, "ratio 0.01 of 100 nodes: nodes 1, must be from 3"},
		{condense.Size{Ratio: 0.01}, true, 0, "ratio 0.01 of 50 training nodes: nodes 1, must be from 3"},
		{condense.Size{LabelRatio: 0.01}, false, 0, "label ratio 0.01 of 50 training nodes: nodes 1, must be from 3"},
	} {
		got, err := c.size.Of(g, c.inductive)
		if c.err != "" && (!errors.As(err, new(*condense.FieldError)) || !strings.HasPrefix(err.Error(), c.err)) {
			t.Errorf("%+v: error %v, want a *FieldError with %q", c.size, err, c.err)
		}
		if got != c.want || c.err == "" && err != nil {
			t.Errorf("%+v, inductive %v: %d nodes, error %v, want %d", c.size, c.inductive, got, err, c.want)
		}
	}
	for want, size := range map[string]condense.Size{
		"0 of nodes, ratio and label ratio given":  {},
		"2 of nodes, ratio and label ratio given":  {Nodes: 5, Ratio: 0.5},
		"nodes -1, must be at least 1":             {Nodes: -1},
		"ratio 1.5, must be above 0 and at most 1": {Ratio: 1.5},
		"label ratio NaN, must be above 0":         {LabelRatio: math.NaN()},
	} {
		mattest.WantError(t, size.Validate(), want)
	}
	if err := (condense.Size{Ratio: 1}).Validate(); err != nil || !(condense.Size{}).IsZero() {
		t.Errorf("a ratio of 1: error %v", err)
	}
}

func TestTrainable(t *testing.T) {
	g := hundred(t)
	mattest.OK(t, condense.Trainable(g))
	missing := *g
	missing.Split.Train = slices.DeleteFunc(slices.Clone(g.Split.Train), func(v int32) bool { return g.Y[v] == 1 })
	mattest.Fails(t, "graph bare has 0 training nodes")(condense.Size{Nodes: 1}.Of(&graph.Graph{Name: "bare"}, false))
	want := "class 1 of graph hundred has 0 training nodes and 17 for validation and test"
	mattest.WantError(t, condense.Trainable(&missing), want)
	missing.Split.Train = nil
	want = "0 training nodes, must have at least 1"
	mattest.WantError(t, condense.Trainable(&missing), want)
}

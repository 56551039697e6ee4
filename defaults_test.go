package cgc_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
)

// tiny returns a graph with the given numbers of classes and of training nodes.
func tiny(t *testing.T, classes, train int) *graph.Graph {
	t.Helper()
	g, err := synth.Make(t.Context(), synth.Shape{
		Name: "tiny", Nodes: 400, Edges: 900, Features: 8, Classes: classes, Train: train, Val: 30, Test: 30,
		Groups: 1, Homophily: 0.8, Signal: 2, Balanced: true,
	}, rand.NewPCG(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestDefaultsForSizes(t *testing.T) {
	for _, c := range []struct {
		train, nodes int
		why          string
	}{
		{300, 30, "30 condensed nodes, 10 for each of 3 classes"},
		{60, 30, "30 condensed nodes, 10 for each of 3 classes"},
		{45, 22, "22 condensed nodes, half of the 45 training nodes"},
		{6, 3, "3 condensed nodes, one for each class"},
		{3, 3, "3 condensed nodes, one for each class"},
	} {
		g := tiny(t, 3, c.train)
		config, reasons := cgc.DefaultsFor(g)
		if config.Nodes != c.nodes || len(reasons) != 1 || reasons[0].Name != "nodes" || reasons[0].Text != c.why {
			t.Errorf("%d training nodes: %d nodes, %v, want %d, %q", c.train, config.Nodes, reasons, c.nodes, c.why)
		}
		if _, err := config.NodesFor(g); err != nil {
			t.Errorf("%d training nodes: %v", c.train, err)
		}
	}
}

// Only labels of training nodes are read. A class without training nodes does not count.
func TestDefaultsForTrainingLabelsAlone(t *testing.T) {
	g := tiny(t, 4, 200)
	want, _ := cgc.DefaultsFor(g)
	blind := *g
	blind.Y = make([]int32, len(g.Y))
	for i := range blind.Y {
		blind.Y[i] = graph.Unlabelled
	}
	blind.Split.Train = nil
	for _, i := range g.Split.Train {
		if blind.Y[i] = g.Y[i]; g.Y[i] > 0 {
			blind.Split.Train = append(blind.Split.Train, i)
		}
	}
	got, reasons := cgc.DefaultsFor(&blind)
	if got.Nodes != 30 || want.Nodes != 40 || !strings.Contains(reasons[0].Text, "3 classes") {
		t.Errorf("%d nodes (%v) with three of four classes, %d with four, want 30 and 40", got.Nodes, reasons, want.Nodes)
	}
	if got.Hops != want.Hops || got.Variant != want.Variant {
		t.Errorf("%+v, want %+v but for the size", got, want)
	}
}

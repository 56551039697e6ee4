package dataset_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// realData returns the options that find real graphs: $CGC_DATA, or a folder next to the checkout.
func realData(t *testing.T) dataset.Options {
	t.Helper()
	o := dataset.Environment()
	o.Cache = "" // never fetch
	if beside := filepath.Join("..", "..", "shared", "datasets"); len(o.Search) == 0 {
		if _, err := os.Stat(beside); err == nil {
			o.Search = []string{beside}
		}
	}
	return o
}

// realGraph opens a real graph, or skips the test where its files are missing.
func realGraph(t *testing.T, name string) *graph.Graph {
	t.Helper()
	o := realData(t)
	if !slices.ContainsFunc(o.List(), func(s dataset.Source) bool { return s.Name == name && s.Path != "" }) {
		t.Skipf("%s is not in $CGC_DATA", name)
	}
	return fixture.Must(o.Open(t.Context(), name))(t)
}

func TestRealGraphs(t *testing.T) {
	for _, want := range []struct {
		name                                              string
		nodes, edges, features, classes, train, val, test int
		unlabelled, isolated                              int
	}{
		{"cora", 2708, 5278, 1433, 7, 140, 500, 1000, 0, 0},
		{"citeseer", 3327, 4552, 3703, 6, 120, 500, 1000, 15, 48},
		{"arxiv", 169343, 1157799, 200, 40, 90941, 29799, 48603, 0, 0},
		{"amazon-photo", 7650, 119081, 745, 8, 160, 240, 7250, 0, 115},
	} {
		t.Run(want.name, func(t *testing.T) {
			t.Parallel()
			g := realGraph(t, want.name)
			got := want
			got.nodes, got.edges, got.features, got.classes = g.Nodes(), g.Edges(), g.Features(), g.Classes
			got.train, got.val, got.test = len(g.Split.Train), len(g.Split.Val), len(g.Split.Test)
			got.unlabelled, got.isolated = 0, 0
			for i, y := range g.Y {
				if y == graph.Unlabelled {
					got.unlabelled++
				}
				if g.Adj.Indptr[i] == g.Adj.Indptr[i+1] {
					got.isolated++
				}
			}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if g.Adj.Data != nil {
				t.Error("an unweighted graph has weights")
			}
		})
	}
}

// TestCoraIsInPlace compares position-weighted sums over the parts of Cora with values computed by numpy and scipy. A
// misplaced row changes these sums.
func TestCoraIsInPlace(t *testing.T) {
	g := realGraph(t, "cora")
	x, labels, features, edges := g.X.(*mat.CSR), 0, 0, 0
	for i, y := range g.Y {
		labels += i * int(y)
		for j, v := range x.Row(i) {
			features += (i + 1) * (j + 1) * int(v) % 1009
		}
		for _, j := range g.Adj.Indices[g.Adj.Indptr[i]:g.Adj.Indptr[i+1]] {
			edges += (i + 1) * int(j+1) % 1009
		}
	}
	if got := fmt.Sprint(labels, features, edges); got != "10506393 24770495 5230458" {
		t.Errorf("sums of labels, features and edges %s", got)
	}
}

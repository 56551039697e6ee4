package dataset_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
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
	return mattest.Must(o.Open(t.Context(), name))
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

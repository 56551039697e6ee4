package graph_test

import (
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestNeed checks that the error for a missing part of the split says which nodes could be in it.
func TestNeed(t *testing.T) {
	g := &graph.Graph{Name: "g", Y: []int32{0, 1, graph.Unlabelled, 0, 1}, Classes: 2}
	g.Split.Train = []int32{0, 1}
	mattest.Equal(t, g.NeedVal().Error(), "graph g has no validation nodes (0), must have at least 1: "+
		"mark some of its 2 labelled nodes that are in no part as val in its split", "labelled nodes outside the split")
	g.Split.Test = []int32{2, 3, 4}
	mattest.OK(t, g.NeedTest())
	mattest.Equal(t, g.NeedVal().Error(), "graph g has no validation nodes (0), must have at least 1: "+
		"mark some of its training nodes as val in its split", "all labelled nodes are in the split")
}

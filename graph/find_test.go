package graph_test

import (
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// TestFind finds nodes by name and by number, in any order and with repetitions.
func TestFind(t *testing.T) {
	named := &graph.Graph{IDs: []string{"b", " a", "a", "7"}}
	numbered := &graph.Graph{Adj: &mat.CSR{Rows: 12}}
	for _, c := range []struct {
		g     *graph.Graph
		ids   []string
		nodes []int32
		err   string
	}{
		{named, []string{"a", "b", " b", "a"}, []int32{0, 2}, ""},
		{named, []string{" a"}, []int32{1}, ""},
		{named, []string{"7"}, []int32{3}, ""},
		{named, []string{"b", "3", "c", "3"}, nil, `there is no node "3", "c"`},
		{&graph.Graph{IDs: []string{"b", "a", "b"}}, []string{"b"}, nil, `nodes 0 and 2 have the same id "b"`},
		{numbered, []string{"11", " 0 ", "11"}, []int32{0, 11}, ""},
		{numbered, []string{"12", "-1", "x", "", "13", "14"}, nil, `no node "12", "-1", "x", "", "13" and 1 more`},
		{numbered, nil, nil, ""},
	} {
		nodes, err := c.g.Find(c.ids)
		if c.err != "" {
			mattest.Fails(t, c.err)(nodes, err)
			continue
		}
		mattest.OK(t, err)
		mattest.Equal(t, nodes, c.nodes, "nodes of %q", c.ids)
	}
}

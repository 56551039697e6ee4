package condense_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// ring returns a graph of 20 nodes in two classes, with training nodes 0 to 9, validation nodes 10 to 13 and test nodes
// 14 to 19.
func ring(t *testing.T) *graph.Graph {
	t.Helper()
	b := graph.Builder{Name: "ring", X: mat.NewDense(20, 3), Classes: 2}
	var all []int32
	for i := range 20 {
		b.AddEdge(i, (i+1)%20)
		b.X.(*mat.Dense).Row(i)[i%3] = float32(i + 1)
		b.Y, all = append(b.Y, int32(i%2)), append(all, int32(i))
	}
	b.Split = graph.Split{Train: all[:10], Val: all[10:14], Test: all[14:]}
	return mattest.First(b.Graph(t.Context()))
}

// fromRing returns a condensed graph of ring, with one condensed node for each given source node.
func fromRing(t *testing.T, members ...int32) *condense.Condensed {
	t.Helper()
	g := ring(t)
	small := &condense.Condensed{
		X: mat.NewDense(len(members), 3), Y: g.Labels(members), Classes: 2, Graph: "ring", GraphNodes: 20,
		Members: condense.FromRows(members, 20), Method: "herding",
	}
	mattest.OK(t, small.TakeSource(g))
	return small
}

// swap exchanges training nodes 0 to 5 with the test nodes.
func swap(g *graph.Graph) {
	s := &g.Split
	s.Train, s.Test = slices.Concat(s.Train[6:], s.Test), slices.Clone(s.Train[:6])
}

func TestCheckTarget(t *testing.T) {
	for name, c := range map[string]struct {
		members []int32 // source nodes; 0 to 7 by default
		small   func(*condense.Condensed)
		graph   func(*graph.Graph)
		want    string // the reason; empty if there is none
		note    string
	}{
		"the graph itself": {},
		"its test labels are hidden": {
			graph: func(g *graph.Graph) { *g = *g.WithoutTest() },
		},
		"it was condensed without a test split": {
			small: func(c *condense.Condensed) { c.Source.TestNodes, c.Source.Test = 0, "" },
		},
		"pseudo-labelled test nodes": {members: []int32{0, 1, 2, 3, 15, 16}},
		"another split": {
			graph: swap,
			want: "the condensed graph was made from another split of ring: training nodes and test nodes differ; " +
				"6 of the 8 nodes it was made from are test nodes of ring",
		},
		"another split, and pseudo-labels": {
			members: []int32{0, 1, 2, 3, 15, 16}, graph: swap,
			want: "4 of the 6 nodes it was made from are test nodes of ring (2 of the 6 were used without their labels)",
		},
		"another split, and no members": {
			small: func(c *condense.Condensed) { c.Members = nil }, graph: swap,
			want: "another split of ring: training nodes and test nodes differ",
		},
		"other test nodes": {
			graph: func(g *graph.Graph) { s := &g.Split; s.Val, s.Test = g.Split.Test, g.Split.Val },
			want:  "another split of ring: validation nodes and test nodes differ; 0 of the 8 nodes",
		},
		"other features": {
			graph: func(g *graph.Graph) { g.X.(*mat.Dense).Data[0]++ },
			want:  "the condensed graph was made from another graph than ring: features differ; 0 of the 8 nodes",
		},
		"other edges": {
			graph: func(g *graph.Graph) { g.Adj.Data = slices.Repeat([]float32{2}, g.Adj.NNZ()) },
			want:  "another graph than ring: edges differ",
		},
		"other labels": {
			graph: func(g *graph.Graph) { g.Y[0] = 1 },
			want:  "another graph than ring: training labels differ",
		},
		"classes in another order": {
			small: func(c *condense.Condensed) { c.ClassNames = []string{"even", "odd"} },
			graph: func(g *graph.Graph) {
				g.ClassNames = []string{"odd", "even"}
				for i := range g.Y {
					g.Y[i] = 1 - g.Y[i]
				}
			},
		},
		"another name of a class": {
			small: func(c *condense.Condensed) { c.ClassNames = []string{"even", "odd"} },
			graph: func(g *graph.Graph) { g.ClassNames = []string{"even", "uneven"} },
			want: "another graph than ring: classes and training labels differ; 0 of the 8 nodes it was made from are " +
				"test nodes of ring; it has no class uneven, and nodes of such a class are not tested",
		},
		"another class of a test node": {
			small: func(c *condense.Condensed) { c.ClassNames = []string{"even", "odd"} },
			graph: func(g *graph.Graph) {
				g.Classes, g.ClassNames = 3, []string{"even", "new", "odd"}
				for i := range 10 {
					g.Y[2*i+1] = 2
				}
				g.Y[19] = 1
			},
			want: "another graph than ring: classes (3 instead of 2) differ; 0 of the 8 nodes it was made from are " +
				"test nodes of ring; it has no class new, and nodes of such a class are not tested",
		},
		"more nodes": {
			small: func(c *condense.Condensed) { c.GraphNodes, c.Members.Cols = 15, 15 },
			want:  "another graph than ring: nodes (20 instead of 15) differ",
		},
		"an old file": {
			small: func(c *condense.Condensed) { c.Source = nil },
			note:  "nothing shows that it is ring with this split; 0 of the 8 nodes it was made from are test nodes of ring",
		},
		"an old file, another split": {
			small: func(c *condense.Condensed) { c.Source = nil }, graph: swap,
			want: "another split of ring: training nodes differ; 6 of the 8 nodes it was made from are test nodes of ring",
			note: "does not say which graph",
		},
		"an old file of all training nodes and others without labels": {
			members: []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16},
			small:   func(c *condense.Condensed) { c.Source = nil },
			note:    "2 of the 12 nodes it was made from are test nodes of ring",
		},
		"names in another order": {
			small: func(c *condense.Condensed) {
				c.MemberIDs = []string{"n9", "n8", "n7", "n6", "n5", "n4", "n3", "n2"}
			},
			graph: func(g *graph.Graph) {
				swap(g)
				g.IDs = make([]string, 20)
				for i := range g.IDs {
					g.IDs[i] = "n" + strconv.Itoa(i)
				}
			},
			want: "4 of the 8 nodes it was made from are test nodes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.members == nil {
				c.members = []int32{0, 1, 2, 3, 4, 5, 6, 7}
			}
			small, g := fromRing(t, c.members...), ring(t)
			if c.small != nil {
				c.small(small)
			}
			if c.graph != nil {
				c.graph(g)
			}
			got := mattest.Must(small.CheckTarget(g))
			reason := got.Reason()
			if !strings.Contains(reason, c.want) || (reason == "") != (c.want == "") {
				t.Errorf("reason %q, want %q", reason, c.want)
			}
			if note := got.Note(); !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
				t.Errorf("note %q, want %q", note, c.note)
			}
			var other *condense.TargetError
			if err := got.Err(); errors.As(err, &other) != (c.want != "") || err != nil && err.Error() != reason {
				t.Errorf("error %v, reason %q", err, reason)
			}
		})
	}
}

// Source does not depend on the setting: it always identifies the original graph, even if only its training nodes or
// scaled features were condensed.
func TestSourceInSettings(t *testing.T) {
	for _, s := range []condense.Setting{
		{}, {Inductive: true}, {Standardize: true}, {NormalizeFeatures: true, Standardize: true, Inductive: true},
	} {
		g := ring(t)
		small := mattest.Must(condense.Under(s, Draw{}).Condense(t.Context(), g, 4, 0))
		got, err := small.CheckTarget(g)
		if err != nil || got.Err() != nil || !got.Known || got.SourceNodes != 4 || small.Source.Unlabelled != 0 {
			t.Errorf("%+v: %+v, %+v, error %v", s, got, small.Source, err)
		}
	}
}

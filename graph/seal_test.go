package graph_test

import (
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// asTheyAre leaves four features as they are.
var asTheyAre = graph.Scaling{Mean: make([]float32, 4), Std: []float32{1, 1, 1, 1}}

// spoil changes a value of g in place, which only a check of all data can detect.
func spoil(g *graph.Graph) { g.Adj.Indices[0] = 0 }

func TestSeal(t *testing.T) {
	g := path()
	mattest.OK(t, g.Seal(t.Context()))
	spoil(g)
	if err := g.Check(t.Context()); err != nil {
		t.Errorf("a sealed graph is read once more: %v", err)
	}
	if g.Validate(t.Context()) == nil {
		t.Error("Validate trusts the seal")
	}
	other := path()
	if spoil(other); other.Seal(t.Context()) == nil || other.Check(t.Context()) == nil {
		t.Error("an invalid graph is sealed")
	}
}

// A graph that Builder made is sealed.
func TestBuilderSeals(t *testing.T) {
	b := graph.Builder{X: mat.NewDense(3, 1)}
	b.AddEdge(0, 1)
	g := mattest.First(b.Graph(t.Context()))
	spoil(g)
	mattest.OK(t, g.Check(t.Context()))
}

// A copy is sealed as long as it shares all fields with the graph. Replacing a field breaks the seal.
func TestSealBreaks(t *testing.T) {
	for what, change := range map[string]func(g *graph.Graph){
		"adjacency": func(g *graph.Graph) { a := *g.Adj; a.Indices = slices.Clone(a.Indices); g.Adj = &a },
		"pointers":  func(g *graph.Graph) { g.Adj.Indptr = slices.Clone(g.Adj.Indptr) },
		"weights":   func(g *graph.Graph) { g.Adj.Data = nil },
		"size":      func(g *graph.Graph) { g.Adj.Rows-- },
		"features":  func(g *graph.Graph) { g.X = mat.NewDense(4, 4) },
		"numbers":   func(g *graph.Graph) { x := g.X.(*mat.Dense); x.Data = slices.Clone(x.Data) },
		"sparse":    func(g *graph.Graph) { g.X = g.X.(*mat.Dense).Sparse() },
		"reader":    func(g *graph.Graph) { g.X = mattest.Distant{Of: g.X} },
		"ids":       func(g *graph.Graph) { g.IDs = []string{"a"} },
		"names":     func(g *graph.Graph) { g.ClassNames = []string{"a"} },
		"labels":    func(g *graph.Graph) { g.Y = slices.Clone(g.Y) },
		"classes":   func(g *graph.Graph) { g.Classes++ },
		"train":     func(g *graph.Graph) { g.Split.Train = g.Split.Train[:1] },
		"val":       func(g *graph.Graph) { g.Split.Val = nil },
		"test":      func(g *graph.Graph) { g.Split.Test = slices.Clone(g.Split.Test) },
		"scaled":    func(g *graph.Graph) { *g = *scaled(t, g, asTheyAre) },
		"induced":   func(g *graph.Graph) { *g = *g.Induced([]int32{0, 1, 2, 3}) },
	} {
		g := path()
		mattest.OK(t, g.Seal(t.Context()))
		spoil(g)
		other := *g
		if err := other.Check(t.Context()); err != nil {
			t.Errorf("%s: a copy is read once more: %v", what, err)
		}
		adj := *g.Adj
		other.Adj = &adj
		change(&other)
		if other.Check(t.Context()) == nil {
			t.Errorf("%s: a changed copy is trusted", what)
		}
		if err := g.Check(t.Context()); what != "numbers" && err != nil {
			t.Errorf("%s: the copy's change breaks the seal of the graph: %v", what, err)
		}
	}
}

// Features whose type cannot be compared are checked each time.
func TestFeaturesThatCannotBeCompared(t *testing.T) {
	g := path()
	g.X = listed{g.X.(*mat.Dense).Rows, nil, g.X}
	mattest.OK(t, g.Seal(t.Context()))
	mattest.OK(t, g.Check(t.Context()))
	if spoil(g); g.Check(t.Context()) == nil {
		t.Error("the graph is trusted")
	}
}

// listed is a matrix whose type does not support ==.
type listed struct {
	n     int
	parts []string
	mat.Matrix
}

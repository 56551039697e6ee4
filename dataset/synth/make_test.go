package synth_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/registry"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
)

func made(t *testing.T, s synth.Shape, seed uint64) *graph.Graph {
	t.Helper()
	return mattest.Must(synth.Make(t.Context(), s, rand.NewPCG(seed, 0)))
}

func like(t *testing.T, name string) synth.Shape {
	t.Helper()
	return mattest.Must(synth.Like(name))
}

func TestMakeMeetsItsShape(t *testing.T) {
	slow.Test(t, "makes six graphs")
	shapes := []synth.Shape{like(t, "cora"), like(t, "citeseer")}
	for _, name := range []string{"arxiv", "flickr", "reddit", "products"} {
		shapes = append(shapes, like(t, name).Scale(0.01))
	}
	for _, s := range shapes {
		g := made(t, s, 1)
		if !strings.HasPrefix(g.Name, "made-") {
			t.Errorf("%s passes as a real graph", g.Name)
		}
		if err := g.Validate(t.Context()); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		f := mattest.Must(dataset.Describe(g))
		if f.Nodes != s.Nodes || f.Edges != s.Edges || f.Features != s.Features || f.Classes != s.Classes ||
			f.Train != s.Train || f.Val != s.Val || f.Test != s.Test {
			t.Errorf("made %+v\nof shape %+v", f, s)
		}
		for c, n := range f.PerClass {
			if n.Train == 0 {
				t.Errorf("%s: class %d has no training node", s.Name, c)
			}
			if s.Balanced && n.Train != s.Train/s.Classes {
				t.Errorf("%s: class %d has %d training nodes, want %d", s.Name, c, n.Train, s.Train/s.Classes)
			}
		}
		crowded := s.Nodes < 60*s.Classes*s.Groups // small sub-classes run out of pairs, and their edges repeat
		if !crowded && (f.Homophily < 0.6 || f.Homophily > 0.85) {
			t.Errorf("%s: %.2f of the edges are within a class, drawn with probability %.2f and more by chance",
				s.Name, f.Homophily, s.Homophily)
		}
	}
}

func TestMakeDependsOnTheSeedAlone(t *testing.T) {
	s := like(t, "arxiv").Scale(0.01)
	one := made(t, s, 3)
	if reflect.DeepEqual(one, made(t, s, 4)) {
		t.Error("two seeds make the same graph")
	}
	for _, threads := range []int{1, 7} {
		before := runtime.GOMAXPROCS(threads)
		if !reflect.DeepEqual(one, made(t, s, 3)) {
			t.Errorf("%d threads change the graph", threads)
		}
		runtime.GOMAXPROCS(before)
	}
}

// TestMakeDenseGraphs checks that the number of edges is met if few nodes share many edges, where most draws repeat an
// edge.
func TestMakeDenseGraphs(t *testing.T) {
	s := synth.Shape{Nodes: 200, Edges: 1900, Features: 3, Classes: 2, Train: 10}
	if g := made(t, s, 1); g.Edges() != 1900 || g.Validate(t.Context()) != nil {
		t.Errorf("%d edges, want 1900; %v", g.Edges(), g.Validate(t.Context()))
	}
}

func TestMakeRefuses(t *testing.T) {
	good := synth.Shape{Nodes: 100, Edges: 100, Features: 8, Classes: 2, Train: 10}
	for want, change := range map[string]func(*synth.Shape){
		"Nodes 0":          func(s *synth.Shape) { s.Nodes = 0 },
		"Edges 501":        func(s *synth.Shape) { s.Edges = 501 },
		"Features 0":       func(s *synth.Shape) { s.Features = 0 },
		"Classes -1":       func(s *synth.Shape) { s.Classes = -1 },
		"26 classes":       func(s *synth.Shape) { s.Classes = 26 },
		"split 0/0/0":      func(s *synth.Shape) { s.Train = 0 },
		"more than":        func(s *synth.Shape) { s.Test = 91 },
		"Homophily 1.5":    func(s *synth.Shape) { s.Homophily = 1.5 },
		"Signal -1":        func(s *synth.Shape) { s.Signal = -1 },
		"Words 3":          func(s *synth.Shape) { s.Words = 3 },
		"Signal 2 of word": func(s *synth.Shape) { s.Words, s.Signal = 2, 2 },
	} {
		s := good
		change(&s)
		mattest.Fails(t, want)(synth.Make(t.Context(), s, rand.NewPCG(1, 1)))
	}
	var unknown *registry.Unknown
	if _, err := synth.Like("coral"); !errors.As(err, &unknown) || !slices.Equal(unknown.Names, synth.Names()) {
		t.Errorf("error %v, want one that lists the names", err)
	}
}

// TestMakeDrawsFreshNoise checks that chunks of rows do not repeat the noise. If they did, rows 1024 apart would differ
// only by their classes.
func TestMakeDrawsFreshNoise(t *testing.T) {
	x := made(t, like(t, "arxiv").Scale(0.05), 1).X.(*mat.Dense)
	sum := 0.0
	for j, v := range x.Row(0) {
		d := float64(v - x.Row(1024)[j])
		sum += d * d
	}
	if sum < float64(x.Cols) { // the expected value is twice the number of features, plus the distance of the classes
		t.Errorf("rows 0 and 1024 are at the squared distance %.1f, want about %d", sum, 2*x.Cols)
	}
}

package auto_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
)

func TestContract(t *testing.T) {
	slow.Test(t, "condenses dozens of graphs in many ways")
	claims := []condensetest.Claim{condensetest.Proportional, condensetest.Random, condensetest.ReadsValidation}
	condensetest.Test(t, auto.New(), claims...)
}

// blocks returns a graph of four classes with the given homophily, and 5 training nodes in each class.
func blocks(t *testing.T, homophily, signal float64) *graph.Graph {
	t.Helper()
	return mattest.Must(synth.Make(t.Context(), synth.Shape{
		Name: "blocks", Nodes: 900, Edges: 3600, Features: 24, Classes: 4, Train: 20, Val: 300, Test: 300, Balanced: true,
		Homophily: homophily, Signal: signal,
	}, rand.NewPCG(4, 0)))
}

// choice condenses g to 8 nodes and returns the condensed graph and the account of the choice.
func choice(t *testing.T, m auto.Method, g *graph.Graph, seed uint64) (*condense.Condensed, auto.Account) {
	t.Helper()
	small := mattest.Must(m.Condense(t.Context(), g, 8, seed))
	return small, mattest.Must(auto.AccountOf(small))
}

// TestChoosesAllNodes: 20 labels hardly distinguish the classes, but the graph does. Unlabelled nodes must be condensed
// too, for any seed.
func TestChoosesAllNodes(t *testing.T) {
	g := blocks(t, 0.85, 0.5)
	for seed := range uint64(2) {
		small, a := choice(t, auto.New(), g, seed)
		if !strings.HasPrefix(a.Chosen, "cgc-d") || small.Soft == nil || small.Members.NNZ() != g.Nodes() {
			t.Errorf("seed %d: chose %s with %d members, %s", seed, a.Chosen, small.Members.NNZ(), a.Why)
		}
		if small.Warnings != nil {
			t.Errorf("warnings %q", small.Warnings)
		}
		if small.Method != "auto" || a.Validation != len(g.Split.Val) || a.HeldOut {
			t.Errorf("method %s, %d validation nodes, held out %v", small.Method, a.Validation, a.HeldOut)
		}
	}
}

// TestWarns: whatever is chosen, features that are too large for a GNN cause a warning.
func TestWarns(t *testing.T) {
	g := blocks(t, 0.85, 0.5)
	for i, v := range g.X.(*mat.Dense).Data {
		g.X.(*mat.Dense).Data[i] = 100 * v
	}
	small, a := choice(t, auto.New(), g, 0)
	if !strings.HasPrefix(a.Chosen, "cgc-d") || len(small.Warnings) != 1 || !strings.Contains(small.Warnings[0], "norm") {
		t.Errorf("%s has the warnings %q", a.Chosen, small.Warnings)
	}
}

// TestStaysWithCGC: if neither features nor edges depend on the classes, no candidate is clearly better, and the result
// is the graph of cgc.
func TestStaysWithCGC(t *testing.T) {
	g := blocks(t, 0, 0)
	m := auto.New()
	m.Margin = 3
	small, a := choice(t, m, g, 7)
	if a.Chosen != "cgc" {
		t.Fatalf("chose %s: %s", a.Chosen, a.Why)
	}
	want := mattest.Must(mattest.Must(condense.New("cgc", nil)).Condense(t.Context(), g, 8, 7))
	if !slices.Equal(small.X.Data, want.X.Data) {
		t.Error("X′ is not that of cgc")
	}
}

// TestStaysWhereAllAreRight: if every candidate predicts all nodes, gains are differences of probabilities near 1, and
// no candidate replaces cgc, however small the errors of the gains are.
func TestStaysWhereAllAreRight(t *testing.T) {
	g := blocks(t, 0.99, 1.5)
	m := auto.New()
	m.Margin = 0
	_, a := choice(t, m, g, 0)
	some := slices.ContainsFunc(a.Candidates, func(c auto.Candidate) bool { return c.Gain > 0 })
	if !some || a.Chosen != "cgc" || a.Candidates[0].Accuracy != 100 {
		t.Errorf("chose %s: %s; candidates %+v", a.Chosen, a.Why, a.Candidates)
	}
}

// TestWeighsClasses: validation nodes that were drawn class by class are weighted, others are not.
func TestWeighsClasses(t *testing.T) {
	g := blocks(t, 0.85, 0.5)
	if _, a := choice(t, auto.New(), g, 0); a.Weighted || strings.Contains(a.Why, "weighted") {
		t.Errorf("%v validation nodes of the classes get weights: %s", g.Counts(g.Split.Val), a.Why)
	}
	seen := make([]int, g.Classes)
	g.Split.Val = slices.DeleteFunc(g.Split.Val, func(v int32) bool { seen[g.Y[v]]++; return seen[g.Y[v]] > 30 })
	if _, a := choice(t, auto.New(), g, 0); !a.Weighted || !strings.Contains(a.Why, "weighted") {
		t.Errorf("%v validation nodes of the classes get no weights: %s", g.Counts(g.Split.Val), a.Why)
	}
}

// TestHoldsOut checks the choice without validation nodes: half of the training nodes decide.
func TestHoldsOut(t *testing.T) {
	g := blocks(t, 0.85, 0.5)
	g.Split.Val = nil
	small, a := choice(t, auto.New(), g, 0)
	if !a.HeldOut || a.Validation != 8 || small.Members.NNZ() < len(g.Split.Train) {
		t.Errorf("held out %v, %d nodes, %d members", a.HeldOut, a.Validation, small.Members.NNZ())
	}
}

// TestOneNodeDecidesNothing: the gain on a single node has no standard error. cgc is kept, and the loss cannot be
// estimated.
func TestOneNodeDecidesNothing(t *testing.T) {
	for _, heldOut := range []bool{false, true} {
		g := blocks(t, 0.85, 0.5)
		g.Split.Val = g.Split.Val[:1]
		want := "only one validation node can decide, must be at least two"
		if heldOut {
			seen := make([]int, g.Classes)
			most := []int{2, 1, 1, 1}
			g.Split.Val = nil
			g.Split.Train = slices.DeleteFunc(g.Split.Train, func(v int32) bool {
				seen[g.Y[v]]++
				return seen[g.Y[v]] > most[g.Y[v]]
			})
			want = "only one held-out training node can decide, must be at least two"
		}
		m := auto.New()
		a := mattest.Must(auto.AccountOf(mattest.Must(m.Condense(t.Context(), g, 4, 0))))
		if a.Chosen != "cgc" || a.Why != want || a.Validation != 0 {
			t.Errorf("chose %s on %d nodes: %s", a.Chosen, a.Validation, a.Why)
		}
		m.Lossless = 1
		_, err := m.Condense(t.Context(), g, 4, 0)
		if err == nil || err.Error() != "the loss cannot be estimated: "+want {
			t.Errorf("error %v", err)
		}
	}
}

// TestInductive checks that only training nodes are condensed in the inductive setting, and that validation nodes
// decide.
func TestInductive(t *testing.T) {
	g := blocks(t, 0.85, 0.5)
	m := auto.New()
	m.Inductive, m.Standardize = true, true
	small, a := choice(t, m, g, 0)
	if !small.Inductive || small.Scaling == nil || small.Members.NNZ() > len(g.Split.Train) || a.Validation != 300 {
		t.Errorf("inductive %v, %d members, %d validation nodes", small.Inductive, small.Members.NNZ(), a.Validation)
	}
}

// TestMemory checks that cgc is used if there is no room for a choice, and that with a little more memory, candidates
// without room are left out with a reason.
func TestMemory(t *testing.T) {
	g := blocks(t, 0.85, 0.5)
	m := auto.New()
	m.Memory = 24 << 20 // an idle process
	_, a := choice(t, m, g, 0)
	if a.Chosen != "cgc" || !strings.Contains(a.Why, "memory") {
		t.Fatalf("chose %s: %s", a.Chosen, a.Why)
	}
	for _, c := range a.Candidates {
		want := ""
		if c.Method == "cgc-d" {
			want = "the memory limit leaves no room for it"
		}
		mattest.Equal(t, c.LeftOut, want, "%s is left out", c.Name)
	}
	for strings.Contains(a.Why, "memory") {
		m.Memory += 50_000
		_, a = choice(t, m, g, 0)
	}
	for _, c := range a.Candidates {
		all := strings.Contains(string(c.Parameters), "always") // 900·24 numbers for each hop
		if cgc := c.Method != "cgc-d"; all && !strings.Contains(c.LeftOut, "must be at most") || cgc && c.LeftOut != "" {
			t.Errorf("%s is left out because of %q", c.Name, c.LeftOut)
		}
		_, out, _ := strings.Cut(a.Why, "; left out: ")
		if slices.Contains(strings.Split(out, ", "), c.Name) != (c.LeftOut != "") {
			t.Errorf("%s is left out because of %q, and the reason of the choice is: %s", c.Name, c.LeftOut, a.Why)
		}
	}
}

// TestLossless checks that sizes are tried in ascending order until one meets the bound, that the result is the graph
// that the same method condenses to this size, and that it is an error if no size meets the bound.
func TestLossless(t *testing.T) {
	slow.Test(t, "condenses at many sizes")
	g := blocks(t, 0.2, 0.5) // 4 and 6 nodes lose accuracy
	m := auto.New()
	m.Lossless = 0.5
	small := mattest.Must(m.Condense(t.Context(), g, 20, 1))
	a := mattest.Must(auto.AccountOf(small))
	var sizes []int
	for i, s := range a.Sizes {
		sizes = append(sizes, s.Nodes)
		if met := s.Loss <= m.Lossless; met != (i == len(a.Sizes)-1) {
			t.Errorf("%d of %d sizes: %d nodes lose %v", i, len(a.Sizes), s.Nodes, s.Loss)
		}
		if math.Abs(a.Whole-s.Accuracy-s.Loss) > 1e-9 || !(s.Error > 0) {
			t.Errorf("accuracy %v of %v, loss %v ± %v", s.Accuracy, a.Whole, s.Loss, s.Error)
		}
	}
	if !slices.Equal(sizes, []int{4, 6, 8}) || small.Nodes() != 8 {
		t.Errorf("tried %v, condensed to %d nodes, want 8", sizes, small.Nodes())
	}
	plain := mattest.Must(auto.New().Condense(t.Context(), g, 8, 1))
	if !slices.Equal(small.X.Data, plain.X.Data) || string(small.Config) != string(plain.Config) {
		t.Errorf("X′ or the configuration %s is not that of 8 nodes, %s", small.Config, plain.Config)
	}

	_, err := m.Condense(t.Context(), g, 6, 1)
	want := fmt.Sprintf("no size from 4 to 6 condensed nodes has an estimated loss of at most 0.5 points "+
		"with a standard error of at most 10: the smallest loss is %.1f ± %.1f, with 4 nodes",
		a.Sizes[0].Loss, a.Sizes[0].Error)
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	few := *g
	few.Split.Val, m.Lossless = g.Split.Val[:4], 100
	mattest.Fails(t, "with a standard error of at most 10")(m.Condense(t.Context(), &few, 6, 1))
	m.Memory = 24 << 20 // an idle process
	mattest.Fails(t, "memory limit")(m.Condense(t.Context(), g, 20, 1))
}

// TestSaysWhatIsHeldOut: without validation nodes, the reference of a loss is trained on the other training nodes. A
// single class has no share to weight by, and needs only one condensed node.
func TestSaysWhatIsHeldOut(t *testing.T) {
	g := blocks(t, 0.85, 0.5)
	g.Split.Val, g.Classes = nil, 1
	clear(g.Y)
	m := auto.New()
	m.Lossless = 1
	_, a := choice(t, m, g, 0)
	want := "no candidate was clearly better on 10 held-out training nodes; with 1 node, a GCN trained briefly is " +
		"0.0 ± 0.0 points below the 100.0% of one trained on the training nodes that were not held out"
	mattest.Equal(t, a.Why, want, "why")
}

func TestCheck(t *testing.T) {
	m := auto.New()
	m.Margin = -1
	mattest.Fails(t, "margin")(m.Condense(t.Context(), blocks(t, 0.5, 1), 8, 0))
	m = auto.New()
	m.Lossless = 101
	mattest.Fails(t, "lossless")(m.Condense(t.Context(), blocks(t, 0.5, 1), 8, 0))
	mattest.Fails(t, "nodes 3, must be from 4")(auto.New().Condense(t.Context(), blocks(t, 0.5, 1), 3, 0))
	mattest.Fails(t, `account of a graph condensed by "cgc"`)(auto.AccountOf(&condense.Condensed{Method: "cgc"}))
}

// TestTrainsOnLargeGraphs checks that a graph of 50,000 nodes is condensed by the candidate with the best accuracy
// after a short training, and that the result does not depend on the number of threads.
func TestTrainsOnLargeGraphs(t *testing.T) {
	slow.Test(t, "chooses on a large graph")
	g := mattest.Must(synth.Make(t.Context(), synth.Shape{
		Name: "large", Nodes: 50_000, Edges: 200_000, Features: 24, Classes: 4, Train: 20, Val: 2000, Test: 100,
		Balanced: true, Homophily: 0.85, Signal: 0.5,
	}, rand.NewPCG(4, 0)))
	_, a := choice(t, auto.New(), g, 1)
	best, most := "", 0.0
	for i, c := range a.Candidates {
		if trained := c.Trained > 0; trained != (i == 0 || c.Gain > max(0.05, c.Error)) {
			t.Errorf("%s: gain %v ± %v, accuracy after training %v", c.Name, c.Gain, c.Error, c.Trained)
		}
		if c.Trained > most {
			best, most = c.Name, c.Trained
		}
	}
	if a.Chosen != best || best == "cgc" || !strings.Contains(a.Why, "a GCN trained briefly on its result") {
		t.Errorf("chose %s, want %s; %s", a.Chosen, best, a.Why)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if _, again := choice(t, auto.New(), g, 2); !reflect.DeepEqual(again.Candidates, a.Candidates) {
		t.Errorf("with one thread %+v, want %+v", again.Candidates, a.Candidates)
	}
}

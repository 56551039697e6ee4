package experiment_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
)

func tiny(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := synth.Make(synth.Shape{
		Name: "tiny", Nodes: 300, Edges: 900, Features: 16, Classes: 3, Train: 60, Val: 60, Test: 120, Groups: 2, Homophily: 0.8, Signal: 2, Balanced: true,
	}, rand.NewPCG(5, 5))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func plan(change func(*experiment.Plan)) experiment.Plan {
	p := experiment.Plan{Config: cgc.Defaults(), Seeds: 3, Models: []gnn.Model{gnn.GCN(), gnn.SGC()}, Training: gnn.Defaults(), Whole: 2}
	p.Config.Nodes = 12
	p.Training.Epochs, p.Training.Hidden = 20, 16
	if change != nil {
		change(&p)
	}
	return p
}

func mustRun(t *testing.T, g *graph.Graph, p experiment.Plan) *experiment.Result {
	t.Helper()
	r, err := experiment.Run(t.Context(), g, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// scores is what must not depend on the time of day.
func scores(r *experiment.Result) (all [][]float64) {
	for _, s := range append(slices.Clone(r.Small), r.Whole...) {
		all = append(all, s.Val, s.Test)
	}
	return all
}

func TestRunRepeatsItselfForAnyThreads(t *testing.T) {
	g := tiny(t)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var want [][]float64
	for _, threads := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(threads)
		var steps []int
		r := mustRun(t, g, plan(func(p *experiment.Plan) {
			p.Progress = func(done, total int, what string) {
				steps = append(steps, done)
				if total != 3+2*3+2*2 {
					t.Errorf("%d pieces of work in all, want 13", total)
				}
			}
		}))
		if len(r.Condensed) != 3 || len(r.Small) != 2 || len(r.Whole) != 2 || len(r.Small[1].Test) != 3 || len(r.Whole[0].Val) != 2 {
			t.Fatalf("%d condensed graphs, %d and %d models", len(r.Condensed), len(r.Small), len(r.Whole))
		}
		if r.Small[0].Model != "gcn" || r.Small[1].Model != "sgc" {
			t.Errorf("models %s and %s, want the plan's order", r.Small[0].Model, r.Small[1].Model)
		}
		if len(steps) != 13 || !slices.IsSorted(steps) {
			t.Errorf("progress %v, want 1 to 13", steps)
		}
		if got := scores(r); want == nil {
			want = got
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%d threads give %v, 1 gives %v", threads, got, want)
		}
	}
}

// A repetition has its own condensation: graphs and accuracies differ from seed to seed, and seed s is the same in any plan.
func TestRepetitionsAreCondensations(t *testing.T) {
	g := tiny(t)
	r := mustRun(t, g, plan(nil))
	if slices.Equal(r.Condensed[0].X.Data, r.Condensed[1].X.Data) {
		t.Error("two repetitions have the same condensed graph")
	}
	alone := mustRun(t, g, plan(func(p *experiment.Plan) { p.Config.Seed, p.Seeds = 2, 1 }))
	if !slices.Equal(alone.Condensed[0].X.Data, r.Condensed[2].X.Data) || alone.Small[0].Test[0] != r.Small[0].Test[2] {
		t.Error("seed 2 alone differs from seed 2 among others")
	}
}

// Shuffled test labels change the test accuracy and nothing else: no choice looks at them.
func TestNoChoiceLooksAtTestLabels(t *testing.T) {
	g := tiny(t)
	want := mustRun(t, g, plan(nil))
	shuffled := *g
	shuffled.Y = slices.Clone(g.Y)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(g.Split.Test), func(i, j int) {
		a, b := g.Split.Test[i], g.Split.Test[j]
		shuffled.Y[a], shuffled.Y[b] = shuffled.Y[b], shuffled.Y[a]
	})
	got := mustRun(t, &shuffled, plan(nil))
	for i := range want.Small {
		if !slices.Equal(got.Small[i].Val, want.Small[i].Val) || !slices.Equal(got.Whole[i].Val, want.Whole[i].Val) {
			t.Errorf("%s: validation accuracies follow the test labels", want.Small[i].Model)
		}
		if slices.Equal(got.Small[i].Test, want.Small[i].Test) {
			t.Errorf("%s: test accuracies do not follow the test labels", want.Small[i].Model)
		}
	}
	for i := range want.Condensed {
		if !slices.Equal(got.Condensed[i].X.Data, want.Condensed[i].X.Data) {
			t.Errorf("condensed graph %d follows the test labels", i)
		}
	}
}

func TestScoreStatistics(t *testing.T) {
	s := experiment.Score{Val: []float64{70}, Test: []float64{80, 82, 84}}
	if mean, std := s.TestMean(); mean != 82 || math.Abs(std-2) > 1e-12 {
		t.Errorf("%v ± %v, want 82 ± 2", mean, std)
	}
	if mean, std := s.ValMean(); mean != 70 || std != 0 {
		t.Errorf("%v ± %v of one repetition, want 70 ± 0", mean, std)
	}
}

func TestStandardizedAndInductive(t *testing.T) {
	g := tiny(t)
	for _, change := range []func(*experiment.Plan){
		func(p *experiment.Plan) { p.Config.Standardize = true },
		func(p *experiment.Plan) { p.Config.Inductive = true },
	} {
		r := mustRun(t, g, plan(func(p *experiment.Plan) { p.Seeds, p.Whole = 1, 1; p.Training.Epochs = 60; change(p) }))
		for _, s := range append(r.Small, r.Whole...) {
			if s.Test[0] < 60 { // three classes, and a graph on which 90 is usual
				t.Errorf("%s reaches %v%%", s.Model, s.Test[0])
			}
		}
	}
}

func TestEvaluateIsRunOnOneGraph(t *testing.T) {
	g := tiny(t)
	p := plan(func(p *experiment.Plan) { p.Seeds, p.Whole = 1, 0 })
	r := mustRun(t, g, p)
	got, err := experiment.Evaluate(t.Context(), r.Condensed[0], g, p.Models, p.Training, 2, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Test[0] != r.Small[0].Test[0] || len(got[0].Test) != 2 {
		t.Errorf("%+v, want first %+v", got, r.Small)
	}
	other := *g
	other.Classes = 4
	if _, err := experiment.Evaluate(t.Context(), r.Condensed[0], &other, p.Models, p.Training, 1, 0, nil); err == nil || !strings.Contains(err.Error(), "16 features and 3 classes, graph tiny has 16 and 4") {
		t.Errorf("another graph: error %v", err)
	}
}

func TestRunNamesMistakesAndStops(t *testing.T) {
	g := tiny(t)
	for want, change := range map[string]func(*experiment.Plan){
		"0 seeds":    func(p *experiment.Plan) { p.Seeds = 0 },
		"0 models":   func(p *experiment.Plan) { p.Models = nil },
		"nodes 9999": func(p *experiment.Plan) { p.Config.Nodes = 9999 },
		"epochs 0":   func(p *experiment.Plan) { p.Training.Epochs = 0 },
	} {
		if _, err := experiment.Run(t.Context(), g, plan(change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := experiment.Run(ctx, g, plan(func(p *experiment.Plan) {
		p.Progress = func(done, _ int, _ string) {
			if done == 5 {
				cancel()
			}
		}
	}))
	if err != context.Canceled {
		t.Errorf("cancelled: error %v", err)
	}
}

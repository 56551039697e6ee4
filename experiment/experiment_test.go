package experiment_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	_ "github.com/graph-condensation/cgc/rival/all"
)

func tiny(t *testing.T) *graph.Graph {
	t.Helper()
	g := mattest.Must(synth.Make(t.Context(), synth.Shape{
		Name: "tiny", Nodes: 300, Edges: 900, Features: 16, Classes: 3, Train: 60, Val: 60, Test: 120,
		Groups: 2, Homophily: 0.8, Signal: 2, Balanced: true,
	}, rand.NewPCG(5, 5)))
	return g
}

// plan returns a Plan of 3 condensations to 12 nodes and 2 training runs on the full graph, with 2 models.
func plan(change func(*experiment.Plan)) experiment.Plan {
	p := experiment.Plan{
		Method: cgc.Defaults(), Size: condense.Size{Nodes: 12}, Training: gnn.Defaults(), Seeds: 3,
		Models: []gnn.Model{gnn.GCN(), gnn.SGC()}, Whole: 2,
	}
	p.Training.Epochs, p.Training.Hidden = 10, 8
	if change != nil {
		change(&p)
	}
	return p
}

// counted returns a context that calls f whenever a piece of work ends, with its stage and the numbers of pieces done
// and announced over all stages. The test fails if a stage was not announced, or does not count up one by one.
func counted(ctx context.Context, t *testing.T, f func(e progress.Event)) context.Context {
	stages := map[string]progress.Event{}
	return progress.With(ctx, func(e progress.Event) {
		last, announced := stages[e.Stage]
		switch {
		case e.Total == 0:
			return
		case !announced && e.Done > 0, announced && e.Total != last.Total, e.Done < last.Done, e.Done > last.Done+1:
			t.Errorf("%v after %v", e, last)
		}
		stages[e.Stage] = e
		if e.Done == last.Done { // the stage starts or resumes
			return
		}
		all := progress.Event{Stage: e.Stage}
		for _, one := range stages {
			all.Done, all.Total = all.Done+one.Done, all.Total+one.Total
		}
		f(all)
	})
}

// setting returns the default configuration of cgc after change.
func setting(change func(*cgc.Config)) condense.Method {
	c := cgc.Defaults()
	change(&c)
	return c
}

// TestRepetitionsAreCondensations checks that condensed graphs differ between seeds, and that a seed gives the same
// graph in any plan.
func TestRepetitionsAreCondensations(t *testing.T) {
	g := tiny(t)
	r := mattest.Must(plan(nil).Run(t.Context(), g))
	if slices.Equal(r.Condensed[0].X.Data, r.Condensed[1].X.Data) {
		t.Error("two repetitions have the same condensed graph")
	}
	alone := mattest.Must(plan(func(p *experiment.Plan) { p.Seed, p.Seeds = 2, 1 }).Run(t.Context(), g))
	mattest.Equal(t, alone.Condensed[0].X, r.Condensed[2].X, "X′ of seed 2 alone")
	mattest.Equal(t, alone.Small[0].Test[0], r.Small[0].Test[2], "test of seed 2 alone")
}

func TestScoreStatistics(t *testing.T) {
	s := experiment.Score{Val: []float64{70}, Test: []float64{80, 82, 84}}
	mean, std := s.TestMean()
	near(t, "mean", mean, 82)
	near(t, "standard deviation", std, 2)
	mean, std = s.ValMean()
	mattest.Equal(t, [2]float64{mean, std}, [2]float64{70, 0}, "mean and standard deviation of one repetition")
}

func TestStandardizedAndInductive(t *testing.T) {
	g := tiny(t)
	for _, change := range []func(*cgc.Config){
		func(c *cgc.Config) { c.Standardize = true },
		func(c *cgc.Config) { c.Inductive = true },
	} {
		r := mattest.Must(plan(func(p *experiment.Plan) {
			p.Method, p.Seeds, p.Whole, p.Training.Epochs = setting(change), 1, 1, 60
		}).Run(t.Context(), g))
		for _, s := range append(r.Small, r.Whole...) {
			if s.Test[0] < 60 { // guessing reaches 33%, and 90% is usual on this graph
				t.Errorf("%s reaches %v%%", s.Model, s.Test[0])
			}
		}
	}
}

func TestEvaluateIsRunOnOneGraph(t *testing.T) {
	g := tiny(t)
	p := plan(func(p *experiment.Plan) { p.Seeds, p.Whole = 1, 0 })
	r := mattest.Must(p.Run(t.Context(), g))
	e := experiment.Evaluation{Models: p.Models, Training: p.Training, Trainings: 2}
	got := mattest.Must(e.Run(t.Context(), r.Condensed[0], g))
	if len(got) != 2 || got[0].Test[0] != r.Small[0].Test[0] || len(got[0].Test) != 2 {
		t.Errorf("%+v, want first %+v", got, r.Small)
	}
	e.Memory = 1 << 30
	if bounded, err := e.Run(t.Context(), r.Condensed[0], g); err != nil || !slices.Equal(bounded[0].Test, got[0].Test) {
		t.Errorf("within a bound %+v (%v), want the accuracies without one", bounded, err)
	}
	e.Memory = 1000
	_, err := e.Run(t.Context(), r.Condensed[0], g)
	if large := new(gnn.MemoryError); !errors.As(err, &large) || large.Bound != 1000 || large.Need <= 1000 {
		t.Errorf("a bound of 1000 bytes: error %v", err)
	}
	e.Memory = 0
	other := *g
	other.Classes = 4
	want := "16 features and 3 classes, graph tiny has 16 and 4"
	mattest.Fails(t, want)(e.Run(t.Context(), r.Condensed[0], &other))
	other = *g
	other.Split.Train, other.Split.Test = g.Split.Test, g.Split.Train
	var target *condense.TargetError
	if _, err := e.Run(t.Context(), r.Condensed[0], &other); !errors.As(err, &target) || target.Target.InTest == 0 {
		t.Errorf("another split: error %v", err)
	}
	e.OtherGraph = true
	mattest.Must(e.Run(t.Context(), r.Condensed[0], &other)) // another split is allowed now
}

// Classes of the condensed graph and of the graph are compared by name. Nodes of other classes are not tested.
func TestEvaluateComparesClassesByName(t *testing.T) {
	g := tiny(t)
	g.ClassNames = []string{"a", "b", "c"}
	p := plan(func(p *experiment.Plan) { p.Seeds, p.Whole = 1, 0 })
	small := mattest.Must(p.Run(t.Context(), g)).Condensed[0]
	e := experiment.Evaluation{Models: p.Models[:1], Training: p.Training, Trainings: 1}
	want := mattest.Must(e.Run(t.Context(), small, g))[0]

	turned := *g
	turned.ClassNames, turned.Y = []string{"c", "b", "a"}, slices.Clone(g.Y)
	for i, y := range g.Y {
		turned.Y[i] = 2 - y
	}
	mattest.Equal(t, mattest.Must(e.Run(t.Context(), small, &turned))[0].Test, want.Test, "classes in another order:")

	renamed := *g
	renamed.ClassNames = []string{"a", "b", "d"}
	without := *g
	hasC := func(v int32) bool { return g.Y[v] == 2 }
	without.Split.Val = slices.DeleteFunc(slices.Clone(g.Split.Val), hasC)
	without.Split.Test = slices.DeleteFunc(slices.Clone(g.Split.Test), hasC)
	e.OtherGraph = true
	got, of := mattest.Must(e.Run(t.Context(), small, &renamed))[0], mattest.Must(e.Run(t.Context(), small, &without))[0]
	mattest.Equal(t, got.Test, of.Test, "test with a class that is not known (want that of the other classes):")
	mattest.Equal(t, got.Metrics, of.Metrics, "metrics with a class that is not known:")
}

func TestRunNamesMistakesAndStops(t *testing.T) {
	g := tiny(t)
	for want, change := range map[string]func(*experiment.Plan){
		"no method":  func(p *experiment.Plan) { p.Method = nil },
		"0 of nodes": func(p *experiment.Plan) { p.Size = condense.Size{} },
	} {
		mattest.Fails(t, want)(plan(change).Run(t.Context(), g))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := plan(nil).Run(counted(ctx, t, func(e progress.Event) {
		if e.Done == 5 {
			cancel(errors.New("shutting down"))
		}
	}), g)
	mattest.Equal(t, err, context.Canceled, "cancelled: error")
	for _, change := range []func(*experiment.Plan){
		func(p *experiment.Plan) { p.Seeds = 1 << 40 }, func(p *experiment.Plan) { p.Whole = 1 << 40 },
	} {
		if _, err := plan(change).Run(mattest.Cancelled(t), g); err != context.Canceled {
			t.Errorf("many training runs, cancelled: error %v", err)
		}
	}
}

// random selects training nodes at random.
var random = mattest.Must(condense.New("random", nil))

// careless is random with a bug: it returns a graph with fewer nodes, or one altered by change.
type careless struct {
	change func(*condense.Condensed)
	fewer  int
}

func (careless) Name() string                 { return "random" }
func (careless) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }
func (c careless) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	small, err := random.Condense(ctx, g, nodes-c.fewer, seed)
	if err == nil && c.change != nil {
		c.change(small)
	}
	return small, err
}

// nothing is a method that returns neither a graph nor an error.
type nothing struct{}

func (nothing) Name() string { return "nothing" }
func (nothing) Condense(context.Context, *graph.Graph, int, uint64) (*condense.Condensed, error) {
	return nil, nil
}

// plannedFor returns a plan of one condensation by m, with one training run.
func plannedFor(m condense.Method) experiment.Plan {
	return plan(func(p *experiment.Plan) { p.Method, p.Seeds, p.Models, p.Whole = m, 1, []gnn.Model{gnn.SGC()}, 0 })
}

// TestPlanRefusesWhatIsNotPromised checks the error for a method that returns a wrong size or setting. A graph with a
// wrong setting would be tested on other features.
func TestPlanRefusesWhatIsNotPromised(t *testing.T) {
	for want, m := range map[string]condense.Method{
		"returned 11 nodes, expected 12": careless{fewer: 1},
		"returned the setting {NormalizeFeatures:false Standardize:false Inductive:true Causal:false}, expected {": careless{
			change: func(c *condense.Condensed) { c.Inductive = true },
		},
		"method nothing returned no condensed graph (nil) and no error": nothing{},
		"returned 9 features and 3 classes, expected 16 and 3": careless{
			change: func(c *condense.Condensed) { c.X, c.FeatureNames, c.Source = mat.NewDense(12, 9), nil, nil },
		},
		"returned 16 features and 4 classes, expected 16 and 3": careless{
			change: func(c *condense.Condensed) { c.Classes, c.ClassNames, c.Source = 4, nil, nil },
		},
		"returned an invalid condensed graph: label -1 of node 0": careless{
			change: func(c *condense.Condensed) { c.Y[0] = -1 },
		},
	} {
		mattest.Fails(t, want)(plannedFor(m).Run(t.Context(), tiny(t)))
	}
}

// TestPlanUnderASetting checks that a method that ignores settings works in each of them, and that Members may be
// missing.
func TestPlanUnderASetting(t *testing.T) {
	loose := careless{change: func(c *condense.Condensed) { c.Members = nil }}
	for _, m := range []condense.Method{
		condense.Under(condense.Setting{Standardize: true}, random),
		condense.Under(condense.Setting{Inductive: true}, random),
		loose,
	} {
		p := plannedFor(m)
		p.Training.Weighted = true
		r := mattest.Must(p.Run(t.Context(), tiny(t)))
		small := r.Condensed[0]
		is, want := condense.Setting{Standardize: small.Scaling != nil, Inductive: small.Inductive}, condense.SettingOf(m)
		mattest.Equal(t, is, want, "condensed in")
		if weights := experiment.Sample(small).Weights; (weights == nil) != (small.Members == nil) {
			t.Errorf("weights %v with members %v", weights, small.Members)
		}
	}
}

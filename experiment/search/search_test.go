package search_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/search"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// subject returns a small graph and its condensed graph.
func subject(t *testing.T) (*graph.Graph, *condense.Condensed) {
	t.Helper()
	g := mattest.Must(synth.Make(t.Context(), synth.Shape{
		Name: "tiny", Nodes: 160, Edges: 480, Features: 12, Classes: 3, Train: 36, Val: 40, Test: 60, Groups: 2,
		Homophily: 0.7, Signal: 2,
	}, rand.NewPCG(1, 2)))
	config := cgc.Defaults()
	config.Nodes = 9
	small := mattest.Must(cgc.Condense(t.Context(), g, config))
	return g, small
}

func space() search.Space {
	return search.Space{
		Models: []string{"gcn", "sgc"}, Hidden: []int{4, 8, 16}, Dropout: []float64{0, 0.5}, InputDropout: []float64{0},
		LearningRate: []float64{0.01, 1e30}, WeightDecay: []float64{0}, Weighted: []bool{false, true},
	}
}

// outcome returns a result without times.
func outcome(t *testing.T, s search.Search, g *graph.Graph, small *condense.Condensed) *search.Result {
	t.Helper()
	r := mattest.Must(s.Run(t.Context(), small, g))
	r.Seconds = 0
	for i := range r.Finalists {
		r.Finalists[i].Seconds = 0
	}
	return r
}

// TestTimeLimit checks that a search without time tries 27 candidates, and one with much time all. Without finalists,
// the choice is the best trial.
func TestTimeLimit(t *testing.T) {
	g, small := subject(t)
	for seconds, want := range map[float64]int{1e-9: 27, 1e300: 28} {
		s := search.Search{Space: space(), Trials: 100, Epochs: 27, Seconds: seconds}
		r := outcome(t, s, g, small)
		mattest.Equal(t, len(r.Trials), want, "%v seconds: trials", seconds)
		mattest.Equal(t, string(mattest.Must(json.Marshal(r.Finalists))), "[]", "%v seconds: finalists", seconds)
		mattest.Equal(t, r.Best, r.Trials[0].Candidate, "%v seconds: the best", seconds)
	}
}

// TestSearch checks the order of trials and finalists, that a trial that diverges is the worst of its round, and that
// the result does not depend on the number of threads or on labels of test nodes.
func TestSearch(t *testing.T) {
	g, small := subject(t)
	s := search.Search{Space: space(), Trials: 100, Epochs: 27, Finalists: 8}
	r := outcome(t, s, g, small)
	if len(r.Trials) != s.Space.Size() || s.Space.Size() != 28 {
		t.Fatalf("%d trials of a space of %d", len(r.Trials), s.Space.Size())
	}
	seen := map[search.Candidate]bool{}
	epochs := map[int]int{}
	for i, trial := range r.Trials {
		seen[trial.Candidate] = true
		epochs[trial.Epochs]++
		if i > 0 && trial.Epochs == r.Trials[i-1].Epochs && trial.Val > r.Trials[i-1].Val || i > 0 &&
			trial.Epochs > r.Trials[i-1].Epochs {
			t.Errorf("trial %d is better than the one before it", i)
		}
		if trial.Training.LearningRate == 1e30 && trial.Val > 0 && trial.Model == "gcn" {
			t.Errorf("a training that diverges has an accuracy of %g", trial.Val)
		}
	}
	if want := map[int]int{27: 2, 9: 2, 3: 6, 1: 18}; len(seen) != 28 || !reflect.DeepEqual(epochs, want) {
		t.Errorf("%d different candidates, ended after epochs %v, want %v", len(seen), epochs, want)
	}
	models := map[string]int{}
	for i, f := range r.Finalists {
		models[f.Model]++
		if i > 0 && f.WholeVal > r.Finalists[i-1].WholeVal {
			t.Errorf("finalist %d is better than the one before it", i)
		}
	}
	mattest.Equal(t, models, map[string]int{"gcn": 4, "sgc": 4}, "finalists of each model")
	mattest.Equal(t, len(r.Finalists), 8, "finalists")
	mattest.Equal(t, r.Best, r.Finalists[0].Candidate, "the best")

	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	mattest.Equal(t, outcome(t, s, g, small), r, "with one thread")
	other := *g
	other.Y = slices.Clone(g.Y)
	for _, i := range g.Split.Test {
		other.Y[i] = (g.Y[i] + 1) % 3
	}
	small.Source = nil // its fingerprint covers labels of test nodes
	again := outcome(t, s, &other, small)
	mattest.Equal(t, again.Best, r.Best, "the best with other labels of test nodes")
	mattest.Equal(t, again.Trials, r.Trials, "trials with other labels of test nodes")
}

// TestSearchSample checks that incomplete training runs are validated on a sample of many validation nodes, and
// complete runs on all: each accuracy is a multiple of one node's share.
func TestSearchSample(t *testing.T) {
	const all, sample = 2500, 2048
	g := mattest.Must(synth.Make(t.Context(), synth.Shape{
		Name: "wide", Nodes: 2600, Edges: 5000, Features: 4, Classes: 3, Train: 30, Val: all, Test: 30, Groups: 2,
		Homophily: 0.7, Signal: 1,
	}, rand.NewPCG(1, 2)))
	config := cgc.Defaults()
	config.Nodes = 6
	small := mattest.Must(cgc.Condense(t.Context(), g, config))
	s := search.Search{Space: space(), Trials: 12, Epochs: 27}
	s.Space.LearningRate = []float64{0.01, 0.02}
	r := outcome(t, s, g, small)
	multiple := func(val float64, nodes int) bool {
		right := val / 100 * float64(nodes)
		return math.Abs(right-math.Round(right)) < 1e-6
	}
	exact := 0
	for i, trial := range r.Trials {
		of := sample
		if trial.Epochs == s.Epochs {
			of = all
		}
		if !multiple(trial.Val, of) {
			t.Errorf("trial %d with %d epochs has an accuracy of %v, must be of %d nodes", i, trial.Epochs, trial.Val, of)
		}
		if !multiple(trial.Val, all+sample-of) {
			exact++
		}
	}
	if exact == 0 || len(g.Split.Val) != all {
		t.Errorf("%d accuracies tell the two numbers of nodes apart; %d validation nodes", exact, len(g.Split.Val))
	}
}

// TestVariants checks that the default space has equally many variants of each model, that finalists are chosen as if
// variants were one model, and that results have canonical names.
func TestVariants(t *testing.T) {
	shares := map[string]int{}
	for _, name := range search.DefaultSpace().Models {
		kind, _ := gnn.Structure(mattest.Must(gnn.Parse(name)))
		shares[kind]++
	}
	for _, kind := range gnn.Names() {
		mattest.Equal(t, shares[kind], 3, "variants of %s", kind)
	}
	mattest.OK(t, search.DefaultSpace().Validate())
	mattest.Equal(t, search.DefaultSpace().Size(), 12720, "size of the default space")

	g, small := subject(t)
	s := search.Search{Space: space(), Trials: 100, Epochs: 9, Finalists: 4}
	s.Space.Models = []string{"gcn", "GCN:layers=03", "gcn:layers=1", "sgc"}
	r := outcome(t, s, g, small)
	seen := map[string]int{}
	for _, trial := range r.Trials {
		seen[trial.Model]++
	}
	want := map[string]int{"gcn": 24, "gcn:layers=3": 24, "gcn:layers=1": 4, "sgc": 4}
	mattest.Equal(t, seen, want, "trials of each model:")
	linear := 0
	for _, f := range r.Finalists {
		if f.Model == "sgc" {
			linear++
		}
	}
	mattest.Equal(t, linear, 2, "finalists that are an sgc, of 4")
}

func TestSearchErrors(t *testing.T) {
	g, small := subject(t)
	empty, unknown := space(), space()
	empty.Hidden, unknown.Models = nil, []string{"gcnn"}
	huge, wrong, twice := space(), space(), space()
	huge.Dropout, huge.WeightDecay = nil, nil
	for i := range 5000 {
		huge.Dropout, huge.WeightDecay = append(huge.Dropout, float64(i)), append(huge.WeightDecay, float64(i))
	}
	wrong.Dropout, twice.LearningRate = []float64{0, 0.5, 1}, []float64{0.1, 0.2, 0.1}
	mattest.Fails(t, "0 trials")(search.Search{Space: space(), Epochs: 1}.Run(t.Context(), small, g))
	alike, beyond := space(), space()
	alike.Models, beyond.Models = []string{"gcn:layers=3", "sgc", "GCN:layers=3.0"}, []string{"sgc", "gcn:layers=9"}
	for want, of := range map[string]search.Space{
		"models gcn:layers=3, must be listed only once": alike, "layers of gcn is 9": beyond,
		"hidden [], must be a list of at least 1 value": empty, "learning rate 0.1, must be listed only once": twice,
		"gcnn": unknown, "more than 10000000 candidates": huge,
		"dropout 1, must be": wrong,
	} {
		mattest.Fails(t, want)(search.Search{Space: of, Trials: 1, Epochs: 1}.Run(t.Context(), small, g))
	}
	wild := space()
	wild.Models, wild.LearningRate = []string{"gcn"}, []float64{1e30}
	_, err := search.Search{Space: wild, Trials: 5, Epochs: 9}.Run(t.Context(), small, g)
	mattest.WantIs(t, err, gnn.ErrDiverged) // every candidate diverges
	s := search.Search{Space: space(), Trials: 3, Epochs: 1}
	_, err = s.Run(mattest.Cancelled(t), small, g)
	mattest.WantIs(t, err, context.Canceled)
	mattest.Fails(t, "33 candidates")(s.Agree(t.Context(), small, g, 33))
}

// TestAgree checks that a second search and comparison read the training runs on the full graph from the log, with
// their times, and give the same results. The log keeps no training run that diverged.
func TestAgree(t *testing.T) {
	g, small := subject(t)
	log := mattest.Must(experiment.OpenLog(filepath.Join(t.TempDir(), "whole.jsonl")))
	defer log.Close()
	s := search.Search{Space: space(), Trials: 40, Epochs: 9, Finalists: 3, Log: log}
	mattest.Fails(t, "identity")(s.Run(t.Context(), small, g))
	s.Graph = mattest.Must(graph.Identify(g))
	found := mattest.Must(s.Run(t.Context(), small, g))
	a := mattest.Must(s.Agree(t.Context(), small, g, 12))
	records := len(log.Records())
	repeated := mattest.Must(s.Run(t.Context(), small, g))
	mattest.Equal(t, repeated.Finalists, found.Finalists, "finalists of the second search")
	again, err := s.Agree(t.Context(), small, g, 12)
	if err != nil || !reflect.DeepEqual(a, again) || len(log.Records()) != records {
		t.Errorf("the second run differs, or trains again: %v", err)
	}
	for _, r := range log.Records() {
		if r.Val == 0 {
			t.Errorf("the log has a run of %s with learning rate %v that diverged", r.Model, r.Training.LearningRate)
		}
	}
	for _, f := range a.Compared {
		if f.WholeVal > a.Best.WholeVal {
			t.Errorf("%g is better than the best, %g", f.WholeVal, a.Best.WholeVal)
		}
	}
	for _, c := range []search.Correlation{a.Spearman, a.Kendall} {
		if !(c.Low <= c.Value && c.Value <= c.High) || c.Value > 1 {
			t.Errorf("correlation %+v", c)
		}
	}
}

// TestRandom compares the expected best of a random search with values computed by hand.
func TestRandom(t *testing.T) {
	a := search.Agreement{Compared: []search.Finalist{
		{WholeVal: 60, WholeTest: 50, Seconds: 1}, {WholeVal: 80, WholeTest: 70, Seconds: 2},
		{WholeVal: 70, WholeTest: 90, Seconds: 3},
	}}
	for seconds, want := range map[float64][3]float64{100: {3, 80, 70}, 0: {1, 70, 70}, 4: {2, 230. / 3, 230. / 3}} {
		n, val, test := a.Random(seconds, 1)
		if float64(n) != want[0] || !near(val, want[1]) || !near(test, want[2]) {
			t.Errorf("%g seconds: %d, %g, %g, want %v", seconds, n, val, test, want)
		}
	}
}

// near allows for the sampling error of 1000 draws.
func near(a, b float64) bool { return a-b < 2 && b-a < 2 }

package tune_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"sync"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate"
)

// made returns a small synthetic graph with the given number of training nodes.
func made(t *testing.T, nodes, train int) *graph.Graph {
	t.Helper()
	g := mattest.Must(synth.Make(t.Context(), synth.Shape{
		Name: "tiny", Nodes: nodes, Edges: 3 * nodes, Features: 16, Classes: 3, Train: train, Val: 40, Test: 60,
		Groups: 2, Homophily: 0.8, Signal: 2, Balanced: true,
	}, rand.NewPCG(5, 5)))
	return g
}

func tiny(t *testing.T) *graph.Graph { t.Helper(); return made(t, 140, 30) }

// search returns a search with few trials and short training runs.
func search(change func(*tune.Search)) tune.Search {
	s := tune.Search{
		Base: tune.Candidate{Method: auto.New()}, Nodes: 6, Models: []gnn.Model{gnn.GCN()}, Training: gnn.Defaults(),
		Trials: 90,
	}
	s.Training.Epochs, s.Training.Hidden = 3, 4
	if change != nil {
		change(&s)
	}
	return s
}

func mustRun(t *testing.T, g *graph.Graph, change func(*tune.Search)) *tune.Result {
	t.Helper()
	return mattest.Must(search(change).Run(t.Context(), g))
}

var found struct {
	once   sync.Once
	result *tune.Result
}

// usual returns the result of search(nil), which tests share.
func usual(t *testing.T) *tune.Result {
	t.Helper()
	found.once.Do(func() { found.result = mustRun(t, tiny(t), nil) })
	return found.result
}

// shown returns a result as text, for comparison.
func shown(r *tune.Result) string {
	other := *r
	other.Choice = nil // a pointer
	return fmt.Sprintf("%+v", other)
}

// TestSearchRepeatsItself checks that a search with a given number of trials and no time limit is reproducible, with
// any number of threads.
func TestSearchRepeatsItself(t *testing.T) {
	g := tiny(t)
	mattest.IgnoresThreads(t, func() string {
		return shown(mustRun(t, g, func(s *tune.Search) { s.Models, s.Trials = append(s.Models, gnn.SGC()), 8 }))
	})
}

// rotated returns g with the labels of the given nodes rotated among them.
func rotated(t *testing.T, g *graph.Graph, nodes []int32) *graph.Graph {
	t.Helper()
	other := *g
	other.Y = slices.Clone(g.Y)
	for i, v := range nodes {
		other.Y[v] = g.Y[nodes[(i+1)%len(nodes)]]
	}
	if slices.Equal(other.Y, g.Y) {
		t.Fatal("the labels did not change")
	}
	return &other
}

// TestSearchNeverReadsTestLabels checks that the result depends on the labels of validation nodes, but not on the
// labels of test nodes.
func TestSearchNeverReadsTestLabels(t *testing.T) {
	g, few := tiny(t), func(s *tune.Search) { s.Trials = 6 }
	want := mustRun(t, g, few)
	mattest.Equal(t, shown(mustRun(t, rotated(t, g, g.Split.Test), few)), shown(want), "with other test labels")
	if got := mustRun(t, rotated(t, g, g.Split.Val), few); shown(got) == shown(want) {
		t.Error("other validation labels change nothing")
	}
}

// TestConfirmedIsPlan compares the trained accuracies of a search with a Plan for the same candidates.
func TestConfirmedIsPlan(t *testing.T) {
	slow.Test(t, "repeats a search as an experiment")
	g := tiny(t)
	result := usual(t)
	if len(result.Ranked) != 90 || len(result.Confirmed) < 10 {
		t.Fatalf("%d ranked, %d confirmed, want 90 and at least 10", len(result.Ranked), len(result.Confirmed))
	}
	bases := 0
	for i, f := range result.Confirmed {
		if len(f.Changes) == 0 {
			bases++
		}
		if i > 2 && i < len(result.Confirmed)-2 {
			continue // the last round and two of the first are enough
		}
		plan := experiment.Plan{
			Method: f.InSetting(), Size: condense.Size{Nodes: 6}, Training: search(nil).Training, Seeds: len(f.Val),
			Models: search(nil).Models,
		}
		plan.Training.Weighted = f.Weighted
		r := mattest.Must(plan.Run(t.Context(), g))
		mattest.Equal(t, f.Val, r.Small[0].Val, "%v: confirmed (want what Plan finds)", f.Changes)
	}
	mattest.Equal(t, bases, 1, "times that the base is confirmed:")
}

func TestTrialsAreRankedAndApart(t *testing.T) {
	result := usual(t)
	if !slices.IsSortedFunc(result.Ranked, func(a, b tune.Trial) int { return cmp.Compare(b.Score(), a.Score()) }) {
		t.Error("the trials are not ordered by score")
	}
	seen := map[string]bool{}
	for _, r := range result.Ranked {
		key := fmt.Sprintf("%+v", r.Candidate)
		if seen[key] {
			t.Errorf("twice: %s", key)
		}
		seen[key] = true
		mattest.OK(t, r.Method.(condense.Checker).Check(tiny(t), 6))
	}
	for _, d := range tune.Space() {
		if d.Name == "teleport" { // has an effect with one propagation rule in three, and few candidates are drawn
			continue
		}
		if !slices.ContainsFunc(result.Ranked, func(r tune.Trial) bool {
			return slices.ContainsFunc(r.Changes, func(c tune.Change) bool { return c.Name == d.Name })
		}) {
			t.Errorf("no candidate has another %s", d.Name)
		}
	}
}

// only returns one dimension of the space of a method.
func only(name, method string) []tune.Dimension {
	return slices.DeleteFunc(tune.Space(method), func(d tune.Dimension) bool { return d.Name != name })
}

// TestSpaceKeepsWhatIsLeftOut checks that parameters outside the space do not change.
func TestSpaceKeepsWhatIsLeftOut(t *testing.T) {
	config := cgc.Defaults()
	config.Alpha = 3
	result := mustRun(t, tiny(t), func(s *tune.Search) { s.Base.Method, s.Space = config, only("hops", "cgc") })
	mattest.Equal(t, len(result.Ranked), 6, "ranked") // hops 0 to 5: the space is used up
	for _, r := range result.Ranked {
		want := config
		want.Hops = r.Method.(cgc.Config).Hops
		mattest.Equal(t, r.Candidate, tune.Candidate{Method: want}, "candidate")
	}
}

// TestSearchStartsFromAuto checks that the base is what auto chooses, and that its other candidates are ranked, also in
// the inductive setting within the smallest memory limit that leaves out none of them.
func TestSearchStartsFromAuto(t *testing.T) {
	slow.Test(t, "runs auto in two settings")
	g := tiny(t)
	const step = 1000
	limit := step * int64(sort.Search(50_000, func(n int) bool {
		_, methods, err := auto.Method{Inductive: true, Memory: step * int64(n)}.Choose(t.Context(), g.WithoutTest(), 6)
		return n > 0 && err == nil && !slices.Contains(methods, nil)
	}))
	for _, chooser := range []auto.Method{auto.New(), {Margin: 1, Inductive: true, Memory: limit, Lossless: 50}} {
		result := mustRun(t, g, func(s *tune.Search) {
			s.Trials, s.Base.Method, s.Base.Setting.Inductive = 5, chooser, chooser.Inductive
		})
		chooser.Lossless = 0
		account, methods, err := chooser.Choose(t.Context(), g.WithoutTest(), 6)
		mattest.OK(t, err)
		if !reflect.DeepEqual(result.Choice, account) || len(result.Ranked) != len(methods) {
			t.Fatalf("choice %+v, %d ranked, want %+v and %d", result.Choice, len(result.Ranked), account, len(methods))
		}
		for i, c := range account.Candidates {
			plain, err := condense.New(c.Method, c.Parameters)
			mattest.OK(t, err)
			if config, is := plain.(cgc.Config); is {
				config.Memory = chooser.Memory
				plain = config
			}
			at := slices.IndexFunc(result.Ranked, func(r tune.Trial) bool { return reflect.DeepEqual(r.Method, plain) })
			if methods[i] == nil || at < 0 {
				t.Fatalf("%s was left out or not ranked", c.Name)
			}
			if is := c.Name == account.Chosen; is != (len(result.Ranked[at].Changes) == 0) {
				t.Errorf("%s differs from the base by %v", c.Name, result.Ranked[at].Changes)
			}
		}
	}
}

// TestSearchWithinMemory checks that no candidate is cgc-d if the memory limit has no room for it.
func TestSearchWithinMemory(t *testing.T) {
	slow.Test(t, "runs auto twice")
	limited, chooser := cgc.Defaults(), auto.New()
	limited.Memory, chooser.Memory = 1, 1
	for _, m := range []condense.Method{limited, chooser} {
		result := mustRun(t, tiny(t), func(s *tune.Search) { s.Base.Method = m })
		for _, r := range result.Ranked {
			if r.Method.Name() == "cgc-d" {
				t.Fatalf("base %s: %v was ranked", m.Name(), r.Changes)
			}
		}
	}
}

// TestSearchKeepsTheDefaultWithinNoise checks that the base stays if candidates hardly differ, and that another
// replaces a useless base.
func TestSearchKeepsTheDefaultWithinNoise(t *testing.T) {
	g, graphless := tiny(t), cgc.Defaults()
	graphless.Variant = cgc.CGCX
	same := mustRun(t, g, func(s *tune.Search) {
		s.Base.Method, s.Space, s.Training.Epochs = graphless, only("temperature", "cgc-x"), 20
	})
	if same.Gain <= same.Noise && len(same.Best.Changes) > 0 || same.Noise <= 0 {
		t.Errorf("gain %v, noise %v, best %v", same.Gain, same.Noise, same.Best.Changes)
	}
	graphless.Hops = 40 // makes all nodes alike
	worse := mustRun(t, g, func(s *tune.Search) {
		s.Base.Method, s.Space, s.Training.Epochs = graphless, only("hops", "cgc-x"), 20
	})
	if len(worse.Best.Changes) != 1 || worse.Best.Method.(cgc.Config).Hops > 5 || worse.Gain <= worse.Noise {
		t.Errorf("gain %v, noise %v, best %v", worse.Gain, worse.Noise, worse.Best.Changes)
	}
}

func TestSearchStopsWithTheBestSoFar(t *testing.T) {
	slow.Test(t, "searches twice")
	g := tiny(t)
	for _, during := range []string{"ranked", "confirmed"} {
		ctx, cancel := context.WithCancel(t.Context())
		result, err := search(nil).Run(progress.With(ctx, func(e progress.Event) {
			if e.Stage == during && e.Done == 25 {
				cancel()
			}
		}), g)
		cancel()
		if err != context.Canceled || result == nil {
			t.Fatalf("%s: result %t, error %v, want the best so far and context.Canceled", during, result != nil, err)
		}
		if len(result.Ranked) < 20 {
			t.Errorf("%s: %d ranked, want at least 20", during, len(result.Ranked))
		}
		if during == "ranked" && !reflect.DeepEqual(result.Best, result.Ranked[0]) {
			t.Errorf("best %+v, want the first of the ranking %+v", result.Best, result.Ranked[0])
		}
	}
}

// TestSearchEnds limits the time of a search whose first training run would take hours. On a busy processor, no
// candidate may be ranked in this time, so the test doubles it until one is.
func TestSearchEnds(t *testing.T) {
	seconds := 0.5
	s := search(func(s *tune.Search) { s.Trials, s.Training.Epochs = 0, 1_000_000_000 })
	for {
		s.Seconds = seconds
		result := mattest.Must(s.Run(progress.With(t.Context(), func(e progress.Event) {
			if e.Stage == "ranked" && e.Total != 0 {
				t.Errorf("progress has the total %d, which the time may not allow", e.Total)
			}
		}), tiny(t)))
		if len(result.Ranked) > 0 {
			return
		}
		seconds *= 2
	}
}

// TestSearchHasTime checks that a limit above 292 years, which a time.Duration cannot represent, is no short one.
func TestSearchHasTime(t *testing.T) {
	s := search(func(s *tune.Search) { s.Trials, s.Seconds, s.Training.Epochs = 2, math.Inf(1), 2 })
	if r := mattest.Must(s.Run(t.Context(), tiny(t))); len(r.Ranked) == 0 || len(r.Confirmed) == 0 {
		t.Errorf("%d candidates were ranked, %d confirmed", len(r.Ranked), len(r.Confirmed))
	}
}

// foreign is a method without parameters to search.
type foreign struct{ cgc.Config }

func (foreign) Name() string { return "foreign" }

func TestSearchNamesMistakes(t *testing.T) {
	g, cold := tiny(t), cgc.Defaults()
	cold.Temperature = 0
	for want, change := range map[string]func(*tune.Search){
		"0 models":              func(s *tune.Search) { s.Models = nil },
		"0 trials":              func(s *tune.Search) { s.Trials = 0 },
		"-1 trials":             func(s *tune.Search) { s.Trials = -1 },
		"nodes 9999":            func(s *tune.Search) { s.Nodes = 9999 },
		"epochs 0":              func(s *tune.Search) { s.Training.Epochs = 0 },
		"no base method (nil)":  func(s *tune.Search) { s.Base.Method = nil },
		"temperature 0, must":   func(s *tune.Search) { s.Base.Method = cold },
		"method foreign has no": func(s *tune.Search) { s.Base.Method = foreign{cold} },
		"0 of nodes, ratio and": func(s *tune.Search) { s.Nodes = 0 }, // the search does not choose the size
	} {
		mattest.Fails(t, want)(search(change).Run(t.Context(), g))
	}
	bare := *g
	bare.Split.Val = nil
	want := "no validation nodes (0), must have at least 1: " +
		"mark some of its 50 labelled nodes that are in no part as val in its split"
	mattest.Fails(t, want)(search(nil).Run(t.Context(), &bare))
}

// TestSpaceFollowsTheRegistries checks that all methods, registered partitions and propagation rules are searched, and
// that a method keeps the parameters that it does not read.
func TestSpaceFollowsTheRegistries(t *testing.T) {
	result := mustRun(t, tiny(t), func(s *tune.Search) { s.Trials, s.Base.Method = 80, cgc.Defaults() })
	seen := map[string]bool{}
	for _, r := range result.Ranked {
		seen["method "+r.Method.Name()] = true
		c, is := r.Method.(cgc.Config)
		if is {
			seen["partition "+c.Partition], seen["propagation "+string(c.Propagation)] = true, true
		}
		if r.Method.Name() == "simdm" && slices.ContainsFunc(r.Changes, func(c tune.Change) bool {
			return c.Name == "partition" || c.Name == "students" || c.Name == "threshold"
		}) {
			t.Errorf("simdm with %v", r.Changes)
		}
	}
	var want []string
	for _, name := range partition.Names() {
		want = append(want, "partition "+name)
	}
	for _, rule := range propagate.Rules() {
		want = append(want, "propagation "+string(rule))
	}
	for _, method := range tune.Methods() {
		want = append(want, "method "+method)
	}
	for _, w := range want {
		if !seen[w] {
			t.Errorf("no candidate has %s", w)
		}
	}
}

package tune_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/tune"
)

func tiny(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := synth.Make(synth.Shape{
		Name: "tiny", Nodes: 300, Edges: 900, Features: 16, Classes: 3, Train: 60, Val: 60, Test: 120,
		Groups: 2, Homophily: 0.8, Signal: 2, Balanced: true,
	}, rand.NewPCG(5, 5))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func tuning(change func(*tune.Tuning)) tune.Tuning {
	t := tune.Tuning{
		Base: tune.Candidate{Config: cgc.Defaults()}, Space: tune.Space(cgc.CGC, cgc.CGCX), Models: []gnn.Model{gnn.GCN()}, Training: gnn.Defaults(), Trials: 50,
	}
	t.Base.Config.Nodes = 12
	t.Training.Epochs, t.Training.Hidden = 3, 4
	if change != nil {
		change(&t)
	}
	return t
}

var tuned struct {
	once   sync.Once
	result *tune.Tuned
}

// usual returns what Tune finds with the tuning as it stands; tests share it.
func usual(t *testing.T) *tune.Tuned {
	t.Helper()
	tuned.once.Do(func() {
		r, err := tune.Tune(t.Context(), tiny(t), tuning(nil))
		if err != nil {
			t.Fatal(err)
		}
		tuned.result = r
	})
	return tuned.result
}

// shown is all that Tune found, as text: what must be the same byte for byte.
func shown(t *tune.Tuned) string { return fmt.Sprintf("%+v", *t) }

func TestTuneRepeatsItselfForAnyThreads(t *testing.T) {
	g := tiny(t)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var first string
	for _, threads := range []int{1, 3} {
		runtime.GOMAXPROCS(threads)
		r, err := tune.Tune(t.Context(), g, tuning(func(p *tune.Tuning) { p.Models, p.Trials = append(p.Models, gnn.SGC()), 16 }))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = shown(r)
		} else if shown(r) != first {
			t.Errorf("%d threads: %s\nwant %s", threads, shown(r), first)
		}
	}
}

// TestTuneNeverReadsTestLabels shuffles the labels of the test nodes: nothing that Tune finds may change. That of validation nodes changes the ranking.
func TestTuneNeverReadsTestLabels(t *testing.T) {
	g := tiny(t)
	want := usual(t)
	rotated := func(nodes []int32) *tune.Tuned {
		other := *g
		other.Y = slices.Clone(g.Y)
		for i, v := range nodes {
			other.Y[v] = g.Y[nodes[(i+1)%len(nodes)]]
		}
		if slices.Equal(other.Y, g.Y) {
			t.Fatal("the labels did not change")
		}
		r, err := tune.Tune(t.Context(), &other, tuning(nil))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if got := rotated(g.Split.Test); shown(got) != shown(want) {
		t.Errorf("with other test labels:\n%s\nwant\n%s", shown(got), shown(want))
	}
	if got := rotated(g.Split.Val); shown(got) == shown(want) {
		t.Error("other validation labels change nothing")
	}
}

// TestConfirmedIsRun compares what Tune found by training with what Run finds of the same candidates.
func TestConfirmedIsRun(t *testing.T) {
	g := tiny(t)
	tuned := usual(t)
	if len(tuned.Ranked) != 50 || len(tuned.Confirmed) < 10 {
		t.Fatalf("%d ranked, %d confirmed, want 50 and at least 10", len(tuned.Ranked), len(tuned.Confirmed))
	}
	bases := 0
	for i, f := range tuned.Confirmed {
		if len(f.Changes) == 0 {
			bases++
		}
		if i > 2 && i < len(tuned.Confirmed)-2 {
			continue // those of the last round and two of the first show it
		}
		p := experiment.Plan{
			Method: f.Config, Size: f.Config.Size, Training: tuning(nil).Training, Seed: f.Config.Seed, Seeds: len(f.Val),
			Models: tuning(nil).Models,
		}
		p.Training.Weighted = f.Weighted
		r, err := p.Run(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Small[0].Val, f.Val) {
			t.Errorf("%v: confirmed %v, Run finds %v", f.Changes, f.Val, r.Small[0].Val)
		}
	}
	if bases != 1 {
		t.Errorf("the base is confirmed %d times, want once", bases)
	}
}

func TestTrialsAreRankedAndApart(t *testing.T) {
	tuned := usual(t)
	if !slices.IsSortedFunc(tuned.Ranked, func(a, b tune.Trial) int {
		switch {
		case a.Score() > b.Score():
			return -1
		case a.Score() < b.Score():
			return 1
		}
		return 0
	}) {
		t.Error("the trials are not ordered by score")
	}
	seen := map[string]bool{}
	for _, r := range tuned.Ranked {
		key := fmt.Sprintf("%+v", r.Candidate)
		if seen[key] {
			t.Errorf("twice: %s", key)
		}
		seen[key] = true
		if err := r.Config.Validate(); err != nil {
			t.Errorf("%v: %v", r.Changes, err)
		}
	}
	for _, d := range tune.Space(cgc.CGC, cgc.CGCX) {
		if d.Name == "teleport" { // matters to one propagation in three, of the few that are drawn
			continue
		}
		if !slices.ContainsFunc(tuned.Ranked, func(r tune.Trial) bool {
			return slices.ContainsFunc(r.Changes, func(c tune.Change) bool { return c.Name == d.Name })
		}) {
			t.Errorf("no candidate has another %s", d.Name)
		}
	}
}

// TestSpaceKeepsWhatIsLeftOut fixes all but one parameter.
func TestSpaceKeepsWhatIsLeftOut(t *testing.T) {
	only := slices.DeleteFunc(tune.Space(cgc.CGC), func(d tune.Dimension) bool { return d.Name != "hops" })
	tuned, err := tune.Tune(t.Context(), tiny(t), tuning(func(p *tune.Tuning) { p.Space = only }))
	if err != nil {
		t.Fatal(err)
	}
	if len(tuned.Ranked) != 6 { // hops 0 to 5: the space is used up
		t.Errorf("%d ranked, want 6", len(tuned.Ranked))
	}
	for _, r := range tuned.Ranked {
		want := tuning(nil).Base
		want.Config.Hops = r.Config.Hops
		if !reflect.DeepEqual(r.Candidate, want) {
			t.Errorf("%+v, want %+v", r.Candidate, want)
		}
	}
}

// TestTuneKeepsTheDefaultWithinNoise: where only the seed of k-means differs, no candidate can be better by more than noise; where the base is made useless, one is.
func TestTuneKeepsTheDefaultWithinNoise(t *testing.T) {
	g := tiny(t)
	only := func(name string) []tune.Dimension {
		return slices.DeleteFunc(tune.Space(cgc.CGCX), func(d tune.Dimension) bool { return d.Name != name })
	}
	same, err := tune.Tune(t.Context(), g, tuning(func(p *tune.Tuning) {
		p.Base.Config.Variant, p.Space, p.Training.Epochs = cgc.CGCX, only("temperature"), 20
	}))
	if err != nil {
		t.Fatal(err)
	}
	if same.Gain <= same.Noise && len(same.Best.Changes) > 0 || same.Noise <= 0 {
		t.Errorf("gain %v, noise %v, best %v", same.Gain, same.Noise, same.Best.Changes)
	}
	worse, err := tune.Tune(t.Context(), g, tuning(func(p *tune.Tuning) {
		p.Base.Config.Variant, p.Base.Config.Hops, p.Space, p.Training.Epochs = cgc.CGCX, 40, only("hops"), 20 // 40 hops leave one point
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(worse.Best.Changes) != 1 || worse.Best.Config.Hops > 5 || worse.Gain <= worse.Noise {
		t.Errorf("gain %v, noise %v, best %v", worse.Gain, worse.Noise, worse.Best.Changes)
	}
}

func TestTuneStopsWithTheBestSoFar(t *testing.T) {
	g := tiny(t)
	for _, during := range []string{"ranked", "confirmed"} {
		ctx, cancel := context.WithCancel(t.Context())
		listening := progress.With(ctx, func(e progress.Event) {
			if e.Stage == during && e.Done == 25 {
				cancel()
			}
		})
		tuned, err := tune.Tune(listening, g, tuning(nil))
		cancel()
		if err != context.Canceled || tuned == nil {
			t.Fatalf("%s: %v, error %v, want the best so far and context.Canceled", during, tuned, err)
		}
		if len(tuned.Ranked) < 20 || tuned.Best.Config.Nodes != 12 {
			t.Errorf("%s: %d ranked, best %+v", during, len(tuned.Ranked), tuned.Best)
		}
		if during == "ranked" && !reflect.DeepEqual(tuned.Best, tuned.Ranked[0]) {
			t.Errorf("best %+v, want the first of the ranking %+v", tuned.Best, tuned.Ranked[0])
		}
	}
}

// TestTuneEndsInTime gives far too little for what it would do without a bound. The margin allows for a machine that is busy.
func TestTuneEndsInTime(t *testing.T) {
	begun := time.Now()
	tuned, err := tune.Tune(t.Context(), tiny(t), tuning(func(p *tune.Tuning) { p.Trials, p.Seconds, p.Training.Epochs = 0, 0.5, 1_000_000 }))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("took %v, want about 0.5 s", took)
	}
	if len(tuned.Ranked) == 0 {
		t.Error("nothing was ranked")
	}
}

func TestTuneNamesMistakes(t *testing.T) {
	g := tiny(t)
	for want, change := range map[string]func(*tune.Tuning){
		"0 models":              func(p *tune.Tuning) { p.Models = nil },
		"0 trials":              func(p *tune.Tuning) { p.Trials = 0 },
		"-1 trials":             func(p *tune.Tuning) { p.Trials = -1 },
		"nodes 9999":            func(p *tune.Tuning) { p.Base.Config.Nodes = 9999 },
		"epochs 0":              func(p *tune.Tuning) { p.Training.Epochs = 0 },
		"temperature 0, want":   func(p *tune.Tuning) { p.Base.Config.Temperature = 0 },
		"0 of nodes, ratio and": func(p *tune.Tuning) { p.Base.Config.Nodes = 0 }, // the size is not Tune's to choose
	} {
		if _, err := tune.Tune(t.Context(), g, tuning(change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	bare := *g
	bare.Split.Val = nil
	if _, err := tune.Tune(t.Context(), &bare, tuning(nil)); err == nil || !strings.Contains(err.Error(), "0 validation nodes") {
		t.Errorf("without validation nodes: error %v", err)
	}
}

// Where labels are few, the configuration that did well on other graphs is confirmed in every round, whatever the closed form says of it; elsewhere, or where a method of it is not asked for, it is not.
func TestProvenIsConfirmed(t *testing.T) {
	few, err := synth.Make(synth.Shape{
		Name: "few", Nodes: 400, Edges: 1200, Features: 16, Classes: 3, Train: 30, Val: 60, Test: 120, Groups: 2, Homophily: 0.8, Signal: 2, Balanced: true,
	}, rand.NewPCG(5, 5))
	if err != nil {
		t.Fatal(err)
	}
	with := func(r *tune.Tuned) (n int) {
		for _, f := range r.Confirmed {
			c := f.Config
			if c.Variant == cgc.CGCX && f.Weighted && c.PseudoLabels == 2 && c.SoftLabels && len(f.Changes) <= 4 {
				n = max(n, len(f.Val))
			}
		}
		return n
	}
	last := 0
	r, err := tune.Tune(t.Context(), few, tuning(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Confirmed {
		last = max(last, len(f.Val))
	}
	if n := with(r); n != last || last < 5 {
		t.Errorf("it was trained %d times, the last round %d times", n, last)
	}
	r, err = tune.Tune(t.Context(), few, tuning(func(p *tune.Tuning) { p.Space, p.Trials = tune.Space(cgc.CGC), 8 }))
	if err != nil {
		t.Fatal(err)
	}
	if n := with(r); n > 0 {
		t.Errorf("it was trained %d times where its method was not asked for", n)
	}
}

package experiment_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/progress"
)

// grid returns a Grid of two methods at two sizes, and a fifth arm with other features: 5 arms × 2 seeds × 2 training
// runs × 2 models on condensed graphs, and 2×2 + 2×2 training runs on the full graph.
func grid(change func(*experiment.Grid)) experiment.Grid {
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 4, 4
	p := experiment.Grid{Seeds: 2, Trainings: 2, Models: []gnn.Model{gnn.GCN(), gnn.SGC()}, Whole: 2}
	for _, nodes := range []int{6, 12} {
		for _, method := range []cgc.Variant{cgc.CGC, cgc.CGCX} {
			p.Arms = append(p.Arms, experiment.Arm{
				Name: string(method), Method: setting(func(c *cgc.Config) { c.Variant = method }),
				Size: condense.Size{Nodes: nodes}, Training: training,
			})
		}
	}
	scaled := p.Arms[1]
	scaled.Name = "cgc-x standardized"
	amend(&scaled, func(c *cgc.Config) { c.Standardize = true })
	p.Arms = append(p.Arms, scaled)
	if change != nil {
		change(&p)
	}
	return p
}

// amend changes the configuration of an arm whose method is a cgc.Config.
func amend(a *experiment.Arm, change func(*cgc.Config)) {
	c := a.Method.(cgc.Config)
	change(&c)
	a.Method = c
}

const gridTrainings = 5*2*2*2 + 2*2*2

func mustGrid(t *testing.T, p experiment.Grid, log *experiment.Log) []experiment.Record {
	t.Helper()
	return mustGridIn(t, t.Context(), p, log)
}

func mustGridIn(t *testing.T, ctx context.Context, p experiment.Grid, log *experiment.Log) []experiment.Record {
	t.Helper()
	return mattest.Must(p.Run(ctx, tiny(t), log))
}

// timeless returns records without times, memory and build.
func timeless(records []experiment.Record) []experiment.Record {
	all := slices.Clone(records)
	for i := range all {
		all[i].Seconds, all[i].TrainingSeconds, all[i].Peak, all[i].Build = condense.Seconds{}, 0, 0, experiment.Build{}
	}
	return all
}

func same(t *testing.T, what string, got, want []experiment.Record) {
	t.Helper()
	got, want = timeless(got), timeless(want)
	if len(got) != len(want) {
		t.Fatalf("%s: %d records, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%s: record %d is\n%+v\nwant\n%+v", what, i, got[i], want[i])
		}
	}
}

func TestGridRepeatsItselfForAnyThreads(t *testing.T) {
	want := mattest.IgnoresThreads(t, func() []experiment.Record {
		var steps []int64
		records := mustGridIn(t, counted(t.Context(), t, func(e progress.Event) {
			steps = append(steps, e.Done)
			mattest.Equal(t, e.Total, gridTrainings+5*2, "pieces of work")
		}), grid(nil), nil)
		if len(steps) != gridTrainings+5*2 || !slices.IsSorted(steps) {
			t.Errorf("progress %v", steps)
		}
		checkTimes(t, records)
		return timeless(records)
	})
	i := 0
	for _, arm := range []string{"cgc 6", "cgc-x 6", "cgc 12", "cgc-x 12", "cgc-x standardized 6"} {
		for _, model := range []string{"gcn", "sgc"} {
			for _, seeds := range []string{"0 0", "0 1000000", "1 1", "1 1000001"} {
				r := want[i]
				i++
				got := fmt.Sprint(r.Arm, " ", r.Nodes, " ", r.Model, " ", r.Seed, " ", r.TrainingSeed)
				mattest.Equal(t, got, arm+" "+model+" "+seeds, "record %d is", i)
				if c := configOf(t, r); c.Seed != r.Seed || c.Nodes != r.Nodes || r.Method() != c.Name() {
					t.Errorf("record %d: configuration %s", i, r.Config)
				}
			}
		}
	}
	for ; i < len(want); i++ {
		if r := want[i]; r.Method() != experiment.Whole || r.Arm != experiment.Whole || r.Nodes != 300 || r.Edges != 900 ||
			r.Seed != 0 {
			t.Errorf("record %d is %+v, want one of the full graph", i, r)
		}
	}
}

// checkTimes checks the times of records on condensed graphs.
func checkTimes(t *testing.T, records []experiment.Record) {
	t.Helper()
	for i, r := range records {
		if d := r.Seconds; r.Method() != experiment.Whole && (d.Of("propagate") <= 0 || d.Of("assess") <= 0 ||
			r.TrainingSeconds <= 0 || d.Total < d.Of("propagate")+d.Of("assess")+d.Of("partition")) {
			t.Errorf("record %d: times %+v", i, d)
		}
	}
}

// configOf returns the configuration of a record of cgc's methods.
func configOf(t *testing.T, r experiment.Record) (c cgc.Config) {
	t.Helper()
	mattest.OK(t, json.Unmarshal(r.Config, &c))
	return c
}

// TestGridIsRunForEachArm checks that Plan and Evaluation give the same results as the cells of a grid.
func TestGridIsRunForEachArm(t *testing.T) {
	g := tiny(t)
	p := grid(nil)
	records := mustGrid(t, p, nil)
	for a, arm := range p.Arms {
		r := mattest.Must(experiment.Plan{
			Method: arm.Method, Size: arm.Size, Training: arm.Training, Seeds: 2, Models: p.Models, Whole: 2,
		}.Run(t.Context(), g))
		for m := range p.Models {
			for s := range 2 {
				at := records[a*8+m*4+s*2:]
				mattest.Equal(t, r.Small[m].Test[s], at[0].Test, "arm %s, %s, seed %d: test of Plan", arm.Name, at[0].Model, s)
				mattest.Equal(t, r.Small[m].Val[s], at[0].Val, "arm %s, %s, seed %d: val of Plan", arm.Name, at[0].Model, s)
				again := mattest.Must(experiment.Evaluation{
					Models: p.Models[m : m+1], Training: arm.Training, Trainings: 1, Seed: at[1].TrainingSeed,
				}.Run(t.Context(), r.Condensed[s], g))
				mattest.Equal(t, again[0].Test[0], at[1].Test, "training seed %d: test of Evaluation", at[1].TrainingSeed)
				mattest.Equal(t, again[0].Val[0], at[1].Val, "training seed %d: val of Evaluation", at[1].TrainingSeed)
				whole := records[5*8+m*2+s:] // shared by the first four arms
				if a < 4 && whole[0].Test != r.Whole[m].Test[s] {
					t.Errorf("full graph, seed %d: %v, Run finds %v", s, whole[0].Test, r.Whole[m].Test[s])
				}
			}
		}
	}
}

// TestGridGoesOnWhereItWasStopped checks that a run that was stopped after any number of training runs resumes, and
// gives the results of an uninterrupted run.
func TestGridGoesOnWhereItWasStopped(t *testing.T) {
	want := mustGrid(t, grid(nil), nil)
	for _, stop := range []int{1, 40, gridTrainings + 9} {
		path := logOf(t, "")
		log := mustOpen(t, path)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := grid(nil).Run(counted(ctx, t, func(e progress.Event) {
			if e.Done == int64(stop) {
				cancel()
			}
		}), tiny(t), log)
		cancel()
		mattest.Equal(t, err, context.Canceled, "stopped after %d: error", stop)
		kept := len(log.Records())
		log.Close()
		if kept > gridTrainings || stop > 1 && kept == 0 {
			t.Fatalf("stopped after %d: %d records", stop, kept)
		}

		log = mustOpen(t, path)
		trained := 0
		got := mustGridIn(t, counted(t.Context(), t, func(e progress.Event) {
			if strings.HasPrefix(e.Stage, "training") {
				trained++
			}
			if most := gridTrainings - kept + 5*2; e.Total > int64(most) {
				t.Errorf("stopped after %d: %d pieces of work with %d records, want at most %d", stop, e.Total, kept, most)
			}
		}), grid(nil), log)
		same(t, fmt.Sprintf("stopped after %d", stop), got, want)
		mattest.Equal(t, trained, gridTrainings-kept, "stopped after %d with %d records: trainings", stop, kept)
		log.Close()

		// The log is complete, so nothing is trained or condensed.
		log = mustOpen(t, path)
		got = mustGridIn(t, idle(t), grid(nil), log)
		same(t, "again", got, want)
		log.Close()
	}
}

// idle returns a context that fails the test if any work is reported.
func idle(t *testing.T) context.Context {
	return progress.With(t.Context(), func(e progress.Event) { t.Errorf("nothing is missing, but Run reports %v", e) })
}

// TestGridGrows checks that a larger grid does only the missing training runs. Giving the size as a ratio or setting a
// memory limit adds no runs.
func TestGridGrows(t *testing.T) {
	log := mustOpen(t, logOf(t, ""))
	mustGrid(t, grid(func(p *experiment.Grid) { p.Arms, p.Models, p.Whole = p.Arms[2:4], p.Models[1:], 1 }), log)
	mattest.Equal(t, len(log.Records()), 2*2*2+1, "records")
	same(t, "grown", mustGrid(t, grid(nil), log), mustGrid(t, grid(nil), nil))
	mattest.Equal(t, len(log.Records()), gridTrainings, "records")
	mustGridIn(t, idle(t), grid(func(p *experiment.Grid) {
		for i := range p.Arms {
			a := &p.Arms[i]
			a.Size = condense.Size{Ratio: float64(a.Size.Nodes) / 300}
			amend(a, func(c *cgc.Config) { c.Memory, c.Size = 1<<30, a.Size })
			a.Name = "another " + a.Name
		}
	}), log)
}

// TestGridGoesOnFromAnOlderLog checks that a grid finds all its training runs in testdata/before.jsonl, which was
// written when cgc's own methods were the only ones. One of its sizes is a ratio, and one of its configurations has a
// memory limit.
func TestGridGoesOnFromAnOlderLog(t *testing.T) {
	p := grid(func(p *experiment.Grid) {
		p.Arms, p.Models, p.Seed, p.Seeds, p.Trainings, p.Whole = p.Arms[:2], p.Models[1:], 3, 1, 1, 1
		p.Arms[1].Size.Nodes = 12
		amend(&p.Arms[1], func(c *cgc.Config) { c.Standardize, c.Temperature = true, cgc.Infinite })
	})
	log := mustOpen(t, logOf(t, string(mattest.Must(os.ReadFile("testdata/before.jsonl")))))
	same(t, "older log", mustGridIn(t, idle(t), p, log), log.Records())
	got := mustGrid(t, p, nil)
	for i, r := range log.Records() {
		mattest.Equal(t, r.Method(), got[i].Method(), "record %d: method", i)
		mattest.Equal(t, r.Nodes, got[i].Nodes, "record %d: nodes", i)
	}
}

// TestGridTakesOnlyItsOwn checks that a grid ignores records of other graphs, parameters and training configurations.
func TestGridTakesOnlyItsOwn(t *testing.T) {
	small := func(p *experiment.Grid) {
		p.Arms, p.Models, p.Seeds, p.Trainings, p.Whole = p.Arms[:1], p.Models[1:], 1, 1, 0
	}
	g := tiny(t)
	log := mustOpen(t, logOf(t, ""))
	want := 0
	for what, change := range map[string]func(*experiment.Grid){
		"itself":    func(*experiment.Grid) {},
		"alpha":     func(p *experiment.Grid) { amend(&p.Arms[0], func(c *cgc.Config) { c.Alpha = 2 }) },
		"seed":      func(p *experiment.Grid) { p.Seed = 7 },
		"epochs":    func(p *experiment.Grid) { p.Arms[0].Training.Epochs = 11 },
		"weighted":  func(p *experiment.Grid) { p.Arms[0].Training.Weighted = true },
		"inductive": func(p *experiment.Grid) { amend(&p.Arms[0], func(c *cgc.Config) { c.Inductive = true }) },
		"model":     func(p *experiment.Grid) { p.Models = []gnn.Model{gnn.GCN()} },
	} {
		for range 2 {
			mattest.Must(grid(func(p *experiment.Grid) { small(p); change(p) }).Run(t.Context(), g, log))
		}
		want++
		mattest.Equal(t, len(log.Records()), want, "%s: records", what)
	}
	mattest.Must(grid(small).Run(t.Context(), relabelled(g), log))
	mattest.Equal(t, len(log.Records()), want+1, "a graph with other test labels: records")
}

// TestGridDoesTheSameOnce checks that arms that differ only in their name are condensed and trained once.
func TestGridDoesTheSameOnce(t *testing.T) {
	trained := 0
	ctx := counted(t.Context(), t, func(e progress.Event) {
		if trained++; e.Total != 2*2+2*2*2*2+2*2 {
			t.Errorf("%d pieces of work (%s), want 24", e.Total, e.Stage)
		}
	})
	records := mustGridIn(t, ctx, grid(func(p *experiment.Grid) {
		twin := p.Arms[0]
		twin.Name = "twin"
		amend(&twin, func(c *cgc.Config) { c.Memory = 1 << 30 })
		weighted := p.Arms[0]
		weighted.Name, weighted.Training.Weighted = "weighted", true
		p.Arms = []experiment.Arm{p.Arms[0], twin, weighted}
	}), nil)
	mattest.Equal(t, trained, 24, "pieces of work")
	mattest.Equal(t, len(records), 3*2*2*2+2*2, "records")
	for i, r := range records[:8] {
		mattest.Equal(t, records[8+i].Arm, "twin", "arm of record %d", 8+i)
		mattest.Equal(t, records[8+i].Test, r.Test, "test of the twin of record %d", i)
	}
}

// relabelled returns g with other labels for its test nodes.
func relabelled(g *graph.Graph) *graph.Graph {
	other := *g
	other.Y = slices.Clone(g.Y)
	for _, v := range g.Split.Test {
		other.Y[v] = (g.Y[v] + 1) % int32(g.Classes)
	}
	return &other
}

// TestGridIgnoresTestLabels checks that other test labels change only the test accuracies.
func TestGridIgnoresTestLabels(t *testing.T) {
	want := mustGrid(t, grid(nil), nil)
	got := mattest.Must(grid(nil).Run(t.Context(), relabelled(tiny(t)), nil))
	differ := false
	for i := range got {
		differ = differ || got[i].Test != want[i].Test
		got[i].Test, got[i].Metrics, got[i].Graph = want[i].Test, want[i].Metrics, want[i].Graph
	}
	same(t, "other test labels", got, want)
	if !differ {
		t.Error("test accuracies do not follow the test labels")
	}
}

// TestBlindGrid checks that a blind grid has the usual validation accuracies, tests nothing, and does not depend on
// test labels.
func TestBlindGrid(t *testing.T) {
	g := tiny(t)
	want := mustGrid(t, grid(nil), nil)
	blind := grid(nil)
	blind.Blind = true
	got := mattest.Must(blind.Run(t.Context(), g, nil))
	again := mattest.Must(blind.Run(t.Context(), relabelled(g), nil))
	for i, r := range got {
		is, other := r.Graph.Fingerprint, again[i].Graph.Fingerprint
		if r.Test != 0 || is == want[i].Graph.Fingerprint || is != other {
			t.Fatalf("blind: test %v, graph %s; other test labels: graph %s", r.Test, is, other)
		}
		mattest.Equal(t, r.Val, want[i].Val, "%s %s: validation", r.Arm, r.Model)
	}
}

func TestGridNamesMistakesBeforeItCondenses(t *testing.T) {
	blind := *tiny(t)
	blind.Split.Val = nil
	for want, change := range map[string]func(*experiment.Grid){
		"0 arms":                             func(p *experiment.Grid) { p.Arms = nil },
		"0 seeds":                            func(p *experiment.Grid) { p.Seeds = 0 },
		"0 trainings, must be 1":             func(p *experiment.Grid) { p.Trainings = 0 },
		"0 models":                           func(p *experiment.Grid) { p.Models = nil },
		"model gcn is listed twice":          func(p *experiment.Grid) { p.Models = []gnn.Model{gnn.GCN(), gnn.GCN()} },
		"-1 trainings on the full":           func(p *experiment.Grid) { p.Whole = -1 },
		"arm cgc-x standardized: nodes 9999": func(p *experiment.Grid) { p.Arms[4].Size.Nodes = 9999 },
		"arm cgc: epochs 0":                  func(p *experiment.Grid) { p.Arms[2].Training.Epochs = 0 },
		"arm cgc-x: hops -1": func(p *experiment.Grid) {
			amend(&p.Arms[1], func(c *cgc.Config) { c.Hops = -1 })
		},
		`two arms are called "cgc" and have 12`: func(p *experiment.Grid) { p.Arms[3].Name = "cgc" },
	} {
		mattest.Fails(t, want)(grid(change).Run(t.Context(), tiny(t), nil))
	}
	mattest.Fails(t, "no validation nodes (0)")(grid(nil).Run(t.Context(), &blind, nil))
	mattest.Fails(t, "no validation nodes (0)")(plan(nil).Run(t.Context(), &blind))
}

// TestGridStopsWithItsLog checks that an error in writing to the log stops the grid.
func TestGridStopsWithItsLog(t *testing.T) {
	log := mustOpen(t, logOf(t, ""))
	log.Close()
	mattest.Fails(t, "writing to the log")(grid(nil).Run(t.Context(), tiny(t), log))
}

func ExampleGrid() {
	dir, err := os.MkdirTemp("", "cgc")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 10, 16 // smaller than the defaults, to keep the example fast
	grid := experiment.Grid{Seeds: 3, Trainings: 1, Models: []gnn.Model{gnn.GCN()}}
	for _, method := range []cgc.Variant{cgc.CGC, cgc.SimDM} {
		config := cgc.Defaults()
		config.Variant = method
		grid.Arms = append(grid.Arms, experiment.Arm{
			Name: config.Name(), Method: config, Size: condense.Size{Nodes: 28}, Training: training,
		})
	}
	log, err := experiment.OpenLog(filepath.Join(dir, "records.jsonl")) // a second run resumes from it
	if err != nil {
		panic(err)
	}
	records, err := grid.Run(context.Background(), synth.Demo(), log)
	if err != nil {
		panic(err)
	}
	summaries := experiment.Summarize(records)
	for _, s := range summaries {
		fmt.Printf("%s with %d nodes: %d seeds, interval found: %t\n", s.Arm, s.Nodes, len(s.Seeds), s.Test.CI95 > 0)
	}
	fmt.Println("paired seeds:", experiment.Compare(summaries[1], summaries[0]).Seeds)
	// Output:
	// cgc with 28 nodes: 3 seeds, interval found: true
	// simdm with 28 nodes: 3 seeds, interval found: true
	// paired seeds: 3
}

package findings_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/search"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/golden"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// outcomes returns records of three arms and of the full graph, with the given numbers of condensation seeds and of
// training runs per condensed graph.
func outcomes(seeds, trainings int) (all []experiment.Record) {
	r := experiment.Record{
		Version: 1, Training: gnn.Defaults(), Model: "gcn", TrainingSeconds: 2.5,
		Graph: graph.Identity{
			Name: "cora", Fingerprint: "c0ffee", Nodes: 2708, Edges: 5278, Features: 1433, Classes: 7, Train: 140, Val: 500,
			Test: 1000,
		},
	}
	for i, method := range []cgc.Variant{cgc.CGC, cgc.CGCX, cgc.SimDM} {
		for s := range seeds {
			for j := range trainings {
				config := cgc.Defaults()
				config.Variant = method
				r := r
				r.Arm, r.Nodes, r.Seed, r.TrainingSeed = string(method), 70, uint64(s), uint64(s+1000*j)
				r.Config = mattest.Must(condense.Configuration(config, 70, r.Seed))
				r.Seconds.Total = 0.012
				r.Val, r.Test = 80, []float64{82, 81.5, 79.25}[i]+0.5*float64(s%3)+0.25*float64(i*s%2)+float64(j)
				all = append(all, r)
			}
		}
	}
	for s := range seeds {
		r.Arm, r.Nodes, r.TrainingSeed, r.Val, r.Test = experiment.Whole, 2708, uint64(s), 80, 81+0.5*float64(s%2)
		all = append(all, r)
	}
	return all
}

func TestExperimentDocument(t *testing.T) {
	for _, c := range []struct {
		name             string
		seeds, trainings int
	}{{"experiment", 5, 1}, {"experiment-trainings", 3, 2}, {"experiment-one-seed", 1, 1}} {
		t.Run(c.name, func(t *testing.T) {
			all := outcomes(c.seeds, c.trainings)
			second := all[0]
			second.Graph.Name, second.Graph.Fingerprint = "citeseer", "decaf"
			if c.seeds == 5 {
				all = append(all, second)
			}
			o := &findings.Experiment{
				Summaries: experiment.Summarize(all), Trained: len(all) - 4, Kept: 4, Records: "results/records.jsonl",
			}
			o.Comparisons = experiment.Comparisons(o.Summaries)
			golden.Compare(t, "testdata/"+c.name+".txt", []byte(o.Document().String()))
		})
	}
}

// TestMissingMetrics checks that metrics are blank where they were not measured.
func TestMissingMetrics(t *testing.T) {
	o := &findings.Experiment{Summaries: experiment.Summarize(outcomes(1, 1))}
	o.Summaries[0].Metrics = gnn.Metrics{Balanced: 60, MacroF1: 59, AUC: 70, AveragePrecision: 65}
	text := o.Document().String()
	mattest.Says(t, text, "60.0      59.0     70.0")
	mattest.Equal(t, strings.Contains(text, " 0.0 "), false, "zeros in\n%s", text)
}

// TestExperimentJSON checks the names and the order of the keys, which are a contract.
func TestExperimentJSON(t *testing.T) {
	all := experiment.Summarize(outcomes(2, 1))
	o := &findings.Experiment{
		Summaries: all[2:], Comparisons: []experiment.Comparison{experiment.Compare(all[1], all[0])}, Trained: 8,
		Records: "r/records.jsonl", RecordsCSV: "r/records.csv", SummaryCSV: "r/summary.csv",
	}
	text := mattest.Must(json.MarshalIndent(o, "", "  "))
	golden.Compare(t, "testdata/experiment.json", append(text, '\n'))
}

// TestExperimentPicture checks that a page has a plot for each graph, with a row for each arm and size, the values of
// the table, and their intervals.
func TestExperimentPicture(t *testing.T) {
	all := outcomes(5, 1)
	other := all[0]
	other.Graph.Name, other.Graph.Fingerprint, other.Model = "citeseer", "decaf", "sgc"
	o := &findings.Experiment{Summaries: experiment.Summarize(append(all, other))}
	var plots []*report.Plot
	for _, block := range o.Picture().Blocks {
		if p, is := block.(*report.Plot); is {
			plots = append(plots, p)
		}
	}
	if len(plots) != 2 || plots[0].Title != "Accuracy on cora" || plots[1].Title != "Accuracy on citeseer" {
		t.Fatalf("%d plots, want one of cora and one of citeseer", len(plots))
	}
	bars := plots[0].Data.(*report.Bars)
	mattest.True(t, len(bars.Rows) == 4 && bars.Rows[3] == "whole, 2,708 nodes" && len(bars.Series) == 1,
		"rows %v in %d series", bars.Rows, len(bars.Series))
	for i, s := range o.Summaries[:4] {
		got := bars.Series[0]
		want := [...]float64{s.Test.Mean, s.Test.Mean - s.Test.CI95, s.Test.Mean + s.Test.CI95}
		mattest.Equal(t, [...]float64{got.Values[i], got.Low[i], got.High[i]}, want, "row %d is", i)
	}
	for _, block := range o.Document().Blocks {
		if _, is := block.(*report.Plot); is {
			t.Error("the document for a terminal has a plot")
		}
	}
}

// TestSearchDocument checks the text of each kind of outcome.
func TestSearchDocument(t *testing.T) {
	changes := []tune.Change{{Name: "hops", From: "2", To: "3"}, {Name: "augment", From: "0", To: "0.4"}}
	found := func() *findings.Search {
		return &findings.Search{
			Models: []string{"gcn", "sgc"}, Ranked: 200, Trainings: 12, Changes: changes, Gain: 1.26, Noise: 0.5, Seconds: 61.7,
			Confirmed: []findings.Confirmed{
				{Changes: changes, Judged: 81.26, Seeds: 3, ValMean: 80.51, ValStd: 0.42},
				{Judged: 80, Seeds: 3, ValMean: 79.25, ValStd: 0.5},
			},
			File: "cora-70.json", Next: "cgc run cora --config cora-70.json",
		}
	}
	for name, change := range map[string]func(*findings.Search){
		"tune":         func(*findings.Search) {},
		"tune-default": func(o *findings.Search) { o.Changes, o.Gain = nil, -0.1 },
		"tune-alone":   func(o *findings.Search) { o.Changes, o.Gain, o.Noise = nil, 0, 0 },
		"tune-auto": func(o *findings.Search) {
			o.Choice = &auto.Account{Chosen: "cgc-x", Why: "no candidate was clearly better on 30 validation nodes"}
		},
		"tune-one-seed": func(o *findings.Search) {
			for i := range o.Confirmed {
				o.Confirmed[i].Seeds, o.Confirmed[i].ValStd = 1, 0
			}
		},
		"tune-unconfirmed": func(o *findings.Search) { o.Confirmed, o.Trainings = nil, 0 },
	} {
		o := found()
		change(o)
		golden.Compare(t, "testdata/"+name+".txt", []byte(o.Document().String()))
	}
}

// TestModelsDocument checks the sentences about candidates that were compared.
func TestModelsDocument(t *testing.T) {
	for drawn, want := range map[int]string{
		2: "in the same time, random search on the full graph trains 2 candidates and reaches 80.0%",
		3: "in the same time or less, random search on the full graph trains all 3 candidates and reaches 80.0%",
	} {
		o := findings.Models{
			Agreement: &search.Agreement{Compared: make([]search.Finalist, 3)},
			Regret:    &findings.Regret{Val: -1, Test: -0.04},
			Random:    &findings.RandomSearch{Candidates: drawn, Val: 80, Test: 79},
		}
		o.Agreement.Kendall.Low = -0.004
		o.Finalists = make([]search.Finalist, 2)
		o.Finalists[0].WholeVal, o.Finalists[0].Seconds = 81.26, 0.034
		const regret = "the best of them on the full graph, minus the choice: −1.0 points on validation nodes and 0.0 on"
		mattest.Says(t, o.Document().String(), want, regret, "Kendall 0.00 (0.00 to", " 81.3 ", " 0.034\n", " diverged ")
	}
}

// TestSearchPicture checks that a page begins with a plot of the trained candidates, if there are any.
func TestSearchPicture(t *testing.T) {
	g := &graph.Graph{Name: "own"}
	trained := []tune.Finalist{{Val: []float64{80, 80.5, 81}}, {Val: []float64{79}}}
	for i := range trained {
		trained[i].Method = cgc.Defaults()
	}
	o := mattest.Must(findings.OfSearch(g, tune.Search{Nodes: 7}, &tune.Result{
		Best: trained[0].Trial, Confirmed: trained,
	}, 0))
	p, is := o.Picture().Blocks[0].(*report.Plot)
	if !is {
		t.Fatal("the page does not begin with a plot")
	}
	s := p.Data.(*report.Bars).Series[0]
	if s.Values[0] != 80.5 || math.Abs(s.High[0]-80.5-4.303*0.5/math.Sqrt(3)) > 1e-3 || s.Low[0] >= 80 ||
		!math.IsNaN(s.Low[1]) || s.Detail[0] != "3 seeds" {
		t.Errorf("the plot has %+v", s)
	}
	if _, is := (&findings.Search{}).Picture().Blocks[0].(*report.Plot); is {
		t.Error("a search that trained nothing has a plot")
	}
}

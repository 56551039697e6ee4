package findings_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
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
			var got bytes.Buffer
			mattest.OK(t, report.Text(&got, o.Document()))
			golden.Compare(t, "testdata/"+c.name+".txt", got.Bytes())
		})
	}
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
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	mattest.OK(t, decoder.Decode(new(findings.Experiment)))
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
	if len(bars.Rows) != 4 || bars.Rows[3] != "whole, 2,708 nodes" || len(bars.Series) != 1 {
		t.Errorf("rows %v in %d series", bars.Rows, len(bars.Series))
	}
	for i, s := range o.Summaries[:4] {
		got := bars.Series[0]
		if got.Values[i] != s.Test.Mean || got.Low[i] != s.Test.Mean-s.Test.CI95 || got.High[i] != s.Test.Mean+s.Test.CI95 {
			t.Errorf("row %d is %v, %v to %v, want %+v", i, got.Values[i], got.Low[i], got.High[i], s.Test)
		}
	}
	for _, block := range o.Document().Blocks {
		if _, is := block.(*report.Plot); is {
			t.Error("the document for a terminal has a plot")
		}
	}
}

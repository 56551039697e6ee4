package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/report"
)

// records returns trainings of three arms and of the whole graph, with the given number of condensation seeds and of trainings on each.
func records(seeds, trainings int) (all []experiment.Record) {
	r := experiment.Record{
		Version: experiment.RecordVersion, Training: gnn.Defaults(), Model: "gcn", TrainingSeconds: 2.5,
		Graph: experiment.Identity{Name: "cora", Fingerprint: "c0ffee", Nodes: 2708, Edges: 5278, Features: 1433, Classes: 7, Train: 140, Val: 500, Test: 1000},
	}
	for i, method := range []cgc.Method{cgc.CGC, cgc.CGCX, cgc.SimDM} {
		for s := range seeds {
			for j := range trainings {
				config := cgc.Defaults()
				config.Method, config.Nodes, config.Seed = method, 70, uint64(s)
				r := r
				r.Arm, r.Config, r.Nodes, r.Seed, r.TrainingSeed = string(method), &config, 70, uint64(s), uint64(s+1000*j)
				r.Seconds.Condense = 0.012
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

func TestExperimentText(t *testing.T) {
	for _, c := range []struct {
		name             string
		seeds, trainings int
	}{{"experiment", 5, 1}, {"experiment-trainings", 3, 2}, {"experiment-one-seed", 1, 1}} {
		t.Run(c.name, func(t *testing.T) {
			all := records(c.seeds, c.trainings)
			second := all[0]
			second.Graph.Name, second.Graph.Fingerprint = "citeseer", "decaf"
			if c.seeds == 5 {
				all = append(all, second)
			}
			e := &report.Experiment{Summaries: experiment.Summarize(all), Trained: len(all) - 4, Kept: 4, Records: "results/records.jsonl"}
			e.Comparisons = experiment.Comparisons(e.Summaries)
			var got bytes.Buffer
			if err := e.Text(&got); err != nil {
				t.Fatal(err)
			}
			golden(t, "testdata/"+c.name+".txt", got.Bytes())
			if err := e.Text(full{}); !errors.Is(err, errFull) {
				t.Errorf("error %v, want %v", err, errFull)
			}
		})
	}
}

// TestExperimentJSON holds the keys: their names and order are a contract.
func TestExperimentJSON(t *testing.T) {
	e := &report.Experiment{Summaries: experiment.Summarize(records(2, 1))[2:], Trained: 8, Records: "r/records.jsonl", RecordsCSV: "r/records.csv", SummaryCSV: "r/summary.csv"}
	all := experiment.Summarize(records(2, 1))
	e.Comparisons = []experiment.Comparison{experiment.Compare(all[1], all[0])}
	var got bytes.Buffer
	if err := report.JSON(&got, e); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/experiment.json", got.Bytes())
	decoder := json.NewDecoder(&got)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(new(report.Experiment)); err != nil {
		t.Error(err)
	}
}

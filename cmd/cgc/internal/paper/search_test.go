package paper_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	_ "github.com/graph-condensation/cgc/rival/all" // registers the methods that a search recreates
)

// method returns a registered method with parameters as JSON.
func method(t *testing.T, name, parameters string) condense.Method {
	t.Helper()
	return mattest.Must(condense.New(name, json.RawMessage(parameters)))
}

// searched returns a job with a search of the given number of trials.
func searched(t *testing.T, study string, trials int, log *experiment.Log) paper.Job {
	j := job(t, study, "own")
	j.Search = &paper.Search{Trials: trials, Log: log}
	return j
}

// TestSearch checks that each cell has the configuration that its search found.
func TestSearch(t *testing.T) {
	few := method(t, "gcdm-x", `{"epochs": 2, "judge_epochs": 2}`)
	j := searched(t, "table2", 6, nil)
	j.Methods = []condense.Method{method(t, "random", ""), few}
	j.NormalizeFeatures = true
	r := mustRun(t, j)
	if len(r.Cells) != 4 || r.Trials != 6 {
		t.Fatalf("%d cells, %d trials, want 4 and 6", len(r.Cells), r.Trials)
	}
	changed := false
	for _, c := range r.Cells {
		if c.Found == nil || c.Found.Trials != 6 || c.Found.Val < 0 || c.Found.Val > 100 {
			t.Fatalf("%s: found %+v", c.Arm, c.Found)
		}
		changed = changed || len(c.Found.Changes) > 0
		var config struct {
			Augment     float64         `json:"augment"`
			Temperature cgc.Temperature `json:"temperature"`
			Rate        float64         `json:"lr_feat"`
			Normalize   bool            `json:"normalize_features"`
		}
		err := json.Unmarshal(c.Config, &config)
		mattest.True(t, err == nil && config.Normalize, "%s: configuration %s (%v)", c.Arm, c.Config, err)
		for _, change := range c.Found.Changes {
			allowed := map[string][]string{
				"SimDM": {"dropout"}, "CGC-X": {"p", "τ", "dropout"}, "random": {"dropout"}, "GCDM-X": {"learning rate", "dropout"},
			}[c.Arm]
			mattest.True(t, slices.Contains(allowed, change.Name), "%s: the search changed %s", c.Arm, change.Name)
			if change.Name == "learning rate" && fmt.Sprint(config.Rate) != change.Value {
				t.Errorf("%s: learning rate %s found, %v in the configuration", c.Arm, change.Value, config.Rate)
			}
		}
	}
	mattest.True(t, changed, "no search changed anything")
	mattest.Says(t, r.Document().String(), "what the search found")
	small := mustRun(t, searched(t, "table2", 1, nil))
	for _, c := range small.Cells {
		mattest.True(t, len(c.Found.Changes) == 0 && c.Found.Val == c.Found.Base, "%s: one trial found %+v", c.Arm, c.Found)
	}
}

// rotated returns a copy of g in which the given nodes have other labels.
func rotated(g *graph.Graph, nodes []int32) *graph.Graph {
	other := *g
	other.Y = slices.Clone(g.Y)
	for _, v := range nodes {
		other.Y[v] = (g.Y[v] + 1) % int32(g.Classes)
	}
	return &other
}

// TestSearchReadsNoTestLabels checks that a search depends on labels of validation nodes, but not on labels of test
// nodes.
func TestSearchReadsNoTestLabels(t *testing.T) {
	plain := tiny(t, "own")
	found := func(g *graph.Graph) string {
		j := searched(t, "table2", 5, nil)
		j.Open = func(context.Context, paper.Source) (*graph.Graph, error) { return g, nil }
		var all []*paper.Found
		for _, c := range mustRun(t, j).Cells {
			all = append(all, c.Found)
		}
		text := mattest.Must(json.Marshal(all))
		return string(text)
	}
	want := found(plain)
	mattest.Equal(t, found(rotated(plain, plain.Split.Test)), want, "with other test labels the search found")
	got := found(rotated(plain, plain.Split.Val))
	mattest.True(t, got != want, "other validation labels change nothing")
}

// TestSearchGoesOn checks that a second search repeats no training in its log, and that a search keeps the parameter
// that defines an arm.
func TestSearchGoesOn(t *testing.T) {
	log := newLog(t)
	first := mustRun(t, searched(t, "table11", 3, log))
	kept := len(log.Records())
	if kept == 0 {
		t.Fatal("the log is empty")
	}
	for _, r := range log.Records() {
		mattest.Equal(t, r.Test, 0, "a training of the search has the test accuracy")
	}
	second := mustRun(t, searched(t, "table11", 3, log))
	mattest.Equal(t, len(log.Records()), kept, "trainings after the same search again:")
	for i, c := range first.Cells {
		mattest.Equal(t, second.Cells[i].Test, c.Test, "%s after the same search again:", c.Arm)
		for _, change := range c.Found.Changes {
			if c.Arm == "CGC w/o AUG" && change.Name == "p" || c.Arm == "CGC w/o CAL" && change.Name == "τ" {
				t.Errorf("%s: the search changed %s", c.Arm, change.Name)
			}
		}
	}
}

// TestMethodsBeside checks that additional methods get the paper's names and numbers.
func TestMethodsBeside(t *testing.T) {
	few := method(t, "gcdm-x", `{"epochs": 1, "judge_epochs": 1}`)
	const want = "81.4 ± 0.1"
	for _, study := range []string{"table3", "figure3"} {
		j := job(t, study, "cora")
		j.Methods, j.Seeds = []condense.Method{few}, 1
		found := false
		for _, c := range mustRun(t, j).Cells {
			if c.Arm == "GCDM-X" && c.Ratio == "2.60%" {
				found = c.Paper != nil && c.Paper.String() == want
			}
		}
		mattest.True(t, found, "%s has no cell GCDM-X with the paper's %s", study, want)
	}
}

package findings_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment/search"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/golden"
	"github.com/graph-condensation/cgc/internal/mattest"
)

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
		"tune-prior": func(o *findings.Search) {
			o.Graph, o.Prior, o.Confirmed[0].Prior = "cora", "few-labels", "few-labels"
			o.Priors = tune.Priors()
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
		var got bytes.Buffer
		mattest.OK(t, report.Text(&got, o.Document()))
		golden.Compare(t, "testdata/"+name+".txt", got.Bytes())
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
			Regret:    &findings.Regret{Val: -1, Test: 0.5},
			Random:    &findings.RandomSearch{Candidates: drawn, Val: 80, Test: 79},
		}
		var got bytes.Buffer
		mattest.OK(t, report.Text(&got, o.Document()))
		const regret = "the best of them on the full graph, minus the choice: -1.0 points on validation nodes and +0.5 on"
		if text := got.String(); !strings.Contains(text, want) || !strings.Contains(text, regret) {
			t.Errorf("%s\nmust contain %q and %q", text, want, regret)
		}
	}
}

// TestSearchPicture checks that a page begins with a plot of the trained candidates, if there are any.
func TestSearchPicture(t *testing.T) {
	g := &graph.Graph{Name: "own"}
	trained := []tune.Finalist{{Val: []float64{80, 80.5, 81}}, {Val: []float64{79}}}
	o := findings.OfSearch(g, nil, &tune.Result{Confirmed: trained})
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

// TestSearchTellsOfPriors checks that the JSON states where a prior comes from.
func TestSearchTellsOfPriors(t *testing.T) {
	prior := tune.Finalist{Trial: tune.Trial{Prior: "few-labels"}, Val: []float64{80}}
	o := findings.OfSearch(&graph.Graph{Name: "cora"}, []string{"gcn"},
		&tune.Result{Priors: tune.Priors(), Confirmed: []tune.Finalist{prior}})
	text := mattest.Must(json.Marshal(o))
	for _, want := range []string{
		`"priors":[{"name":"few-labels","settings":[{"name":"method","value":"cgc-x"},`,
		`"found_on":["cora","citeseer","demo"]}]`, `"prior":"few-labels"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("JSON %s, want %s in it", text, want)
		}
	}
}

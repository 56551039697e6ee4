package tune_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"testing"

	"github.com/graph-condensation/cgc/experiment/report"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/graph"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestTuneDocument checks the text of each kind of outcome.
func TestTuneDocument(t *testing.T) {
	changes := []tune.Change{{Name: "hops", From: "2", To: "3"}, {Name: "augment", From: "0", To: "0.4"}}
	found := func() *tune.Outcome {
		return &tune.Outcome{
			Models: []string{"gcn", "sgc"}, Ranked: 200, Trainings: 12, Changes: changes, Gain: 1.26, Noise: 0.5, Seconds: 61.7,
			Confirmed: []tune.Confirmed{
				{Changes: changes, Judged: 81.26, Seeds: 3, ValMean: 80.51, ValStd: 0.42},
				{Judged: 80, Seeds: 3, ValMean: 79.25, ValStd: 0.5},
			},
			File: "cora-70.json", Next: "cgc run cora --config cora-70.json",
		}
	}
	for name, change := range map[string]func(*tune.Outcome){
		"tune":         func(*tune.Outcome) {},
		"tune-default": func(o *tune.Outcome) { o.Changes, o.Gain = nil, -0.1 },
		"tune-alone":   func(o *tune.Outcome) { o.Changes, o.Gain, o.Noise = nil, 0, 0 },
		"tune-prior": func(o *tune.Outcome) {
			o.Graph, o.Prior, o.Confirmed[0].Prior = "cora", "few-labels", "few-labels"
			o.Priors = tune.Priors()
		},
		"tune-one-seed": func(o *tune.Outcome) {
			for i := range o.Confirmed {
				o.Confirmed[i].Seeds, o.Confirmed[i].ValStd = 1, 0
			}
		},
		"tune-unconfirmed": func(o *tune.Outcome) { o.Confirmed, o.Trainings = nil, 0 },
	} {
		o := found()
		change(o)
		var got bytes.Buffer
		if err := report.Text(&got, o.Document()); err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + name + ".txt"
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got.Bytes(), want)
		}
	}
}

// TestPicture checks that a page begins with a plot of the trained candidates, if there are any.
func TestPicture(t *testing.T) {
	g := &graph.Graph{Name: "own"}
	trained := []tune.Finalist{{Val: []float64{80, 80.5, 81}}, {Val: []float64{79}}}
	o := tune.NewOutcome(g, nil, &tune.Result{Confirmed: trained})
	p, is := o.Picture().Blocks[0].(*report.Plot)
	if !is {
		t.Fatal("the page does not begin with a plot")
	}
	s := p.Data.(*report.Bars).Series[0]
	if s.Values[0] != 80.5 || math.Abs(s.High[0]-80.5-4.303*0.5/math.Sqrt(3)) > 1e-3 || s.Low[0] >= 80 ||
		!math.IsNaN(s.Low[1]) || s.Detail[0] != "3 seeds" {
		t.Errorf("the plot has %+v", s)
	}
	if _, is := (&tune.Outcome{}).Picture().Blocks[0].(*report.Plot); is {
		t.Error("a search that trained nothing has a plot")
	}
}

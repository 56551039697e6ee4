package findings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/graph"
)

// Search is the result of a search for a configuration. All accuracies are on validation nodes. Its JSON keys are a
// contract (docs/reference/json.md).
type Search struct {
	// Graph is the name of the graph. Condensed is the number of condensed nodes.
	Graph     string `json:"graph"`
	Condensed int    `json:"condensed_nodes"`
	// Models are the models that were trained.
	Models []string `json:"models"`
	// Ranked is the number of configurations that the surrogates ranked. Trainings is the number of training runs.
	Ranked    int `json:"ranked"`
	Trainings int `json:"trainings"`
	// Confirmed lists the configurations that were trained, including the default. They are sorted by round, last first,
	// and then by accuracy, best first.
	Confirmed []Confirmed `json:"confirmed"`
	// Config is the configuration to use, and Weighted says whether to weight the loss. Changes lists how they differ
	// from the default.
	Config   json.RawMessage `json:"config"`
	Weighted bool            `json:"weighted"`
	Changes  []tune.Change   `json:"changes"`
	// Choice describes how auto chose the default; absent if the default does not come from auto.
	Choice *auto.Account `json:"choice,omitempty"`
	// Gain is the mean difference in points between the best other configuration and the default, over paired seeds. Noise
	// is the threshold that Gain had to exceed: 1.5 standard errors, over seeds and validation nodes.
	Gain  float64 `json:"gain"`
	Noise float64 `json:"noise"`
	// Seconds is the total time.
	Seconds float64 `json:"seconds"`
	// File is the file with the configuration. Next is the command that uses it.
	File string `json:"file"`
	Next string `json:"next"`
}

// Confirmed is a candidate that was trained.
type Confirmed struct {
	// Changes lists how the configuration differs from the default.
	Changes []tune.Change `json:"changes"`
	// Judged and Entropy are the accuracy and the cross entropy that the surrogates predict.
	Judged  float64 `json:"judged"`
	Entropy float64 `json:"entropy"`
	// Seeds is the number of condensation seeds, each with its own training. ValMean and ValStd are the mean and the
	// sample standard deviation over them.
	Seeds   int     `json:"seeds"`
	ValMean float64 `json:"val_mean"`
	ValStd  float64 `json:"val_std"`
	// interval is half the width of the 95% interval of the mean.
	interval float64
	// Config is the configuration, and Weighted says whether the loss is weighted.
	Config   json.RawMessage `json:"config"`
	Weighted bool            `json:"weighted"`
}

// OfSearch returns the outcome of a search on g. The configurations of cgc get the memory limit, in bytes. The caller
// must set Seconds, File and Next.
func OfSearch(g *graph.Graph, search tune.Search, tuned *tune.Result, memory int64) (*Search, error) {
	o := &Search{
		Graph: g.Name, Condensed: search.Nodes, Ranked: len(tuned.Ranked), Trainings: tuned.Trainings,
		Confirmed: []Confirmed{}, Weighted: tuned.Best.Weighted, Changes: listed(tuned.Best.Changes),
		Choice: tuned.Choice, Gain: tuned.Gain, Noise: tuned.Noise,
	}
	for _, m := range search.Models {
		o.Models = append(o.Models, m.Name())
	}
	configuration := func(c tune.Candidate) (json.RawMessage, error) {
		m := c.InSetting()
		if config, is := m.(cgc.Config); is {
			config.Memory = memory
			m = config
		}
		return condense.Configuration(m, search.Nodes, search.Seed)
	}
	var err error
	if o.Config, err = configuration(tuned.Best.Candidate); err != nil {
		return nil, err
	}
	for _, f := range tuned.Confirmed {
		c := Confirmed{
			Changes: listed(f.Changes), Judged: f.Accuracy, Entropy: f.Entropy, Seeds: len(f.Val), Weighted: f.Weighted,
		}
		e := experiment.EstimateOf(f.Val)
		c.ValMean, c.ValStd, c.interval = e.Mean, e.Std, e.CI95
		if c.Config, err = configuration(f.Candidate); err != nil {
			return nil, err
		}
		o.Confirmed = append(o.Confirmed, c)
	}
	return o, nil
}

// listed returns changes as a list that is never nil, because JSON would write nil as null.
func listed(changes []tune.Change) []tune.Change { return append([]tune.Change{}, changes...) }

// Document returns a report of the trained candidates and of the configuration to use.
func (o *Search) Document() *report.Document {
	d := new(report.Document)
	t := &report.Table{Columns: []report.Column{
		{Name: "configuration"}, {Name: "validation accuracy", Unit: "%", Parts: report.MeanParts}, {Name: "seeds"},
		{Name: "proxy", Key: "judged"},
	}}
	for _, c := range o.Confirmed {
		t.Row(o.changed(c.Changes), report.Mean(c.ValMean, c.ValStd, c.Seeds, 1), c.Seeds, report.Decimal(c.Judged, 1))
	}
	if len(o.Confirmed) > 0 {
		spread := "validation accuracy"
		if slices.ContainsFunc(o.Confirmed, func(c Confirmed) bool { return c.Seeds > 1 }) {
			spread = "±: standard deviation"
		}
		d.Add(t, report.Notes{fmt.Sprintf("%s over condensation seeds, each with its own training (%s); "+
			"proxy: accuracy of the surrogates, over other seeds", spread, strings.Join(o.Models, ", "))})
	}
	found := report.Notes{fmt.Sprintf("%s ranked, %d confirmed by %s, %.0f s", report.Plural(o.Ranked, "configuration"),
		len(o.Confirmed), report.Plural(o.Trainings, "training run"), o.Seconds)}
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	switch {
	case len(o.Confirmed) == 0:
		add("no configuration was confirmed by training; the first of the ranking: %s", o.changed(o.Changes))
	case len(o.Changes) > 0:
		add("%s points over the default (noise %.1f): %s", signed(o.Gain), o.Noise, o.changed(o.Changes))
	case o.Noise > 0:
		add("the default is kept: the best other configuration differs by %s points, of which up to %.1f may be noise",
			signed(o.Gain), o.Noise)
	default:
		add("the default is kept")
	}
	if o.Choice != nil {
		add("the default is %s", o.Choice)
	}
	d.Add(found, report.Notes{"configuration: " + o.File, "next: " + o.Next})
	return d
}

// Picture returns Document's report with a plot of the accuracies at the beginning, for HTML pages.
func (o *Search) Picture() *report.Document {
	d := o.Document()
	if len(o.Confirmed) == 0 {
		return d
	}
	series := report.BarSeries{Name: "mean over the seeds", Digits: 1}
	bars := &report.Bars{Axis: "validation accuracy, %", Points: true}
	for _, c := range o.Confirmed {
		bars.Rows = append(bars.Rows, o.changed(c.Changes))
		series.Estimate(c.ValMean, c.interval, c.Seeds)
		series.Detail = append(series.Detail, report.Plural(c.Seeds, "seed"))
	}
	bars.Series = []report.BarSeries{series}
	plot := &report.Plot{
		Title: "Configurations that were trained", Data: bars,
		Caption: "Mean accuracy on the validation nodes; the configurations of the last round come first. Error bars are " +
			"95% intervals of the mean (Student's t) over at least three condensation seeds, each with its own training run.",
	}
	d.Blocks = append([]report.Block{plot}, d.Blocks...)
	return d
}

// signed formats a difference in points.
func signed(points float64) string { return report.Signed(points, 1).Text }

// changed lists changes on one line.
func (o *Search) changed(changes []tune.Change) string {
	if len(changes) == 0 {
		if o.Choice != nil {
			return "default: " + o.Choice.Chosen
		}
		return "default"
	}
	words := make([]string, len(changes))
	for i, c := range changes {
		words[i] = c.Name + " " + c.To
	}
	return strings.Join(words, ", ")
}

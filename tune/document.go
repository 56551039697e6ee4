package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/report"
)

// Outcome is what a search for a configuration found. All accuracies are on validation nodes. Its JSON keys are a
// contract (docs/formats.md).
type Outcome struct {
	// Graph is the name of the graph, Condensed the number of condensed nodes.
	Graph     string `json:"graph"`
	Condensed int    `json:"condensed_nodes"`
	// Models are those that confirmed.
	Models []string `json:"models"`
	// Ranked is the number of candidates that the closed form ranked. Trainings is the number of trainings that
	// confirmed some of them.
	Ranked    int `json:"ranked"`
	Trainings int `json:"trainings"`
	// Confirmed lists the candidates that were trained, the default among them. Those of the last round come first;
	// within a round, the best comes first.
	Confirmed []Confirmed `json:"confirmed"`
	// Config and Weighted are the configuration to use. Changes lists how it differs from the default; it is empty if
	// the default stays.
	Config   cgc.Config `json:"config"`
	Weighted bool       `json:"weighted"`
	Changes  []Change   `json:"changes"`
	// Prior is the name of the prior that this is; absent if the configuration was drawn.
	Prior string `json:"prior,omitempty"`
	// Priors lists the priors that were ranked: where they come from must be said with every number they give.
	Priors []Prior `json:"priors"`
	// Gain is the mean difference, in points, between the best candidate other than the default and the default, seed
	// by seed. Noise is the bound that Gain had to exceed: one and a half times its standard error, over seeds and
	// validation nodes.
	Gain  float64 `json:"gain"`
	Noise float64 `json:"noise"`
	// Seconds is the time that all of it took.
	Seconds float64 `json:"seconds"`
	// File is where the configuration was written, Next the command that tries it.
	File string `json:"file"`
	Next string `json:"next"`
}

// Confirmed is a candidate that was trained.
type Confirmed struct {
	// Changes is what differs from the default; empty for the default itself. Prior is the name of the prior that the
	// candidate is; absent if it was drawn.
	Changes []Change `json:"changes"`
	Prior   string   `json:"prior,omitempty"`
	// Judged is the accuracy that the closed form found, Entropy the cross entropy.
	Judged  float64 `json:"judged"`
	Entropy float64 `json:"entropy"`
	// Seeds is the number of condensation seeds, each with a training of its own. ValMean and ValStd are the mean and
	// the sample standard deviation over them.
	Seeds   int     `json:"seeds"`
	ValMean float64 `json:"val_mean"`
	ValStd  float64 `json:"val_std"`
	// interval is half the width of the 95% interval of the mean.
	interval float64
	// Config and Weighted are the candidate.
	Config   cgc.Config `json:"config"`
	Weighted bool       `json:"weighted"`
}

// NewOutcome returns the outcome of tuning on g. Seconds, File and Next are left to the caller.
func NewOutcome(g *graph.Graph, models []string, tuned *Result) *Outcome {
	o := &Outcome{
		Graph: g.Name, Models: models, Ranked: len(tuned.Ranked), Trainings: tuned.Trainings,
		Confirmed: []Confirmed{}, Config: tuned.Best.Config, Weighted: tuned.Best.Weighted,
		Changes: listed(tuned.Best.Changes), Prior: tuned.Best.Prior, Priors: []Prior{}, Gain: tuned.Gain, Noise: tuned.Noise,
	}
	o.Priors = append(o.Priors, tuned.Priors...)
	if nodes, err := tuned.Best.Config.NodesFor(g); err == nil {
		o.Condensed = nodes
	}
	for _, f := range tuned.Confirmed {
		c := Confirmed{
			Changes: listed(f.Changes), Prior: f.Prior, Judged: f.Accuracy, Entropy: f.Entropy, Seeds: len(f.Val),
			Config: f.Config, Weighted: f.Weighted,
		}
		e := experiment.EstimateOf(f.Val)
		c.ValMean, c.ValStd, c.interval = e.Mean, e.Std, e.CI95
		o.Confirmed = append(o.Confirmed, c)
	}
	return o
}

// listed returns changes, with an empty list for nil: JSON writes it as [].
func listed(changes []Change) []Change {
	if changes == nil {
		return []Change{}
	}
	return changes
}

// Document shows the candidates that were trained, and which one to use.
func (o *Outcome) Document() *report.Document {
	d := new(report.Document)
	t := &report.Table{Columns: []report.Column{
		{Name: "configuration"}, {Name: "validation accuracy", Unit: "%", Parts: []string{"mean", "std"}}, {Name: "seeds"},
		{Name: "judged"},
	}}
	for _, c := range o.Confirmed {
		t.Row(report.Word(changed(c.Changes, c.Prior)), report.PlusMinus(c.ValMean, c.ValStd, 1), report.Integer(c.Seeds),
			report.Decimal(c.Judged, 1))
	}
	if len(o.Confirmed) > 0 {
		d.Add(t, report.Notes{fmt.Sprintf("±: standard deviation over condensation seeds, each with a training of its own "+
			"(%s); judged: by the closed form, over other seeds", strings.Join(o.Models, ", "))})
	}
	found := report.Notes{fmt.Sprintf("%s ranked, %d confirmed by %s, %.0f s", report.Plural(o.Ranked, "configuration"),
		len(o.Confirmed), report.Plural(o.Trainings, "training"), o.Seconds)}
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	switch {
	case len(o.Confirmed) == 0:
		add("nothing was confirmed by training; the first of the ranking: %s", changed(o.Changes, o.Prior))
	case len(o.Changes) > 0:
		add("%+.1f points against the default (noise %.1f): %s", o.Gain, o.Noise, changed(o.Changes, o.Prior))
	case o.Noise > 0:
		add("the default stays: the best other configuration differs by %+.1f points, and up to %.1f may be chance",
			o.Gain, o.Noise)
	default:
		add("the default stays")
	}
	for _, p := range o.Priors {
		found = append(found, p.note(o.Graph))
	}
	d.Add(found, report.Notes{"configuration: " + o.File, "next: " + o.Next})
	return d
}

// Picture is Document with a plot of the accuracies before it, for pages.
func (o *Outcome) Picture() *report.Document {
	d := o.Document()
	if len(o.Confirmed) == 0 {
		return d
	}
	series := report.BarSeries{Name: "mean over the seeds", Digits: 1}
	bars := &report.Bars{Axis: "validation accuracy, %", Points: true}
	for _, c := range o.Confirmed {
		bars.Rows = append(bars.Rows, changed(c.Changes, c.Prior))
		series.Values = append(series.Values, c.ValMean)
		series.Low = append(series.Low, max(0, c.ValMean-c.interval))
		series.High = append(series.High, min(100, c.ValMean+c.interval))
		series.Detail = append(series.Detail, report.Plural(c.Seeds, "seed"))
	}
	bars.Series = []report.BarSeries{series}
	plot := &report.Plot{
		Title: "Configurations that were trained", Data: bars,
		Caption: "Accuracy on the validation nodes. Strokes are 95% intervals of the mean over condensation seeds, each " +
			"with a training of its own, by Student's t; one seed has none. Those of the last round come first.",
	}
	d.Blocks = append([]report.Block{plot}, d.Blocks...)
	return d
}

// note says what a prior is and where it comes from.
func (p Prior) note(graph string) string {
	note := fmt.Sprintf("prior %s (%s): ranked among the first because it did well on %s; "+
		"held to the same bar as all others", p.Name, p, strings.Join(p.FoundOn, ", "))
	if slices.Contains(p.FoundOn, graph) {
		note += fmt.Sprintf("; %s is one of these, so that its gain here is no independent evidence", graph)
	}
	return note
}

// String lists the settings.
func (p Prior) String() string {
	words := make([]string, len(p.Settings))
	for i, s := range p.Settings {
		words[i] = s.Name + " " + s.Value
	}
	return strings.Join(words, ", ")
}

// changed lists changes in a line, and the name of the prior that they are.
func changed(changes []Change, prior string) string {
	if len(changes) == 0 {
		return "default"
	}
	words := make([]string, len(changes))
	for i, c := range changes {
		words[i] = c.Name + " " + c.To
	}
	if prior != "" {
		prior = " (prior " + prior + ")"
	}
	return strings.Join(words, ", ") + prior
}

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/object"
)

// document shows sizes, the method, seconds and, if models were trained, accuracies. For an evaluation of an existing
// condensed graph, it shows only the accuracies, because the command that made the graph has shown the rest.
func (r *outcome) document() *report.Document {
	d := new(report.Document)
	if r.evaluated {
		d.Add(report.Paragraph(fmt.Sprintf("%s: %s, tested on %s", r.File,
			report.Plural(r.Condensed.Nodes, "condensed node"), r.Graph)))
	} else {
		r.addCondensation(d)
	}
	if r.OtherGraph != nil {
		d.Add(report.Warning("another graph: " + r.OtherGraph.Reason()))
	}
	if r.Testing != nil {
		d.Add(r.Testing.paragraph())
	}
	if len(r.Results) > 0 {
		d.Add(r.accuracies(), append(r.metrics(), r.notes()...))
	}
	if r.evaluated {
		return d
	}
	if r.File != "" {
		of := ""
		if r.condensations() > 1 {
			of = fmt.Sprintf(" of seed %d", r.seed())
		}
		done := ""
		if len(r.Results) == 0 && r.Report == "" && r.Seconds.Total > 0 {
			done = fmt.Sprintf(" (condensed in %s s)", report.Significant(r.Seconds.Total, 2).Text)
		}
		d.Add(report.Paragraph(fmt.Sprintf("condensed graph%s: %s%s", of, r.File, done)))
	}
	if r.Report != "" {
		d.Add(report.Paragraph("report: " + r.Report))
	}
	return d
}

// addCondensation adds the sizes, the method, the seconds and the memory.
func (r *outcome) addCondensation(d *report.Document) {
	how := method(r.Config)
	if r.Choice != nil {
		how = r.Choice.String()
	}
	d.Add(r.sizes(), report.Notes{"method: " + how, r.budget()})
	if r.Seconds.Total > 0 {
		d.Add(r.seconds())
	}
	if r.PeakRSS > 0 {
		d.Add(report.Paragraph("peak memory: " + peakText(r.PeakRSS, r.Kept, r.Plan != nil)))
	}
	if r.Plan != nil {
		d.Add(r.Plan.paragraph())
	}
}

// condensations returns the number of condensations in the outcome.
func (r *outcome) condensations() int {
	if len(r.Results) == 0 || r.Over != overCondensations {
		return 1
	}
	return r.Results[0].Seeds
}

// sizes returns a table of the sizes of the original graph and the condensed graph, and their ratios.
func (r *outcome) sizes() *report.Table {
	edges := report.Integer(r.Condensed.Edges)
	features, classes := report.Integer(r.Features), report.Integer(r.Classes)
	t := &report.Table{Columns: report.Columns("graph", "nodes", "edges", "features", "classes", "training nodes")}
	t.Row(report.Word(r.Graph), report.Integer(r.Nodes), report.Integer(r.Edges), features, classes,
		report.Integer(r.Train))
	t.Row(report.Word("condensed"), report.Integer(r.Condensed.Nodes), edges, features, classes,
		report.Integer(r.Condensed.Nodes))
	t.Row(report.Word("ratio"), ratio(r.Condensed.Nodes, r.Nodes), report.Cell{}, report.Cell{}, report.Cell{},
		ratio(r.Condensed.Nodes, r.Train))
	return t
}

// ratio formats part/whole in percent.
func ratio(part, whole int) report.Cell {
	if whole == 0 {
		return report.Cell{}
	}
	share := float64(part) / float64(whole)
	return report.Cell{Text: digits.Percent(share), Values: []any{100 * share}}
}

// budget lists the condensed nodes of each class, in lines of at most 100 characters.
func (r *outcome) budget() string {
	line, room := "condensed nodes of each class:", 100
	for _, word := range report.PerClass(r.classNames, r.Condensed.Budget) {
		word = " " + word
		if at := strings.LastIndexByte(line, '\n'); len(line[at+1:])+len(word) > room {
			line, word, room = line+"\n", word[1:], 98 // later lines are indented by two spaces
		}
		line += word
	}
	return line
}

// seed returns the seed of the first condensation.
func (r *outcome) seed() uint64 {
	var config struct{ Seed uint64 }
	_ = json.Unmarshal(r.Config, &config) // it was marshalled by this program
	return config.Seed
}

// method describes, on one line, the method and the main parameters.
func method(config json.RawMessage) string {
	c, err := cgc.ConfigOf(&cgc.Condensed{Config: config})
	if err != nil { // for another package's method, list all parameters
		return otherMethod(config)
	}
	hops := "hops"
	if c.Hops == 1 {
		hops = "hop"
	}
	said := []string{c.Name()}
	for _, p := range []struct {
		parameter string
		shown     bool
		text      string
	}{
		{"hops", true, fmt.Sprintf("%s with %d %s", c.Propagation, c.Hops, hops)},
		{"partition", true, c.Partition + " partition"},
		{"augment", true, fmt.Sprintf("augmentation %g", c.Augment)},
		{"temperature", true, fmt.Sprintf("temperature %s", c.Temperature)},
		{"threshold", true, fmt.Sprintf("threshold %g", c.Threshold)},
		{"degree", c.Degree > 0, fmt.Sprintf("degree %g", c.Degree)},
		{"alpha", true, fmt.Sprintf("alpha %g", c.Alpha)},
	} {
		if p.shown && c.Variant.Reads(p.parameter) {
			said = append(said, p.text)
		}
	}
	return strings.Join(append(said, ofSetting(config)...), ", ")
}

// ofSetting names what a setting does to the graph.
func ofSetting(config json.RawMessage) (words []string) {
	var s condense.Setting
	_ = json.Unmarshal(config, &s) // config was written by a method
	for _, p := range []struct {
		set  bool
		word string
	}{
		{s.NormalizeFeatures, "normalized features"}, {s.Standardize, "standardized"}, {s.Inductive, "inductive"},
		{s.Causal, "causal"},
	} {
		if p.set {
			words = append(words, p.word)
		}
	}
	return words
}

// otherMethod names another package's method and its parameters that differ from the defaults, in the order of the
// file.
func otherMethod(config json.RawMessage) string {
	given, err := object.Parse(config)
	if err != nil {
		return "unknown"
	}
	name, words := "unknown", []string{}
	_ = json.Unmarshal(given.Map()["method"], &name) // config was written by a method
	var defaults object.Object
	if m, err := condense.New(name, nil); err == nil {
		defaults, _ = object.Of(m) // a method is a struct
	}
	usual := defaults.Map()
	own := given.Without("method", "nodes", "seed") // these are shown elsewhere
	for _, f := range own.Without("normalize_features", "standardize", "inductive", "causal") {
		if !bytes.Equal(f.Value, usual[f.Key]) {
			value := strings.Trim(string(f.Value), `"`)
			words = append(words, strings.TrimSpace(strings.ReplaceAll(f.Key, "_", " ")+" "+value))
		}
	}
	if len(words) == 0 {
		words = []string{"its defaults"}
	}
	return strings.Join(slices.Concat([]string{name}, words, ofSetting(config)), ", ")
}

// seconds returns a table of times with a column for each step.
func (r *outcome) seconds() *report.Table {
	over := ""
	if seeds := r.condensations(); seeds > 1 {
		over = fmt.Sprintf("mean of %d", seeds)
	}
	t := &report.Table{Columns: []report.Column{{Name: "seconds"}}}
	row := []report.Cell{report.Word(over)}
	all := condense.Step{Name: "condense (all but load)", Seconds: r.Seconds.Total}
	for _, part := range append(slices.Clip(r.Seconds.Steps), all) {
		if part.Seconds > 0 { // 0 means that the method has no such step
			t.Columns = append(t.Columns, report.Column{Name: part.Name})
			row = append(row, report.Decimal(part.Seconds, 3))
		}
	}
	t.Row(row)
	return t
}

// accuracies returns a table with a row for each model: its accuracy after training on the condensed graph and, if
// measured, on the full graph.
func (r *outcome) accuracies() *report.Table {
	whole := map[string]modelScore{}
	for _, a := range r.Whole {
		whole[a.Model] = a
	}
	several := r.Results[0].Seeds > 1
	t := &report.Table{Columns: []report.Column{
		{Name: "test accuracy, %", Key: "model"}, {Name: "trained on condensed", Parts: report.MeanParts},
	}}
	if several {
		t.Columns = append(t.Columns, report.Column{Name: "95% interval", Parts: report.IntervalParts})
	}
	t.Columns = append(t.Columns, report.Column{Name: "seconds"})
	if len(r.Whole) > 0 {
		t.Columns = append(t.Columns, report.Column{Name: "on the full graph", Parts: report.MeanParts},
			report.Column{Name: "seconds", Key: "seconds on the full graph"}, report.Column{Name: "ratio", Key: "ratio %"})
	}
	for _, a := range r.Results {
		row := []report.Cell{report.Word(a.Model), report.Mean(a.TestMean, a.TestStd, a.Seeds, 1)}
		if several {
			row = append(row, report.Interval(max(0, a.TestMean-a.TestCI95), min(100, a.TestMean+a.TestCI95), 1))
		}
		row = append(row, report.Significant(a.Seconds, 2))
		if w, is := whole[a.Model]; is && w.TestMean > 0 {
			row = append(row, report.Mean(w.TestMean, w.TestStd, w.Seeds, 1), report.Significant(w.Seconds, 2),
				report.Percent(100*a.TestMean/w.TestMean, 1))
		}
		t.Row(row)
	}
	return t
}

// metrics describes the predictions by more than their accuracy, where it may mislead.
func (r *outcome) metrics() (notes report.Notes) {
	for _, a := range r.Results {
		if text := findings.Metrics(a.Metrics, a.TestMean, r.Classes, r.classNames); text != "" {
			notes = append(notes, a.Model+": "+text)
		}
	}
	return notes
}

// notes explains the deviations and intervals. With one seed there are none to explain.
func (r *outcome) notes() (notes report.Notes) {
	var over []string
	seeds := r.Results[0].Seeds
	if seeds > 1 {
		how := " on this one condensed graph"
		if r.Over == overCondensations {
			how = ", each with its own training"
		}
		over = append(over, fmt.Sprintf("over %d %s%s", seeds, r.Over, how))
	}
	if len(r.Whole) > 0 && r.Whole[0].Seeds > 1 {
		over = append(over, fmt.Sprintf("on the full graph, over %d %s", r.Whole[0].Seeds, overTrainings))
	}
	if over != nil {
		notes = append(notes, "±: standard deviation "+strings.Join(over, "; "))
	}
	if seeds > 1 {
		notes = append(notes, "95% interval: of the mean, by Student's t")
	}
	return notes
}

// peakText formats the peak memory of the process and, if it is much smaller or limited, the part without pages of
// mapped files, among them the program. Such pages count as resident, but the system can drop them.
func peakText(peak, held int64, limited bool) string {
	const little = 128 << 20
	if held <= 0 || peak-held < little && !limited {
		return report.Bytes(peak)
	}
	return fmt.Sprintf("%s, of which %s was kept and the rest was pages of mapped files", report.Bytes(peak),
		report.Bytes(held))
}

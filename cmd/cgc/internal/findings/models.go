package findings

import (
	"fmt"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment/search"
	"github.com/graph-condensation/cgc/graph"
)

// Models is the result of a search for a GNN and its training (cgc search). Its JSON keys are a contract
// (docs/reference/json.md).
type Models struct {
	Graph graph.Identity `json:"graph"`
	// Method is the method that made the condensed graph. Condensed is the number of condensed nodes, and CondenseSeconds
	// is the time of the condensation.
	Method          string  `json:"method"`
	Condensed       int     `json:"condensed"`
	CondenseSeconds float64 `json:"condense_seconds"`
	// Space is the number of candidates in the search space.
	Space int `json:"space"`
	search.Result
	// Agreement compares candidates on both graphs; absent without --compare. Regret is the best compared candidate's lead
	// over the choice, in points of validation and test accuracy. Random is the expected result of a random search on the
	// full graph in the same time, among the compared candidates.
	Agreement *search.Agreement `json:"agreement,omitempty"`
	Regret    *Regret           `json:"regret,omitempty"`
	Random    *RandomSearch     `json:"random,omitempty"`
}

// Regret is the difference between the best compared candidate and the choice, in points.
type Regret struct {
	Val  float64 `json:"val"`
	Test float64 `json:"test"`
}

// RandomSearch is the expected outcome of a random search on the full graph.
type RandomSearch struct {
	Candidates int     `json:"candidates"`
	Val        float64 `json:"val"`
	Test       float64 `json:"test"`
}

// trusted is the rank correlation below which a search on the condensed graph says little about the full graph.
const trusted = 0.5

// Document shows the choice, the finalists and, if candidates were compared, how far the condensed graph can be
// trusted.
func (r Models) Document() *report.Document {
	d := &report.Document{Title: "search on " + r.Graph.Name}
	d.Add(report.Paragraph("best: " + describeCandidate(r.Best)))
	t := &report.Table{Columns: report.Columns("model", "hidden", "dropout", "input dropout", "lr", "weight decay",
		"weighted", "epochs", "val, condensed", "val, full", "test, full", "s")}
	row := func(trial search.Trial, rest ...report.Cell) {
		c := trial.Training
		t.Row(trial.Model, c.Hidden, report.Full(c.Dropout), report.Full(c.InputDropout), report.Full(c.LearningRate),
			report.Full(c.WeightDecay), map[bool]string{true: "yes", false: "no"}[c.Weighted], trial.Epochs,
			report.Decimal(trial.Val, 1), rest)
	}
	for _, f := range r.Finalists {
		if f.Seconds == 0 {
			row(f.Trial, report.Word("diverged"), report.Missing(), report.Missing())
			continue
		}
		row(f.Trial, report.Decimal(f.WholeVal, 1), report.Decimal(f.WholeTest, 1), report.Significant(f.Seconds, 2))
	}
	if len(r.Finalists) == 0 {
		for _, trial := range r.Trials[:min(5, len(r.Trials))] {
			row(trial, report.Missing(), report.Missing(), report.Missing())
		}
	}
	d.Add(t)
	d.Add(report.Notes{fmt.Sprintf("%s of %s candidates in %s s on %d condensed nodes, after %s s of condensing",
		report.Count(len(r.Trials)), report.Count(r.Space), report.Significant(r.Seconds, 2).Text, r.Condensed,
		report.Significant(r.CondenseSeconds, 2).Text)})
	if len(r.Finalists) > 0 {
		best := r.Finalists[0]
		if text := Metrics(best.Metrics, best.WholeTest, r.Graph.Classes, nil); text != "" {
			d.Add(report.Notes{"best on test nodes: " + text})
		}
	}
	if a := r.Agreement; a != nil {
		two := func(v float64) string { return report.Decimal(v, 2).Text }
		notes := report.Notes{fmt.Sprintf("rank correlation over %d candidates: Spearman %s (95%% %s to %s), "+
			"Kendall %s (%s to %s)", len(a.Compared), two(a.Spearman.Value), two(a.Spearman.Low), two(a.Spearman.High),
			two(a.Kendall.Value), two(a.Kendall.Low), two(a.Kendall.High))}
		if r.Regret != nil {
			notes = append(notes, fmt.Sprintf("the best of them on the full graph, minus the choice: %s points on "+
				"validation nodes and %s on test nodes", signed(r.Regret.Val), signed(r.Regret.Test)))
		}
		when, drawn := "in the same time", report.Plural(r.Random.Candidates, "candidate")
		if r.Random.Candidates == len(a.Compared) { // there may be time for more
			when, drawn = "in the same time or less", "all "+drawn
		}
		notes = append(notes, fmt.Sprintf("%s, random search on the full graph trains %s and reaches "+
			"%.1f%% on validation nodes and %.1f%% on test nodes", when, drawn, r.Random.Val, r.Random.Test))
		d.Add(notes)
		if a.Spearman.Low < trusted {
			d.Add(report.Warning(fmt.Sprintf("the rank correlation may be below %g, too low to trust: a larger condensed graph "+
				"may rank better (--nodes %d)", trusted, 2*r.Condensed)))
		}
	}
	return d
}

// describeCandidate returns the flags with which other commands train a candidate.
func describeCandidate(c search.Candidate) string {
	t := c.Training
	text := fmt.Sprintf("--models %s --hidden %d --dropout %g --lr %g --weight-decay %g --epochs %d", c.Model, t.Hidden,
		t.Dropout, t.LearningRate, t.WeightDecay, t.Epochs)
	if t.InputDropout > 0 {
		text += fmt.Sprintf(" --input-dropout %g", t.InputDropout)
	}
	if !t.Weighted {
		text += " --weighted=false"
	}
	return text
}

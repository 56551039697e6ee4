package paper

import (
	"cmp"
	"encoding/json"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
)

// Result is the outcome of a study. Its JSON keys are a contract (docs/reference/json.md).
type Result struct {
	// Study is the name of the table or figure, and Title describes it. Source and DOI identify the paper.
	Study  string `json:"study"`
	Title  string `json:"title"`
	Source string `json:"source"`
	DOI    string `json:"doi"`
	// Settings says whose parameters were used: "paper", "ours" or "authors".
	Settings string `json:"settings"`
	// NormalizeFeatures reports whether features were row-normalised first.
	NormalizeFeatures bool `json:"normalize_features,omitempty"`
	// Seeds is the number of condensations of each arm. Their seeds are Seed, Seed+1, ….
	Seeds int    `json:"seeds"`
	Seed  uint64 `json:"seed"`
	// Trials is the number of candidates of each cell's search; absent without a search.
	Trials int `json:"trials,omitempty"`
	// Training is the configuration of the training runs. A search changes the dropout of a cell.
	Training gnn.Config `json:"training"`
	Graphs   []Graph    `json:"graphs"`
	// LeftOut lists the graphs that were left out, with reasons.
	LeftOut []string `json:"left_out,omitempty"`
	// Cells holds accuracies, in the order of graphs, sizes, arms and models. The average over several models has the
	// model AVG.
	Cells []Cell `json:"cells,omitempty"`
	// Times holds seconds of condensation, in the order of graphs and arms.
	Times []Time `json:"times,omitempty"`
}

// about returns the study of r, or an empty study if it is not in Studies.
func (r *Result) about() *Study {
	s, _ := found(Studies(), func(s *Study) bool { return s.Name == r.Study })
	return cmp.Or(s, new(Study))
}

// Cell is the accuracy of a model on one graph, at one size.
type Cell struct {
	Graph string `json:"graph"`
	// Ratio is r as printed in the paper; empty for the full graph, and for graphs that are not in the paper. Nodes is the
	// number of condensed nodes.
	Ratio string `json:"ratio,omitempty"`
	Nodes int    `json:"nodes"`
	// Part is the swept parameter in a study that sweeps several parameters; otherwise empty.
	Part string `json:"part,omitempty"`
	// Arm is the paper's name for the configuration: "CGC-X w/o AUG". "Whole" means training on the full graph.
	Arm string `json:"arm"`
	// X is the value of the swept parameter.
	X     float64 `json:"x"`
	Model string  `json:"model"`
	Seeds int     `json:"seeds"`
	// Config is the configuration of the first seed; absent for the full graph.
	Config json.RawMessage `json:"config,omitempty"`
	// Test and Val are accuracies in percent, over condensation seeds or, on the full graph, over training runs.
	Test experiment.Estimate `json:"test"`
	Val  experiment.Estimate `json:"val"`
	// Best is the highest test accuracy of a seed, which some papers report. It is not an estimate of the expected
	// accuracy.
	Best float64 `json:"best,omitempty"`
	// Found is the result of the search; absent without a search.
	Found *Found `json:"search,omitempty"`
	// Edges is the mean number of edges of the condensed graph.
	Edges float64 `json:"edges"`
	// Condense and Train are mean seconds. They are upper bounds, because other work ran at the same time.
	Condense float64 `json:"condense_seconds"`
	Train    float64 `json:"train_seconds"`
	// Paper is the paper's number; absent if the paper has none. Comparable reports whether Test can be compared with it.
	Paper      *Value `json:"paper,omitempty"`
	Comparable bool   `json:"comparable"`
}

// Time holds the seconds of condensation on one graph: medians over the seeds.
type Time struct {
	Graph   string           `json:"graph"`
	Ratio   string           `json:"ratio,omitempty"`
	Nodes   int              `json:"nodes"`
	Arm     string           `json:"arm"`
	Runs    int              `json:"runs"`
	Seconds condense.Seconds `json:"seconds"`
	// Paper is the paper's time in seconds, on another machine; absent if the paper has none.
	Paper *Value `json:"paper,omitempty"`
}

// graph returns the graph with the given name.
func (r *Result) graph(name string) Graph {
	g, _ := found(r.Graphs, func(g Graph) bool { return g.Name == name })
	return g
}

// Lines returns all numbers of r in one table, for report.CSV: a row for each cell, then a row for each time. Missing
// values are blank. The keys of the columns are a contract (docs/reference/json.md).
func (r *Result) Lines() *report.Document {
	t := &report.Table{Columns: report.Columns(
		"study", "settings", "graph", "made", "comparable", "ratio", "nodes", "part", "arm", "x", "model", "seeds",
		"test_mean", "test_std", "test_ci95", "val_mean", "val_std", "propagate_s", "assess_s", "augment_s",
		"partition_s", "generate_s", "condense_s", "train_s", "unit", "paper_mean", "paper_std", "paper_text",
	)}
	for _, c := range r.Cells {
		g := r.graph(c.Graph)
		mean, std, text := c.Paper.full()
		t.Full(r.Study, r.Settings, c.Graph, g.Made, g.Comparable, c.Ratio, c.Nodes, c.Part, c.Arm, c.X, c.Model, c.Seeds,
			c.Test.Mean, c.Test.Std, c.Test.CI95, c.Val.Mean, c.Val.Std, nil, nil, nil, nil, nil, c.Condense, c.Train,
			"%", mean, std, text)
	}
	for _, v := range r.Times {
		g, s := r.graph(v.Graph), v.Seconds
		mean, std, text := v.Paper.full()
		t.Full(r.Study, r.Settings, v.Graph, g.Made, g.Comparable, v.Ratio, v.Nodes, nil, v.Arm, nil, nil, v.Runs,
			nil, nil, nil, nil, nil, s.Of("propagate"), s.Of("assess"), s.Of("augment"), s.Of("partition"),
			s.Of("generate"), s.Total, nil,
			"s", mean, std, text)
	}
	return &report.Document{Title: r.Study + ": " + r.Title, Blocks: []report.Block{t}}
}

// full returns the mean, the deviation and the text of a printed number; missing parts are nil.
func (v *Value) full() (mean, std, text any) {
	switch {
	case v == nil:
		return nil, nil, nil
	case v.OutOfMemory:
		return nil, nil, v.Text
	}
	return v.Mean, v.Std, v.Text
}

package paper

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
)

// Result is what a study found. Its JSON keys are a contract (docs/formats.md).
type Result struct {
	// Study is the name of the table or figure, Title what it shows; Source and DOI are the paper.
	Study  string `json:"study"`
	Title  string `json:"title"`
	Source string `json:"source"`
	DOI    string `json:"doi"`
	// Settings is "paper" or "ours": whose parameters were taken.
	Settings string `json:"settings"`
	// Seeds is the number of condensations of each arm, from Seed on.
	Seeds int    `json:"seeds"`
	Seed  uint64 `json:"seed"`
	// Training says how models were trained.
	Training gnn.Config `json:"training"`
	Graphs   []Graph    `json:"graphs"`
	// LeftOut says what was left out, and why.
	LeftOut []string `json:"left_out,omitempty"`
	// Cells holds accuracies, in the order of graphs, sizes, arms and models; those of models are followed by their average, AVG.
	Cells []Cell `json:"cells,omitempty"`
	// Times holds seconds of condensation, in the order of graphs and arms.
	Times []Time `json:"times,omitempty"`

	study *Study
}

// Cell is the accuracy of a model on one graph, at one size.
type Cell struct {
	Graph string `json:"graph"`
	// Ratio is r as the paper prints it; empty for graphs that are not in it. Nodes is N′.
	Ratio string `json:"ratio,omitempty"`
	Nodes int    `json:"nodes"`
	// Part is the parameter of a figure over several; else empty.
	Part string `json:"part,omitempty"`
	// Arm is what the paper calls it: "CGC-X w/o AUG". "Whole" was trained on the whole graph.
	Arm string `json:"arm"`
	// X is the value of the parameter of a figure over one.
	X     float64 `json:"x"`
	Model string  `json:"model"`
	Seeds int     `json:"seeds"`
	// Config is that of the first seed; absent of the whole graph.
	Config *cgc.Config `json:"config,omitempty"`
	// Test and Val are accuracies in percent, over condensation seeds (over trainings, of the whole graph).
	Test experiment.Estimate `json:"test"`
	Val  experiment.Estimate `json:"val"`
	// Edges is the mean number of edges of the condensed graph.
	Edges float64 `json:"edges"`
	// Condense and Train are mean seconds, of work side by side with other work.
	Condense float64 `json:"condense_seconds"`
	Train    float64 `json:"train_seconds"`
	// Paper is the paper's number, absent where it has none. Comparable says whether Test can be put beside it.
	Paper      *Value `json:"paper,omitempty"`
	Comparable bool   `json:"comparable"`
}

// Time is the seconds of condensation on one graph: medians over the seeds.
type Time struct {
	Graph   string      `json:"graph"`
	Ratio   string      `json:"ratio,omitempty"`
	Nodes   int         `json:"nodes"`
	Arm     string      `json:"arm"`
	Runs    int         `json:"runs"`
	Seconds cgc.Seconds `json:"seconds"`
	// Paper is the paper's seconds, on another machine; absent where it has none.
	Paper *Value `json:"paper,omitempty"`
}

// graph returns the graph of that name.
func (r *Result) graph(name string) Graph {
	for _, g := range r.Graphs {
		if g.Name == name {
			return g
		}
	}
	return Graph{}
}

// CSV writes the cells, then the times, one a line under one header: study, graph, made, comparable, ratio, nodes, part, arm, x, model, seeds, the accuracies in percent (test, val), seconds of the steps and
// the paper's number. What a line does not have is empty.
func (r *Result) CSV(w io.Writer) error {
	lines := [][]string{{"study", "settings", "graph", "made", "comparable", "ratio", "nodes", "part", "arm", "x", "model", "seeds", "test_mean", "test_std", "test_ci95", "val_mean", "val_std",
		"propagate_s", "assess_s", "augment_s", "partition_s", "generate_s", "condense_s", "train_s", "unit", "paper_mean", "paper_std", "paper_text"}}
	f := func(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
	paper := func(unit string, v *Value) []string {
		switch {
		case v == nil:
			return []string{unit, "", "", ""}
		case v.OutOfMemory:
			return []string{unit, "", "", v.Text}
		}
		return []string{unit, f(v.Mean), f(v.Std), v.Text}
	}
	head := func(graph, ratio string, nodes int) []string {
		g := r.graph(graph)
		return []string{r.Study, r.Settings, graph, strconv.FormatBool(g.Made), strconv.FormatBool(g.Comparable), ratio, strconv.Itoa(nodes)}
	}
	for _, c := range r.Cells {
		line := append(head(c.Graph, c.Ratio, c.Nodes), c.Part, c.Arm, f(c.X), c.Model, strconv.Itoa(c.Seeds), f(c.Test.Mean), f(c.Test.Std), f(c.Test.CI95), f(c.Val.Mean), f(c.Val.Std),
			"", "", "", "", "", f(c.Condense), f(c.Train))
		lines = append(lines, append(line, paper("%", c.Paper)...))
	}
	for _, t := range r.Times {
		s := t.Seconds
		line := append(head(t.Graph, t.Ratio, t.Nodes), "", t.Arm, "", "", strconv.Itoa(t.Runs), "", "", "", "", "",
			f(s.Propagate), f(s.Assess), f(s.Augment), f(s.Partition), f(s.Generate), f(s.Condense), "")
		lines = append(lines, append(line, paper("s", t.Paper)...))
	}
	c := csv.NewWriter(w)
	if err := c.WriteAll(lines); err != nil {
		return err
	}
	return c.Error()
}

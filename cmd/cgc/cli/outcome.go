package cli

import (
	"encoding/json"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
)

// outcome is the result of a run, a condensation or an evaluation. Its JSON keys are a contract
// (docs/reference/json.md).
type outcome struct {
	// evaluated reports whether an existing condensed graph was tested.
	evaluated bool
	// classNames holds the name of each class; nil means that classes are numbered.
	classNames []string
	// Graph is the name of the original graph.
	Graph string `json:"graph"`
	// Nodes, Edges (undirected), Features and Classes are the sizes of the original graph. Train is its number of
	// training nodes.
	Nodes    int `json:"nodes"`
	Edges    int `json:"edges"`
	Features int `json:"features"`
	Classes  int `json:"classes"`
	Train    int `json:"train"`
	// Without says what --without left out of the original graph; absent without the flag.
	Without *dataset.Omission `json:"without,omitempty"`
	// Condensed is the condensed graph of the first condensation seed.
	Condensed condensedSize `json:"condensed"`
	// Config is the configuration of the first condensation, in the form that --config reads. Each further condensation
	// uses the next seed.
	Config json.RawMessage `json:"config"`
	// Choice is what the method auto chose for the first condensation, and why; absent for other methods.
	Choice *auto.Account `json:"choice,omitempty"`
	// Seconds is the wall-clock time of each step, averaged over the condensations of a run. The first step, load, reads
	// the graph into memory and is not part of the total. The total is 0 if a file without seconds was read.
	Seconds condense.Seconds `json:"seconds"`
	// Warnings lists the problems that the method found in the graph, with remedies; absent if there are none.
	Warnings []string `json:"warnings,omitempty"`
	// PeakRSS is the largest resident set of the process in bytes; 0 if unknown.
	PeakRSS int64 `json:"peak_rss_bytes"`
	// Kept is the peak memory in bytes without pages of mapped files, which the system can drop; absent if unknown.
	Kept int64 `json:"kept_bytes,omitempty"`
	// Plan describes how features were propagated within a memory limit. Only cgc condense with one size has it.
	Plan *planned `json:"plan,omitempty"`
	// OtherGraph describes how the graph differs from the one that the condensed graph was made from; absent unless
	// --other-graph allowed a difference.
	OtherGraph *condense.Target `json:"other_graph,omitempty"`
	// Testing describes how models were tested on a graph that exceeds the memory limit; absent if the graph fits.
	Testing *tests `json:"testing,omitempty"`
	// Over says what the standard deviations of Results are over: condensation seeds or training seeds.
	Over string `json:"over,omitempty"`
	// Results has an entry for each model that was trained on condensed graphs; absent if none was.
	Results []modelScore `json:"results,omitempty"`
	// Whole has an entry for each model that was trained on the full graph; absent if none was.
	Whole []modelScore `json:"whole,omitempty"`
	// File is the path of the condensed graph, and Report is the path of the report page; absent if not written.
	File   string `json:"file,omitempty"`
	Report string `json:"report,omitempty"`
}

// What the standard deviations of an outcome are taken over.
const (
	// overCondensations: each seed makes a condensed graph and trains one model on it, so the deviation covers both.
	overCondensations = "condensation seeds"
	// overTrainings: each seed trains a model on the same graph, so the deviation covers only the training.
	overTrainings = "training seeds"
)

type condensedSize struct {
	Nodes int `json:"nodes"`
	// Edges is the number of undirected edges; 0 for methods without edges.
	Edges int `json:"edges"`
	// Budget is the number of condensed nodes of each class.
	Budget []int `json:"budget"`
}

// modelScore is the accuracy of one model on the original graph, in percent, over the seeds.
type modelScore struct {
	Model string `json:"model"`
	// Seeds is the number of seeds.
	Seeds int `json:"seeds"`
	// ValMean, ValStd, TestMean and TestStd are means and sample standard deviations (0 for one seed) of accuracies, in
	// percent, at the epoch with the best validation accuracy.
	ValMean  float64 `json:"val_mean"`
	ValStd   float64 `json:"val_std"`
	TestMean float64 `json:"test_mean"`
	TestStd  float64 `json:"test_std"`
	// TestCI95 is half the width of the 95% interval of the mean test accuracy, by Student's t; 0 for one seed.
	TestCI95 float64 `json:"test_ci95"`
	// Metrics has the means of balanced accuracy and macro-F1 and, for two classes, of the ROC AUC and the average
	// precision of the second class, in percent.
	Metrics gnn.Metrics `json:"metrics"`
	// Seconds is the mean time of one training run with its validations and its test.
	Seconds float64 `json:"seconds"`
}

// outcomeOf returns an outcome with the name and the sizes of g, what was left out of it, the memory that the process
// has used so far, and the file with the condensed graph.
func (c *command) outcomeOf(g *graph.Graph, file string) *outcome {
	return &outcome{
		Graph: g.Name, Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes, Without: c.omitted,
		Train: len(g.Split.Train), PeakRSS: peakRSS(), Kept: mostHeld.Load(), File: file,
	}
}

// add sets the size and the configuration of small, and the seconds of loading the graph and of condensing.
func (r *outcome) add(small *cgc.Condensed, load float64, took condense.Seconds) {
	r.Condensed = condensedSize{Nodes: small.Nodes(), Edges: small.Edges(), Budget: small.Budget}
	r.classNames = small.ClassNames
	r.Config, r.Warnings = small.Config, small.Warnings
	if account, err := auto.AccountOf(small); err == nil {
		account.Account = nil // the metadata of the chosen method is in the file
		r.Choice = &account
	}
	r.Seconds = condense.Seconds{Steps: append([]condense.Step{{Name: "load", Seconds: load}}, took.Steps...),
		Total: took.Total}
}

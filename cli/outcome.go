package cli

import (
	"encoding/json"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
)

// outcome is what a run, a condensation or an evaluation found. Its JSON keys are a contract (docs/formats.md).
type outcome struct {
	// Graph is the name of the original graph.
	Graph string `json:"graph"`
	// Nodes, Edges (undirected), Features and Classes are the sizes of the original graph. Train is its number of
	// training nodes.
	Nodes    int `json:"nodes"`
	Edges    int `json:"edges"`
	Features int `json:"features"`
	Classes  int `json:"classes"`
	Train    int `json:"train"`
	// Condensed is the condensed graph of the first condensation seed.
	Condensed condensedSize `json:"condensed"`
	// Config is the configuration of the first condensation. Condensation i has a seed that is i above its.
	Config json.RawMessage `json:"config"`
	// Seconds holds wall-clock seconds: the mean over the condensations of a run.
	// The first step is load, the time from the files to the graph in memory, which the total leaves out.
	Seconds condense.Seconds `json:"seconds"`
	// Warnings are what the method found to be wrong with the graph, and what helps; absent if it found nothing.
	Warnings []string `json:"warnings,omitempty"`
	// PeakRSS is the largest resident set of the process in bytes, 0 where it is not known.
	PeakRSS int64 `json:"peak_rss_bytes"`
	// Plan is how features were propagated within a bound on memory; absent if there was none.
	Plan *planned `json:"plan,omitempty"`
	// Testing is how models were tested on a graph larger than a bound on memory; absent if there was none.
	Testing *tests `json:"testing,omitempty"`
	// Over says what the seeds of Results are: overCondensations or overTrainings; absent where there are no results.
	Over string `json:"over,omitempty"`
	// Results has an entry for each model that was trained on the condensed graph; absent where none was.
	Results []modelScore `json:"results,omitempty"`
	// Whole has an entry for each model that was trained on the whole graph; absent where none was.
	Whole []modelScore `json:"whole,omitempty"`
	// File is the path of the condensed graph, as given; absent if none was written.
	File string `json:"file,omitempty"`
	// Report is the path of the page that shows all this, as given; absent if none was written.
	Report string `json:"report,omitempty"`
}

// What a standard deviation is over.
const (
	// overCondensations: each seed makes a condensed graph and trains one model on it. The deviation is over both.
	overCondensations = "condensation seeds"
	// overTrainings: each seed trains a model on one and the same graph. The deviation is over trainings alone.
	overTrainings = "training seeds"
)

// condensedSize is the size of the condensed graph.
type condensedSize struct {
	Nodes int `json:"nodes"`
	// Edges counts undirected edges; 0 for the methods that make none.
	Edges int `json:"edges"`
	// Budget is the number of condensed nodes of each class.
	Budget []int `json:"budget"`
}

// modelScore is the accuracy of one model on the original graph, in percent, over the seeds.
type modelScore struct {
	Model string `json:"model"`
	// Seeds is the number of condensation or training seeds, as outcome.Over says; in outcome.Whole, of trainings.
	Seeds int `json:"seeds"`
	// The mean and the sample standard deviation (0 for one seed) over the seeds. Both accuracies are those of the
	// epoch with the best validation accuracy.
	ValMean  float64 `json:"val_mean"`
	ValStd   float64 `json:"val_std"`
	TestMean float64 `json:"test_mean"`
	TestStd  float64 `json:"test_std"`
	// TestCI95 is half the width of the 95% interval of the mean test accuracy, by Student's t; 0 for one seed.
	TestCI95 float64 `json:"test_ci95"`
	// Seconds is the mean time of one training with its validations and its test.
	Seconds float64 `json:"seconds"`
}

// outcomeOf returns an outcome with the sizes of g alone.
func outcomeOf(g *graph.Graph) *outcome {
	return &outcome{
		Graph: g.Name, Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes,
		Train: len(g.Split.Train),
	}
}

// add takes the size and the configuration of small, and the seconds of loading the graph and of condensing.
func (r *outcome) add(small *cgc.Condensed, load float64, took condense.Seconds) {
	r.Condensed = condensedSize{Nodes: small.Nodes(), Edges: small.Edges(), Budget: small.Budget}
	r.Config, r.Warnings = small.Config, small.Warnings
	r.Seconds = condense.Seconds{Steps: append([]condense.Step{{Name: "load", Seconds: load}}, took.Steps...),
		Total: took.Total}
}

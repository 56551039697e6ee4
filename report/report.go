// Package report presents what a condensation and its evaluation found: as tables for a terminal, as one JSON object and as figures.
package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
)

// Report is the outcome of a run, a condensation or an evaluation. Its JSON keys are a contract: they are documented here and stay.
type Report struct {
	// Graph is the name of the original graph.
	Graph string `json:"graph"`
	// Nodes, Edges (undirected), Features and Classes are the sizes of the original graph, Train its number of training nodes.
	Nodes    int `json:"nodes"`
	Edges    int `json:"edges"`
	Features int `json:"features"`
	Classes  int `json:"classes"`
	Train    int `json:"train"`
	// Condensed is the condensed graph of the first condensation seed.
	Condensed Condensed `json:"condensed"`
	// Config is the configuration of the first condensation; that of seed i differs in its seed, which is i higher.
	Config cgc.Config `json:"config"`
	// Seconds holds wall-clock seconds: the mean over the condensations of a run.
	Seconds Seconds `json:"seconds"`
	// PeakRSS is the largest resident set of the process in bytes, 0 where it is not known.
	PeakRSS int64 `json:"peak_rss_bytes"`
	// Over says what the seeds of Results are: OverCondensations or OverTrainings; absent where there are no results.
	Over string `json:"over,omitempty"`
	// Results tells how models did that were trained on the condensed graph; absent where none was trained.
	Results []Accuracy `json:"results,omitempty"`
	// Whole tells how the same models did when trained on the whole graph; absent where none was.
	Whole []Accuracy `json:"whole,omitempty"`
	// File is the path of the condensed graph, as given; absent if none was written.
	File string `json:"file,omitempty"`
}

// What a standard deviation is over.
const (
	// OverCondensations: each seed makes a condensed graph and trains one model on it. The spread holds both kinds of chance.
	OverCondensations = "condensation seeds"
	// OverTrainings: each seed trains a model on one and the same graph. The spread leaves out the chance of condensation.
	OverTrainings = "training seeds"
)

// Condensed is what the report says of the condensed graph.
type Condensed struct {
	Nodes int `json:"nodes"`
	// Edges counts undirected edges; 0 for the methods that make none.
	Edges int `json:"edges"`
	// Budget is the number of condensed nodes of each class.
	Budget []int `json:"budget"`
}

// Seconds is the time of each part of the work.
type Seconds struct {
	// Load is the time from the files to the graph in memory.
	Load float64 `json:"load"`
	cgc.Seconds
}

// Accuracy is the accuracy of one model on the original graph, in percent, over the seeds.
type Accuracy struct {
	Model string `json:"model"`
	// Seeds is the number of what Report.Over says; of Report.Whole, the number of trainings.
	Seeds int `json:"seeds"`
	// The mean and the sample standard deviation (0 for one seed) over the seeds. Validation accuracy is that of the
	// epoch at which test accuracy was taken, the best one.
	ValMean  float64 `json:"val_mean"`
	ValStd   float64 `json:"val_std"`
	TestMean float64 `json:"test_mean"`
	TestStd  float64 `json:"test_std"`
	// TestCI95 is half the width of the 95% interval of the mean test accuracy, by Student's t; 0 for one seed, of which there is none.
	TestCI95 float64 `json:"test_ci95"`
	// Seconds is the mean time of one training with its validations and its test.
	Seconds float64 `json:"seconds"`
}

// Of returns a report with what is known of g before anything is done.
func Of(g *graph.Graph) *Report {
	return &Report{Graph: g.Name, Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes, Train: len(g.Split.Train)}
}

// Add puts in what small is and took, apart from the file.
func (r *Report) Add(small *cgc.Condensed) {
	r.Condensed = Condensed{Nodes: small.Nodes(), Edges: small.Edges(), Budget: small.Budget}
	r.Config = small.Config
	r.Seconds.Seconds = small.Seconds
}

// JSON writes value as one indented JSON object and a newline.
func JSON(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Package paper reproduces the tables and figures of the paper (Gao et al., WWW 2025), and compares the results with
// the published numbers.
//
// A Study is a table or a figure: the configurations that it compares, the models that it trains, the data sets and
// ratios. Job.Run measures a study on the available graphs with experiment.Grid, so that an interrupted run can resume.
// Result holds the outcome and the paper's numbers (published.json), and Result.Document presents them.
//
// Accuracies are compared with the paper's only if the graph is the same. A synthetic graph of the same size replaces a
// missing data set: its times are comparable with the paper's, but its accuracies are not.
package paper

import (
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/registry"
)

// Study describes a table or figure of the paper and its experiment.
type Study struct {
	// Name is the number of the table or figure, as in "table3".
	Name string
	// Also lists other names of the study. Several studies may share a name.
	Also []string
	// Title describes the study in a few words.
	Title string
	// Graphs lists the data sets of the study in the paper.
	Graphs []string
	// Beside permits additional methods (Job.Methods).
	Beside bool

	tables []string // the tables with the paper's numbers, looked up in this order
	others []string // the tables from which other methods are shown; nil means tables
	ratios bool     // all three ratios of each data set, not only the middle one
	whole  bool     // also train on the full graph
	models []gnn.Model
	timed  bool    // measure seconds of condensation
	data   bool    // only describe the graphs, condense nothing
	arms   []arm   // the configurations to compare
	sweeps []sweep // instead of arms, for a figure that varies parameters
	note   string  // how the study differs from the paper, or ""
	draw   func(*Result) []*report.Plot
}

// secondsSuffix is the suffix of the name of a table of seconds that the paper combines with accuracies.
const secondsSuffix = "-seconds"

var (
	five = []string{"cora", "citeseer", "arxiv", "flickr", "reddit"}
	six  = append(slices.Clone(five), "products")
)

// Studies returns the studies of the tables, then of the figures, by number.
func Studies() []*Study {
	gcn := []gnn.Model{gnn.GCN()}
	large := []string{"arxiv", "flickr", "reddit"}
	return []*Study{
		{
			Name: "table2", Beside: true, Also: []string{"table1", "simdm"}, Graphs: five,
			Title:  "simplified distribution matching: accuracy and seconds",
			tables: []string{"table2", "table6"}, others: []string{"table2", "table2" + secondsSuffix}, models: gcn,
			timed: true, arms: plain(simdm, cgcx),
		},
		{
			Name: "table3", Beside: true, Also: []string{"accuracy"}, Graphs: six, Title: "accuracy of a GCN at three ratios",
			tables: []string{"table3"}, models: gcn, ratios: true, whole: true, arms: plain(cgcx, full), draw: overNodes,
		},
		{
			Name: "table4", Beside: true, Also: []string{"time"}, Graphs: six, Title: "seconds of condensation, by step",
			tables: []string{"table4"}, timed: true, arms: plain(cgcx, full), draw: overMethods,
		},
		{
			Name: "table5", Beside: true, Also: []string{"table9", "models"}, Graphs: large,
			Title:  "six models on graphs of CGC",
			tables: []string{"table5", "table9"}, models: modelsOf("table5"), arms: byModel(full), draw: overWords,
		},
		{
			Name: "table6", Also: []string{"ablation"}, Graphs: five, Title: "what the parts of CGC-X contribute",
			tables: []string{"table6"}, models: gcn, draw: overWords,
			arms: append(plain(simdm), ablation(cgcx)...),
		},
		{
			Name: "table8", Also: []string{"data"}, Graphs: six, Title: "the data sets", data: true,
		},
		{
			Name: "table10", Beside: true, Also: []string{"graphless", "models"}, Graphs: large,
			Title:  "five models on graphs of CGC-X, which have no edges",
			tables: []string{"table10"}, models: modelsOf("table10"), arms: byModel(cgcx), draw: overWords,
		},
		{
			Name: "table11", Also: []string{"ablation"}, Graphs: five, Title: "what the parts of CGC contribute",
			tables: []string{"table11"}, models: gcn, arms: ablation(full), draw: overWords,
		},
		{
			Name: "table12", Also: []string{"propagation"}, Graphs: five, Title: "propagation by SGC, PPR and SAGE",
			tables: []string{"table12"}, models: gcn, arms: propagations(), draw: overWords,
		},
		{
			Name: "figure3", Beside: true, Also: []string{"tradeoff"}, Graphs: []string{"arxiv", "reddit"},
			Title:  "accuracy over seconds of condensation",
			tables: []string{"table3"}, others: []string{}, models: gcn, arms: plain(cgcx, full), draw: overSeconds,
			note: "Seconds are the mean of the condensations that were trained on. A method that chooses among iterates " +
				"spends some of them on validation. Other work may have run at the same time. The paper's seconds are in table 4.",
		},
		{
			Name: "figure4", Also: []string{"sensitivity"}, Graphs: []string{"cora", "flickr"},
			Title:  "accuracy over augmentation, temperature, threshold and alpha",
			models: gcn, sweeps: parameters(), draw: overParameters,
			note: fmt.Sprintf("T is swept from 0.3, not from 0.8 as in the paper: above 0.8, graphs such as cora have few "+
				"or no edges in A′. α is swept at the smallest T for which A′ has a mean degree of at most %g.", meanDegree),
		},
		{
			Name: "figure5", Also: []string{"depth"}, Graphs: []string{"arxiv", "reddit"},
			Title:  "accuracy over the depth of propagation, 0 to 5 hops",
			models: gcn, sweeps: []sweep{depth()}, draw: overParameters,
		},
	}
}

// modelsOf returns the models that have a column in a table of the paper.
func modelsOf(table string) []gnn.Model {
	return slices.DeleteFunc(gnn.All(), func(m gnn.Model) bool {
		return !slices.Contains(Published().Table(table).Columns, printedModel(m.Name()))
	})
}

// all returns the sweeps of the study, or its arms as one sweep without a name; none if it condenses nothing.
func (s *Study) all() []sweep {
	if s.arms != nil {
		return []sweep{{arms: s.arms}}
	}
	return s.sweeps
}

// Find returns the studies with the given names, without duplicates, in the order of Studies. A name may refer to
// several studies. The error is a *registry.Unknown, which lists the names of the studies.
func Find(words []string) ([]*Study, error) {
	var names []string
	called := map[string]bool{}
	var found []*Study
	for _, s := range Studies() {
		names = append(names, s.Name)
		for _, word := range append([]string{s.Name}, s.Also...) {
			called[word] = true
			if slices.Contains(words, word) && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	for _, word := range words {
		if !called[word] {
			return nil, &registry.Unknown{Kind: "table or figure", Name: word, Names: names}
		}
	}
	return found, nil
}

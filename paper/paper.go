// Package paper repeats the tables and figures of the paper (Gao et al., WWW 2025), next to the numbers that it printed.
//
// A Study is a table or a figure: the configurations that it compares, the models that it trains, the data sets and ratios. Job.Run measures one on the graphs at
// hand, through experiment.Grid, so that a run that was stopped goes on. Result holds what came of it beside the paper's numbers (published.json),
// and writes it as text, Markdown, CSV and figures.
//
// Accuracies are put beside the paper's only where the graph is the paper's. A made graph of a data set's size stands in for one that is not at hand: times on it can be
// compared, accuracies cannot.
package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/propagate"
)

// Study is a table or figure of the paper, and how it is measured.
type Study struct {
	// Name is its number, as in "table3".
	Name string
	// Also lists other words that call it.
	Also []string
	// Title says in a few words what it shows.
	Title string
	// Graphs lists the data sets that the paper shows in it.
	Graphs []string

	tables []string // of the paper's numbers, looked up in this order
	ratios bool     // all three ratios of each data set, not the middle one alone
	whole  bool     // also train on the whole graph
	models []gnn.Model
	timed  bool             // measure seconds of condensation
	arms   func(base) []arm // what is compared
	sweeps []sweep          // the same for figures over parameters, instead
	draw   func(*Result) []Picture
}

// arm is one of the configurations that a study compares.
type arm struct {
	name   string // as the paper writes it
	config cgc.Config
	row    string // Row.Method and the column of the paper's number; an empty column stands for the model's
	column string
	x      float64 // the value of the parameter, of a figure over one
}

// base makes the configuration of a method that a study changes.
type base func(cgc.Method) cgc.Config

// sweep is a figure over one parameter.
type sweep struct {
	name  string // of the file
	title string
	axis  string
	log   bool
	arms  func(base) []arm
}

var (
	five = []string{"cora", "citeseer", "arxiv", "flickr", "reddit"}
	six  = append(slices.Clone(five), "products")
)

// Studies lists the tables and figures, in the order of the paper.
func Studies() []*Study {
	gcn := []gnn.Model{gnn.GCN()}
	return []*Study{
		{Name: "table2", Also: []string{"table1", "simdm"}, Title: "simplified distribution matching: accuracy and seconds", Graphs: five,
			tables: []string{"table2", "table6"}, models: gcn, timed: true, arms: simplified},
		{Name: "table3", Also: []string{"accuracy"}, Title: "accuracy of a GCN at three ratios", Graphs: six,
			tables: []string{"table3"}, models: gcn, ratios: true, whole: true, arms: methods, draw: overNodes},
		{Name: "table4", Also: []string{"time"}, Title: "seconds of condensation, by step", Graphs: six,
			tables: []string{"table4"}, timed: true, arms: methods, draw: overMethods},
		{Name: "table5", Also: []string{"table9", "models"}, Title: "six models on graphs of CGC", Graphs: []string{"arxiv", "flickr", "reddit"},
			tables: []string{"table5", "table9"}, models: gnn.All(), arms: only(cgc.CGC), draw: overWords},
		{Name: "table6", Also: []string{"ablation"}, Title: "what the parts of CGC-X contribute", Graphs: five,
			tables: []string{"table6"}, models: gcn, arms: func(b base) []arm { return append([]arm{simdm(b)}, ablation(b, cgc.CGCX)...) }, draw: overWords},
		{Name: "table10", Also: []string{"graphless", "models"}, Title: "five models on graphs of CGC-X, which have no edges", Graphs: []string{"arxiv", "flickr", "reddit"},
			tables: []string{"table10"}, models: slices.DeleteFunc(gnn.All(), func(m gnn.Model) bool { return m.Name() == "gat" }), arms: only(cgc.CGCX), draw: overWords},
		{Name: "table11", Also: []string{"ablation"}, Title: "what the parts of CGC contribute", Graphs: five,
			tables: []string{"table11"}, models: gcn, arms: func(b base) []arm { return ablation(b, cgc.CGC) }, draw: overWords},
		{Name: "table12", Also: []string{"propagation"}, Title: "propagation by SGC, PPR and SAGE", Graphs: five,
			tables: []string{"table12"}, models: gcn, arms: propagations, draw: overWords},
		{Name: "figure4", Also: []string{"sensitivity"}, Title: "accuracy over augmentation, temperature, threshold and alpha", Graphs: []string{"cora", "flickr"},
			models: gcn, sweeps: parameters(), draw: overParameters},
		{Name: "figure5", Also: []string{"depth"}, Title: "accuracy over the depth of propagation, 0 to 5 hops", Graphs: []string{"arxiv", "reddit"},
			models: gcn, sweeps: []sweep{depth()}, draw: overParameters},
	}
}

// Find returns the studies that the words call, each once, in the order of Studies. A word may call several.
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
			return nil, fmt.Errorf("paper: no table or figure %q, want some of %s", word, strings.Join(names, ", "))
		}
	}
	return found, nil
}

// names of the methods in the paper.
var printed = map[cgc.Method]string{cgc.CGC: "CGC", cgc.CGCX: "CGC-X", cgc.SimDM: "SimDM"}

func plain(b base, method cgc.Method) arm {
	return arm{name: printed[method], config: b(method), column: printed[method]}
}

func simdm(b base) arm { return plain(b, cgc.SimDM) }

func methods(b base) []arm { return []arm{plain(b, cgc.CGCX), plain(b, cgc.CGC)} }

func simplified(b base) []arm { return []arm{simdm(b), plain(b, cgc.CGCX)} }

// only is one method, whose numbers stand in a row of the paper's table, a column for each model.
func only(method cgc.Method) func(base) []arm {
	return func(b base) []arm { return []arm{{name: printed[method], config: b(method), row: printed[method]}} }
}

// ablation leaves out or replaces one part at a time.
func ablation(b base, method cgc.Method) []arm {
	var arms []arm
	for _, part := range []struct {
		name   string
		change func(*cgc.Config)
	}{
		{" w/o AUG", func(c *cgc.Config) { c.Augment = 0 }},
		{" w/o CAL", func(c *cgc.Config) { c.Temperature = cgc.Infinite }},
		{" w K-means", func(c *cgc.Config) { c.Partition = cgc.KMeans }},
		{" w RAN", func(c *cgc.Config) { c.Partition = cgc.Random }},
		{"", func(*cgc.Config) {}},
	} {
		a := plain(b, method)
		a.name += part.name
		a.column = a.name
		part.change(&a.config)
		arms = append(arms, a)
	}
	return arms
}

func propagations(b base) []arm {
	var arms []arm
	for _, method := range []cgc.Method{cgc.CGCX, cgc.CGC} {
		for _, p := range propagate.Rules() {
			a := arm{name: printed[method] + " " + strings.ToUpper(string(p)), config: b(method), row: printed[method], column: strings.ToUpper(string(p))}
			a.config.Propagation = p
			arms = append(arms, a)
		}
	}
	return arms
}

// over changes one parameter of a method.
func over(method cgc.Method, symbol string, values []float64, set func(*cgc.Config, float64)) func(base) []arm {
	return func(b base) []arm {
		var arms []arm
		for _, v := range values {
			a := arm{name: fmt.Sprintf("%s %s=%g", printed[method], symbol, v), config: b(method), x: v}
			set(&a.config, v)
			arms = append(arms, a)
		}
		return arms
	}
}

// parameters is the sensitivity analysis: the sets that the paper searched (appendix E.3), and what lies beside them.
func parameters() []sweep {
	return []sweep{
		{"augment", "Augmentation", "augmentation p, a multiple of the training nodes", false,
			over(cgc.CGC, "p", []float64{0, 0.5, 1, 2, 3, 5}, func(c *cgc.Config, v float64) { c.Augment = v })},
		{"temperature", "Temperature", "temperature τ", true,
			over(cgc.CGC, "τ", []float64{0.01, 0.1, 0.3, 0.5, 0.8, 1, 10}, func(c *cgc.Config, v float64) { c.Temperature = cgc.Temperature(v) })},
		{"threshold", "Threshold, without a bound on the degree", "threshold T", false,
			over(cgc.CGC, "T", []float64{0.8, 0.85, 0.9, 0.95, 0.99}, func(c *cgc.Config, v float64) { c.Threshold, c.Degree = v, 0 })},
		{"alpha", "Weight of smoothness", "weight α", false,
			over(cgc.CGC, "α", []float64{0, 0.3, 0.5, 1, 2, 3}, func(c *cgc.Config, v float64) { c.Alpha = v })},
	}
}

func depth() sweep {
	return sweep{"", "CGC-X by depth of propagation", "hops K", false,
		over(cgc.CGCX, "K", []float64{0, 1, 2, 3, 4, 5}, func(c *cgc.Config, v float64) { c.Hops = int(v) })}
}

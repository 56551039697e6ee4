package paper

import (
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// notes returns notes that explain the numbers.
func (r *Result) notes() (notes report.Notes) {
	add := func(format string, values ...any) { notes = append(notes, fmt.Sprintf(format, values...)) }
	if len(r.Cells) > 0 {
		if r.Seeds > 1 {
			add("±: here, standard deviation over %d condensation seeds, each with its own training run; "+
				"in the paper, over training runs on one condensed graph.", r.Seeds)
		} else {
			add("One condensation seed: no ± can be given. The paper's ± is over training runs on one condensed graph.")
		}
	}
	if len(r.Times) > 0 {
		add("Seconds here are medians of %s, from the graph in memory. The paper's were taken on other machines: compare "+
			"orders of magnitude only.", report.Plural(r.Seeds, "condensation"))
	}
	r.searchNotes(add)
	switch {
	case r.about().data:
		add("Edges are undirected. The paper counts both directions of flickr and reddit. Sources differ in how they count " +
			"repeated edges and loops.")
	case r.Settings == "ours":
		add("Parameters: the defaults of cgc, the same for all graphs.")
	case r.Settings == "authors":
		add("Parameters: those that the authors' program sets for each number, of condensing and training. The text does " +
			"not print them, and some are outside its sets.")
	default:
		taken := Published().Settings.Taken
		add("Parameters: the paper's where it states them (SGC, K = 2, spectral partition). It searched the others for "+
			"each data set and does not report the values. Used here, from its ranges: p %g of the K·n embeddings, τ %s, "+
			"T %g, α %g.", taken.Augment/float64(cgc.Defaults().Hops), taken.Temperature, taken.Threshold, taken.Alpha)
		if r.Trials > 0 {
			add("These are what each search began with.")
		}
	}
	if r.NormalizeFeatures {
		add("The features of each node were divided by the sum of their absolute values first.")
	}
	if r.about().note != "" {
		add("%s", r.about().note)
	}
	if len(r.Cells) > 0 && r.Training.Weighted {
		add("The loss weights each condensed node by the number of its source nodes; in the paper, all weights are equal.")
	}
	r.graphNotes(add)
	r.numberNotes(add)
	for _, left := range r.LeftOut {
		add("Left out: %s.", left)
	}
	add("Paper: %s, doi %s.", r.Source, r.DOI)
	return notes
}

// graphNotes adds a note for each graph that is not the paper's.
func (r *Result) graphNotes(add func(string, ...any)) {
	for _, g := range r.Graphs {
		switch {
		case r.about().data && g.Why != "":
			add("%s: %s.", g.Name, g.Why)
		case g.Made:
			add("%s: %s, because the data set is not available. Its accuracies say nothing about the data set's; "+
				"times are those of the size.", g.Name, g.Why)
		case !g.Paper:
			add("%s: %s, so there is no number to compare with.", g.Name, g.Why)
		case !g.Comparable:
			also := ""
			if len(r.Times) > 0 && g.otherSize() {
				also = ", and seconds are of another size"
			}
			add("%s: %s. Accuracies are not comparable with the paper's%s.", g.Name, g.Why, also)
		}
	}
}

// numberNotes adds notes that list the graphs for which the paper has no numbers.
func (r *Result) numberNotes(add func(string, ...any)) {
	var none, some []string // graphs for which the paper has no number, and graphs for which it lacks some
	for _, g := range r.Graphs {
		has, all := false, true
		for _, c := range r.Cells {
			if c.Graph == g.Name {
				has, all = has || c.Paper != nil, all && c.Paper != nil
			}
		}
		switch {
		case !g.Paper || all:
		case has:
			some = append(some, g.Name)
		default:
			none = append(none, g.Name)
		}
	}
	if r.about().data {
		return
	}
	if len(r.about().tables) == 0 {
		add("The paper shows this as a figure and prints no numbers.")
	} else if len(none) > 0 {
		add("The paper has no numbers for %s in this table.", strings.Join(none, ", "))
	}
	if len(some) > 0 {
		add("%s marks numbers that the paper does not have (%s).", report.Missing().Text, strings.Join(some, ", "))
	}
}

package paper

import (
	"math"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
)

// settings returns the base configuration of a study at a size: the paper's or, if Ours is set, cgc.Defaults.
//
// Parameters that the paper states keep its values: SGC with K = 2, spectral partition. Parameters that the paper
// searched on the validation split have the values of "taken" in published.json. The default maximum of the mean degree
// of A′ is kept, because it raises T only within the range that the paper searched.
func (j Job) settings(inductive bool, s size) cgc.Config {
	c := cgc.Defaults()
	c.Nodes, c.Seed = s.nodes, j.Seed
	c.Inductive, c.NormalizeFeatures = inductive, j.NormalizeFeatures
	if !j.Ours {
		taken := Published().Settings.Taken
		c.Partition = "spectral"
		c.Augment, c.Temperature, c.Threshold, c.Alpha = taken.Augment, taken.Temperature, taken.Threshold, taken.Alpha
	}
	return c
}

// authors sets the parameters of an arm and of its training to the values in the authors' program. It returns false if
// the program sets none for this graph, size and method, or if the arm is not a plain method of the paper.
func (a *arm) authors(graph string) bool {
	for _, c := range Published().Settings.Program.Cells {
		if a.rival != nil || a.change != nil || c.Graph != graph || c.Ratio != a.size.ratio || c.Method != a.of.name {
			continue
		}
		a.config.Augment, a.config.Temperature = c.Augment, c.Temperature
		if a.config.Variant.Edges() {
			a.config.Threshold, a.config.Alpha, a.config.Degree = c.Threshold, c.Alpha, 0
		}
		t := &a.training
		t.Dropout, t.Epochs, t.LearningRate, t.WeightDecay = c.Dropout, c.Epochs, c.LearningRate, c.WeightDecay
		return true
	}
	return false
}

// size is a number of condensed nodes with its ratio in the paper. The ratio is empty for graphs that are not in the
// paper.
type size struct {
	ratio string
	nodes int
}

// sizes returns the sizes for a graph: the middle one or, if all is set, all three in strictly ascending order. For the
// paper's data sets, the size is the printed fraction of the training nodes, rounded down: 454 for arxiv and 153 for
// reddit, as in earlier papers. For other graphs, the sizes are 5, 10 and 20 nodes per class. Each is at least the
// number of classes and at most the number of training nodes.
func sizes(name string, g *graph.Graph, all bool) (list []size) {
	train, classes := len(g.Split.Train), g.TrainClasses()
	add := func(ratio string, nodes int) {
		nodes = min(max(nodes, classes), train)
		if n := len(list); n == 0 || list[n-1].nodes < nodes {
			list = append(list, size{ratio, nodes})
		}
	}
	if of, is := Published().SizesOf(name); is {
		for i, ratio := range of.Ratios {
			if all || ratio == of.Middle {
				add(ratio, condensedNodes(of.OfTrain[i], train))
			}
		}
		return list
	}
	for _, each := range []int{5, 10, 20} {
		if all || each == 10 {
			add("", each*classes)
		}
	}
	return list
}

// condensedNodes returns the number of condensed nodes for a printed share of the training nodes.
func condensedNodes(ofTrain string, train int) int {
	return int(math.Floor(share(ofTrain)*float64(train) + 1e-9))
}

// share parses a percentage from published.json.
func share(text string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil {
		panic("paper: published.json: " + err.Error())
	}
	return v / 100
}

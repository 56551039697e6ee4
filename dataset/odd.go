package dataset

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/scales"
)

// Oddity is an unusual property of a graph.
type Oddity struct {
	// Key is the kind of property: isolated, unlabelled, unreached, few_train, few_val, few_test, empty_class,
	// untrained_class, tiny_class, majority, constant_features, telling_features, scales, magnitude, zero_rows, copies,
	// contradictions, heterophily.
	Key string `json:"key"`
	// Count is the number of nodes, classes or features concerned. Fact, Meaning (for condensing) and Help are one
	// sentence each.
	Count   int    `json:"count"`
	Fact    string `json:"fact"`
	Meaning string `json:"meaning"`
	Help    string `json:"help"`
}

// String returns Fact, Meaning and Help as three sentences.
func (o Oddity) String() string { return o.Fact + ". " + o.Meaning + ". " + o.Help + "." }

// Thresholds beyond which a property is unusual.
const (
	fewPerClass = 10   // training nodes for each class, on average
	tinyClass   = 5    // training nodes of a class
	fewJudges   = 100  // validation or test nodes: with 100, the standard error of an accuracy is at most 5 points
	noticeable  = 0.01 // share of nodes that is reported
	majority    = 0.7  // share of the test nodes
)

// add adds an oddity to f if odd is true.
func (f *Facts) add(odd bool, key string, count int, fact, meaning, help string) {
	if odd {
		f.Odd = append(f.Odd, Oddity{key, count, fact, meaning, help})
	}
}

// oddities lists the unusual properties in f.Odd. unreached is the number of nodes in components without a training
// node.
func (f *Facts) oddities(g *graph.Graph, x *features, unreached int) {
	f.Odd = []Oddity{}
	share := func(n, of int) bool { return float64(n) >= noticeable*float64(max(1, of)) && n > 0 }
	text := fmt.Sprintf

	alone := 0
	for _, v := range g.Split.Train {
		if g.Adj.Indptr[v+1] == g.Adj.Indptr[v] {
			alone++
		}
	}
	f.add(f.Isolated > 0, "isolated", f.Isolated,
		text("%s no edge, %d of them in the training split", have(f.Isolated, f.Nodes, "node"), alone),
		"Propagation gives such a node its own features and nothing else",
		"If it should have edges, check that the edges use the ids of the nodes. Otherwise nothing is wrong")
	bare := f.Unlabelled == f.Nodes
	f.add(bare, "unlabelled", f.Nodes, "No node has a label",
		"The graph can be predicted and propagated, but not condensed",
		"If it should have labels, check that their column or array has a name such as label")
	f.add(!bare && share(unreached, f.Nodes), "unreached", unreached,
		text("%d of %d nodes are in components without a training node (there are %d components with edges)",
			unreached, f.Nodes, f.Components),
		"No label reaches these nodes along edges, so a model has only their features",
		"If you can, label a node in each large component, or leave such components out of the test")
	f.add(f.Edges > 0 && f.Homophily-f.Chance < graph.Mixing*(1-f.Chance) && f.Classes > 1, "heterophily", f.Edges,
		text("%s of the edges join nodes of one class, and %s would by chance", digits.Percent(f.Homophily),
			digits.Percent(f.Chance)),
		"Propagation mixes the classes, and cgc condenses the mixed features",
		"Compare --hops 0 and --hops 1. If --hops 0 is as accurate, this graph is not worth condensing")

	if !bare {
		f.oddSplit()
		f.oddClasses()
	}

	f.add(x.constant > 0, "constant_features", x.constant,
		text("%s one value for all nodes, the first is %s", have(x.constant, f.Features, "feature"),
			scales.Column(x.first, g.FeatureNames)),
		"Such a feature does not distinguish nodes, and costs memory and time",
		"Remove it")
	if n := len(x.telling); n > 0 {
		f.add(true, "telling_features", n,
			text("%s the same value in all nodes of a class, and others in other classes; the first is %s",
				have(n, f.Features, "feature"), scales.Column(int(x.telling[0]), g.FeatureNames)),
			"It reveals the class, so accuracies mean nothing if it was made from the labels",
			"Remove it, unless it will be known for nodes without a label too")
	}
	f.add(x.ratio > scales.Most, "scales", 1,
		text("The largest is %s: %.6g times as large as the median feature", scales.Column(x.largest, g.FeatureNames),
			math.Round(x.ratio)),
		"Distances between nodes, and so the clusters, depend only on it",
		"--standardize gives all features one scale")
	size := scales.Magnitude(x.norm, f.Features)
	f.add(x.ratio <= scales.Most && size != "", "magnitude", f.Features,
		text("The features of a node have a norm of %.4g (root mean square)", x.norm),
		text("GNNs learn worse from features as %s as these, on the full graph too", size),
		"--standardize gives all features mean 0 and variance 1")
	zero, training := 0, 0
	for _, h := range x.hash {
		if h == 0 {
			zero++
		}
	}
	for _, v := range g.Split.Train {
		if x.hash[v] == 0 {
			training++
		}
	}
	f.add(zero > 0, "zero_rows", zero,
		text("%s only zero features, %d of them in the training split", have(zero, f.Nodes, "node"), training),
		"Only its neighbours distinguish such a node from others",
		"If it should have features, check the input. Otherwise nothing is wrong")
	copied, contrary := x.twins(g.Y, g.Split.Train, g.Split.Test)
	f.add(share(copied, f.Test), "copies", copied,
		text("%d of %d test nodes have exactly the features of a training node", copied, f.Test),
		"If these are duplicates, the test rewards memorising, and the accuracy on new nodes will be lower",
		"Remove duplicates, or keep them in the same part of the split")
	f.add(share(contrary, f.Nodes-f.Unlabelled), "contradictions", contrary,
		text("%d of %d labelled nodes have exactly the features of a node of another class", contrary, f.Nodes-f.Unlabelled),
		"Only edges can distinguish these nodes",
		"Check whether labels are wrong or features are missing")
}

// oddSplit lists unusual sizes of the split.
func (f *Facts) oddSplit() {
	f.add(f.Train < fewPerClass*f.Classes, "few_train", f.Train,
		fmt.Sprintf("%d training nodes for %d classes", f.Train, f.Classes),
		"There is little to condense, and accuracies vary a lot between seeds",
		"Label more nodes; the methods auto and cgc-d learn from unlabelled nodes too")
	for _, part := range []struct {
		key, part string
		nodes     int
		none      string
	}{
		{"few_val", "validation", f.Val, "Neither the best epoch nor the best parameters can be chosen"},
		{"few_test", "test", f.Test, "No accuracy can be measured"},
	} {
		meaning := part.none
		if part.nodes > 0 {
			meaning = fmt.Sprintf("An accuracy on them has a standard error of up to %.2g points",
				50/math.Sqrt(float64(part.nodes)))
		}
		f.add(part.nodes < fewJudges, part.key, part.nodes, fmt.Sprintf("%d %s nodes", part.nodes, part.part), meaning,
			fmt.Sprintf("Use at least %d labelled nodes for %s", fewJudges, part.part))
	}
}

// oddClasses lists unusual sizes of classes.
func (f *Facts) oddClasses() {
	var empty, untrained, tiny []int
	lost, largest := 0, 0
	for c, k := range f.PerClass {
		switch {
		case k.All == 0:
			empty = append(empty, c)
		case k.Train == 0:
			untrained, lost = append(untrained, c), lost+k.Test
		case k.Train < tinyClass:
			tiny = append(tiny, c)
		}
		if k.Test > f.PerClass[largest].Test {
			largest = c
		}
	}
	f.add(len(empty) > 0, "empty_class", len(empty),
		f.classes(empty)+" no node",
		"A model has an output for it that it never uses",
		"If it should have nodes, check the labels. Otherwise number the classes without gaps")
	f.add(len(untrained) > 0, "untrained_class", len(untrained),
		fmt.Sprintf("%s no training node, and %d test nodes", f.classes(untrained), lost),
		fmt.Sprintf("No model can learn it: at most %s of the test nodes can be right",
			digits.Percent(1-float64(lost)/float64(max(1, f.Test)))),
		"Add training nodes of this class, or remove its nodes from the graph")
	f.add(len(tiny) > 0, "tiny_class", len(tiny),
		fmt.Sprintf("%s fewer than %d training nodes", f.classes(tiny), tinyClass),
		"The condensed nodes of such a class are copies of single nodes, and its accuracy depends on chance",
		"Label more of its nodes, or merge it with a similar class")
	if f.Classes < 2 {
		return
	}
	most := f.PerClass[largest].Test
	f.add(float64(most) >= majority*float64(max(1, f.Test)), "majority", most,
		fmt.Sprintf("%d of %d test nodes are of class %s", most, f.Test, f.class(largest)),
		"A model that always predicts this class reaches that accuracy",
		"Compare accuracies with this share, and look at the balanced accuracy and macro-F1")
}

// classes returns "Class 1 has", "Classes 1 and 2 have" or "Class 1 and 3 other classes have", or nothing for no class.
func (f *Facts) classes(list []int) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return "Class " + f.class(list[0]) + " has"
	case 2:
		return fmt.Sprintf("Classes %s and %s have", f.class(list[0]), f.class(list[1]))
	}
	return fmt.Sprintf("Class %s and %d other classes have", f.class(list[0]), len(list)-1)
}

// class returns the name or the number of a class.
func (f *Facts) class(c int) string {
	if name := f.PerClass[c].Name; name != "" {
		return fmt.Sprintf("%.50q", name)
	}
	return fmt.Sprint(c)
}

// have returns "3 of 10 nodes have".
func have(n, of int, what string) string {
	verb := "have"
	if n == 1 {
		verb = "has"
	}
	return fmt.Sprintf("%d of %d %ss %s", n, of, what, verb)
}

package dataset

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/graph"
)

// Oddity is an unusual property of a graph.
type Oddity struct {
	// Key is the kind: isolated, unreached, few_train, few_val, few_test, empty_class, untrained_class,
	// tiny_class, majority, constant_features, scales, zero_rows, copies, contradictions, heterophily.
	Key string `json:"key"`
	// Count is the number of nodes, classes or features concerned. Fact, Meaning (for condensing) and Help are one
	// sentence each.
	Count   int    `json:"count"`
	Fact    string `json:"fact"`
	Meaning string `json:"meaning"`
	Help    string `json:"help"`
}

// String returns the three sentences.
func (o Oddity) String() string { return o.Fact + ". " + o.Meaning + ". " + o.Help + "." }

// Thresholds beyond which a property is unusual.
const (
	fewPerClass = 10   // training nodes for each class, on average
	tinyClass   = 5    // training nodes of a class
	fewJudges   = 100  // validation or test nodes: with 100, the standard error of an accuracy is at most 5 points
	mostScales  = 256  // the same as assess.MostScales
	noticeable  = 0.01 // share of nodes that is reported
	majority    = 0.8  // share of the test nodes
	mixing      = 0.2  // homophily beyond chance, as a share of the largest possible value
)

// oddities lists the unusual properties. unreached is the number of nodes in components without a training node.
func (f *Facts) oddities(g *graph.Graph, x *features, unreached int) []Oddity {
	odd := []Oddity{}
	add := func(is bool, key string, count int, fact, meaning, help string) {
		if is {
			odd = append(odd, Oddity{key, count, fact, meaning, help})
		}
	}
	share := func(n, of int) bool { return float64(n) >= noticeable*float64(max(1, of)) && n > 0 }
	text := fmt.Sprintf

	alone := 0
	for _, v := range g.Split.Train {
		if g.Adj.Indptr[v+1] == g.Adj.Indptr[v] {
			alone++
		}
	}
	add(f.Isolated > 0, "isolated", f.Isolated,
		text("%s no edge, %d of them in the training split", have(f.Isolated, f.Nodes, "node"), alone),
		"Propagation gives such a node its own features and nothing else",
		"If edges were lost, look how they name their nodes; if not, nothing is wrong")
	add(share(unreached, f.Nodes), "unreached", unreached,
		text("%d of %d nodes are in components without a training node (there are %d components with edges)",
			unreached, f.Nodes, f.Components),
		"No label reaches these nodes by edges: a model knows them by their features alone",
		"Label a node of each large component, or leave such components out of the test")
	add(f.Edges > 0 && f.Homophily-f.Chance < mixing*(1-f.Chance) && f.Classes > 1, "heterophily", f.Edges,
		text("%.3g%% of the edges join nodes of one class, and %.3g%% would by chance", 100*f.Homophily, 100*f.Chance),
		"Propagation mixes the classes, and condensing works on what it has mixed",
		"Compare --hops 0 and --hops 1: if features without hops do as well, condensing this graph is the wrong tool")

	odd = append(odd, f.oddSplit()...)
	odd = append(odd, f.oddClasses()...)

	add(x.constant > 0, "constant_features", x.constant,
		text("%s one value for all nodes, first feature %d", have(x.constant, f.Features, "feature"), x.first),
		"Such a feature tells nothing of a node, and costs memory and time",
		"Leave it out")
	add(x.scales > mostScales, "scales", 1,
		text("The largest feature is %.3g times the median one", x.scales),
		"Distances between nodes, and so the groups, depend on it alone",
		"--standardize gives all features one scale")
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
	add(zero > 0, "zero_rows", zero,
		text("%s no feature but zeros, %d of them in the training split", have(zero, f.Nodes, "node"), training),
		"Only its neighbours tell such a node from another",
		"If features were lost, add them; if not, nothing is wrong")
	copied, contrary := x.twins(g.Y, g.Split.Train, g.Split.Test)
	add(share(copied, f.Test), "copies", copied,
		text("%d of %d test nodes have exactly the features of a training node", copied, f.Test),
		"If they are the same things twice, the test measures memory, and accuracies on new nodes will be lower",
		"Drop nodes that are there twice, or put them into one part of the split")
	add(share(contrary, f.Nodes-f.Unlabelled), "contradictions", contrary,
		text("%d of %d labelled nodes have exactly the features of a node of another class", contrary, f.Nodes-f.Unlabelled),
		"Features cannot tell these nodes apart: only edges can",
		"Look whether labels are wrong or features are missing")
	return odd
}

// oddSplit lists unusual sizes of the split.
func (f *Facts) oddSplit() (odd []Oddity) {
	if f.Train < fewPerClass*f.Classes {
		odd = append(odd, Oddity{"few_train", f.Train,
			fmt.Sprintf("%d nodes train, for %d classes", f.Train, f.Classes),
			"A condensed graph can hardly be smaller, and accuracies differ much between seeds",
			"Label more nodes, or try --pseudo-labels, which adds nodes that a classifier is sure of"})
	}
	for _, part := range []struct {
		key, does string
		nodes     int
		none      string
	}{
		{"few_val", "validate", f.Val, "The best epoch and the best parameters cannot be chosen"},
		{"few_test", "test", f.Test, "No accuracy can be measured"},
	} {
		fact, meaning := fmt.Sprintf("%d nodes %s", part.nodes, part.does), part.none
		if part.nodes >= fewJudges {
			continue
		}
		if part.nodes > 0 {
			meaning = fmt.Sprintf("An accuracy on them has a standard error of up to %.2g points",
				50/math.Sqrt(float64(part.nodes)))
		}
		odd = append(odd, Oddity{part.key, part.nodes, fact, meaning,
			fmt.Sprintf("Let at least %d labelled nodes %s", fewJudges, part.does)})
	}
	return odd
}

// oddClasses lists unusual sizes of classes.
func (f *Facts) oddClasses() (odd []Oddity) {
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
	if len(empty) > 0 {
		odd = append(odd, Oddity{"empty_class", len(empty),
			f.classes(empty) + " no node",
			"A classifier keeps a place for it and never uses it",
			"If labels were lost, look at their file; if not, number the classes without gaps"})
	}
	if len(untrained) > 0 {
		odd = append(odd, Oddity{"untrained_class", len(untrained),
			fmt.Sprintf("%s no training node, and %d test nodes", f.classes(untrained), lost),
			fmt.Sprintf("No model can learn it: at most %.3g%% of the test nodes can be right",
				100*(1-float64(lost)/float64(max(1, f.Test)))),
			"Give it training nodes, or take its nodes out of the graph"})
	}
	if len(tiny) > 0 {
		odd = append(odd, Oddity{"tiny_class", len(tiny),
			fmt.Sprintf("%s fewer than %d training nodes", f.classes(tiny), tinyClass),
			"Its condensed nodes are copies of single nodes, and its accuracy is chance",
			"Label more of its nodes, or join it with a class like it"})
	}
	if n := f.PerClass; f.Classes > 1 && float64(n[largest].Test) >= majority*float64(max(1, f.Test)) {
		odd = append(odd, Oddity{"majority", n[largest].Test,
			fmt.Sprintf("%d of %d test nodes are of class %s", n[largest].Test, f.Test, f.class(largest)),
			"A model that always answers this class has that accuracy",
			"Compare accuracies with it"})
	}
	return odd
}

// classes returns "class red has", or "class red and 3 other classes have".
func (f *Facts) classes(list []int) string {
	switch len(list) {
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

package cgc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/propagate"
)

// Method says what the condensed graph consists of.
type Method string

const (
	// CGC is the whole method: {A′, X′}.
	CGC Method = "cgc"
	// CGCX is the graphless variant {I, H′}, which leaves generation out (§3.5).
	CGCX Method = "cgc-x"
	// SimDM is the paper's simplified distribution matching (§2.3): k-means, no augmentation, plain means, {I, H′}. It overrides
	// Partition, Partitions, Augment, PseudoLabels, SoftLabels and Temperature.
	SimDM Method = "simdm"
)

// Methods lists the methods, the default first.
var Methods = []Method{CGC, CGCX, SimDM}

// Partition says how the embeddings of a class are split into groups.
type Partition string

// The partitions; package partition describes them.
const (
	Spectral Partition = "spectral"
	KMeans   Partition = "kmeans"
	Random   Partition = "random"
)

// Partitions lists the partitions.
var Partitions = []Partition{KMeans, Spectral, Random}

// Edges says what A′ is made of.
type Edges string

const (
	// SimilarEdges join condensed nodes whose embeddings are similar (eq. 16).
	SimilarEdges Edges = "similarity"
	// RealEdges aggregate the edges between the nodes that condensed nodes stand for: generate.Aggregated. The paper has nothing of the kind.
	RealEdges Edges = "real"
)

// EdgeKinds lists what A′ can be made of, the default first.
var EdgeKinds = []Edges{SimilarEdges, RealEdges}

// Config holds every parameter of a condensation. Many of its zeros are legal choices (no hops, no augmentation), so there are no
// hidden defaults: start from Defaults and change what you mean.
type Config struct {
	// Method is one of Methods.
	Method Method `json:"method"`
	// Nodes is N′, the number of condensed nodes, from the number of classes with training nodes to the number of training nodes.
	// Exactly one of Nodes, Ratio and LabelRatio is above 0.
	Nodes int `json:"nodes,omitempty"`
	// Ratio is N′ as a share of all nodes, in (0, 1]; in the inductive setting, of the training nodes (§4.1).
	Ratio float64 `json:"ratio,omitempty"`
	// LabelRatio is N′ as a share of the training nodes, in (0, 1].
	LabelRatio float64 `json:"label_ratio,omitempty"`
	// Propagation is one of propagate.Rules().
	Propagation propagate.Rule `json:"propagation"`
	// Hops is K ≥ 0, for the original and the condensed graph alike.
	Hops int `json:"hops"`
	// Teleport is β of propagate.PPR, in (0, 1].
	Teleport float64 `json:"teleport"`
	// HopWeights are w_0 … w_K: the condensed nodes are made of Σ_l w_l·H⁽ˡ⁾ in place of H⁽ᴷ⁾, and Q of eq. 17 is Σ_l w_l·Â′ˡ. Numbers of at least 0, not all 0, which are divided by
	// their sum. None mean 0, …, 0, 1, as in the paper.
	HopWeights HopWeights `json:"hop_weights,omitempty"`
	// Augment is p: how many shallower embeddings are added, as a multiple ≥ 0 of the number of training nodes; 0 adds none.
	Augment float64 `json:"augment"`
	// PseudoLabels is how many nodes outside the training split join the embeddings that are condensed, as a multiple ≥ 0 of the number of training nodes; 0 adds none. They have the
	// classes that a linear classifier finds (assess.Ridge) and are those of which it is surest, of each class in proportion to its training nodes (augment.Confident); no label of theirs is
	// read. Rows of Condensed.Members then hold such nodes too. N′ stays bounded by the number of training nodes. Not for the inductive setting, which knows of no other nodes.
	PseudoLabels float64 `json:"pseudo_labels,omitempty"`
	// SoftLabels gives each condensed node a distribution over the classes, Condensed.Soft, for a GNN to learn in place of its class.
	SoftLabels bool `json:"soft_labels,omitempty"`
	// Partition is one of Partitions.
	Partition Partition `json:"partition"`
	// Partitions is how many times each class is partitioned, from 1 to 1000. The partition of the best objective and balance is kept: partition.Plan.
	Partitions int `json:"partitions"`
	// Temperature is τ > 0: within a group, embeddings are weighted by softmax(r/τ). Infinity weights them equally.
	Temperature Temperature `json:"temperature"`
	// Edges is one of EdgeKinds. CGC only.
	Edges Edges `json:"edges"`
	// Threshold is T: condensed nodes are joined where the cosine of their embeddings is above it, in [−1, 1]. CGC with SimilarEdges only.
	Threshold float64 `json:"threshold"`
	// Degree bounds the mean degree of A′: where Threshold would join more nodes, T is raised until the most similar are left that keep the bound. How similar embeddings are differs
	// so much between graphs that no threshold fits all. At least 0; 0 sets no bound. CGC only.
	Degree float64 `json:"degree"`
	// Alpha is α ≥ 0, the weight of the smoothness of X′ over A′. CGC only.
	Alpha float64 `json:"alpha"`
	// Standardize scales each feature to mean 0 and variance 1 over the training nodes before anything else.
	Standardize bool `json:"standardize"`
	// Inductive condenses the subgraph induced by the training nodes, as if the others were not there yet.
	Inductive bool `json:"inductive"`
	// Memory bounds, in bytes, what the graph and its propagation take together; 0 sets no bound. With a bound, features are propagated in
	// blocks of as many columns as fit, at least 16, with the same result. A graph larger than the bound is taken to be mapped from a file and not counted.
	Memory int64 `json:"memory,omitempty"`
	// Seed decides all random choices: the same seed, graph and configuration give the same bytes on the same kind of processor.
	Seed uint64 `json:"seed"`

	// Progress, if set, is called as each step begins, with the step's name as in Seconds.
	Progress func(step string) `json:"-"`
}

// Temperature is a τ that JSON can hold: infinity is written "inf".
type Temperature float64

// Infinite is the temperature of plain means.
var Infinite = Temperature(math.Inf(1))

// MarshalJSON writes t as a JSON number, or the string "inf".
func (t Temperature) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(t), 1) {
		return []byte(`"inf"`), nil
	}
	return []byte(t.String()), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Temperature) UnmarshalJSON(text []byte) error {
	s := string(text)
	if len(s) > 1 && s[0] == '"' {
		s = s[1 : len(s)-1]
	}
	return t.Set(s)
}

// Set reads a number above 0, or "inf": the command's flag.
func (t *Temperature) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) {
		return fmt.Errorf("temperature %q, want a number above 0 or inf", text)
	}
	*t = Temperature(v)
	return nil
}

// String writes t as Set reads it.
func (t Temperature) String() string {
	if math.IsInf(float64(t), 1) {
		return "inf"
	}
	return strconv.FormatFloat(float64(t), 'g', -1, 64)
}

// Type is the word for the value in the command's help.
func (t Temperature) Type() string { return "number|inf" }

// Defaults returns the configuration to start from; only the size is left to say.
func Defaults() Config {
	return Config{
		Method:      CGC,
		Propagation: propagate.SGC,
		// Two hops are the paper's choice for all graphs (appendix E.3), and the depth of the GNNs that train on the result.
		Hops: 2,
		// The teleport of the paper that proposed PPR for GNNs (Gasteiger et al. 2019, §5).
		Teleport: 0.1,
		// Shallower embeddings lower the validation accuracy on all of four graphs with few labels, by 0.7 to 1 points at 0.4 (docs/design/defaults.md).
		Augment: 0,
		// Spectral partition is as good on three of those and 1.7 points worse on the fourth, and costs more.
		Partition:   KMeans,
		Partitions:  1,
		Temperature: 1,
		Edges:       SimilarEdges,
		// Of the thresholds from 0.6 to 0.9, 0.85 has the best validation accuracy on Cora and Citeseer together.
		Threshold: 0.85,
		// On Amazon Photo, 0.85 alone joins most pairs and validation accuracy halves; with a mean degree of 1 the edges help.
		Degree: 1,
		Alpha:  1,
	}
}

// resolved returns the configuration that runs, with what SimDM fixes.
func (c Config) resolved() Config {
	if c.Method == SimDM {
		c.Partition, c.Partitions, c.Augment, c.Temperature = KMeans, 1, 0, Infinite
		c.PseudoLabels, c.SoftLabels = 0, false
	}
	return c
}

// Validate returns everything that is wrong with c in itself, joined, each with the field, the value and the bound; nil if nothing is.
// What depends on the graph, Condense checks.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("cgc: "+format, args...))
		}
	}
	check(slices.Contains(Methods, c.Method), "method %q, want one of %v", c.Method, Methods)
	check(slices.Contains(Partitions, c.Partition), "partition %q, want one of %v", c.Partition, Partitions)
	check(slices.Contains(propagate.Rules(), c.Propagation), "propagation %q, want one of %v", c.Propagation, propagate.Rules())
	sizes := 0
	for _, given := range []bool{c.Nodes != 0, c.Ratio != 0, c.LabelRatio != 0} {
		if given {
			sizes++
		}
	}
	check(sizes == 1, "%d of nodes, ratio and label ratio given, want exactly one", sizes)
	check(c.Nodes >= 0, "nodes %d, want at least 1", c.Nodes)
	check(c.Ratio >= 0 && c.Ratio <= 1, "ratio %v, want above 0 and at most 1", c.Ratio)
	check(c.LabelRatio >= 0 && c.LabelRatio <= 1, "label ratio %v, want above 0 and at most 1", c.LabelRatio)
	check(c.Hops >= 0, "hops %d, want at least 0", c.Hops)
	check(c.Propagation != propagate.PPR || c.Teleport > 0 && c.Teleport <= 1, "teleport %v, want above 0 and at most 1", c.Teleport)
	check(c.HopWeights.fit(c.Hops), "hop weights %s, want %d finite numbers (hops + 1) of at least 0, not all 0", c.HopWeights, c.Hops+1)
	check(c.Augment >= 0 && c.Augment <= 1000, "augment %v, want 0 to 1000", c.Augment)
	check(c.PseudoLabels >= 0 && c.PseudoLabels <= 1000, "pseudo labels %v, want 0 to 1000", c.PseudoLabels)
	check(c.PseudoLabels == 0 || !c.Inductive, "pseudo labels %v, want 0 in the inductive setting, where no node is without a label", c.PseudoLabels)
	check(c.Partitions >= 1 && c.Partitions <= 1000, "partitions %d, want 1 to 1000", c.Partitions)
	check(c.Temperature > 0, "temperature %v, want above 0 (inf for plain means)", c.Temperature)
	check(slices.Contains(EdgeKinds, c.Edges), "edges %q, want one of %v", c.Edges, EdgeKinds)
	check(c.Threshold >= -1 && c.Threshold <= 1, "threshold %v, want -1 to 1", c.Threshold)
	check(c.Degree >= 0 && !math.IsInf(c.Degree, 1), "degree %v, want finite and at least 0", c.Degree)
	check(c.Alpha >= 0 && !math.IsInf(c.Alpha, 1), "alpha %v, want finite and at least 0", c.Alpha)
	return errors.Join(errs...)
}

// Size returns N′ for g: Nodes, or what Ratio or LabelRatio comes to, rounded. The error says that g cannot give so many: fewer than its classes
// with training nodes, or more than its training nodes.
func (c Config) Size(g *graph.Graph) (int, error) {
	train := len(g.Split.Train)
	present := 0
	for _, n := range g.Counts(g.Split.Train) {
		if n > 0 {
			present++
		}
	}
	nodes, from := c.Nodes, "nodes"
	switch {
	case c.Ratio > 0 && c.Inductive:
		nodes, from = int(math.Round(c.Ratio*float64(train))), fmt.Sprintf("ratio %g of %d training nodes: nodes", c.Ratio, train)
	case c.Ratio > 0:
		nodes, from = int(math.Round(c.Ratio*float64(g.Nodes()))), fmt.Sprintf("ratio %g of %d nodes: nodes", c.Ratio, g.Nodes())
	case c.LabelRatio > 0:
		nodes, from = int(math.Round(c.LabelRatio*float64(train))), fmt.Sprintf("label ratio %g of %d training nodes: nodes", c.LabelRatio, train)
	}
	if nodes < present || nodes > train {
		return 0, fmt.Errorf("cgc: %s %d, want from %d (the classes with training nodes) to %d (the training nodes)", from, nodes, present, train)
	}
	return nodes, nil
}

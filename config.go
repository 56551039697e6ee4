package cgc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Variant is a method of the paper: what the condensed graph consists of.
type Variant string

const (
	// CGC is the whole method: {A′, X′}.
	CGC Variant = "cgc"
	// CGCX is the graphless variant {I, H′}, which leaves generation out (§3.5).
	CGCX Variant = "cgc-x"
	// SimDM is the paper's simplified distribution matching (§2.3): k-means, no augmentation, plain means, {I, H′}.
	SimDM Variant = "simdm"
)

// variants says what makes one variant differ from another. Nothing else branches on a variant.
var variants = []struct {
	variant Variant
	edges   bool          // it generates A′ and X′
	fix     func(*Config) // sets the parameters that the variant fixes
	fixed   []string      // the names of these parameters
}{
	{CGC, true, func(*Config) {}, nil},
	{CGCX, false, func(*Config) {}, nil},
	{
		SimDM, false,
		func(c *Config) {
			c.Partition, c.Partitions, c.Augment, c.Temperature = "kmeans", 1, 0, Infinite
			c.PseudoLabels, c.SoftLabels = 0, false
		},
		[]string{"partition", "partitions", "augment", "temperature", "pseudo_labels", "soft_labels"},
	},
}

// generated are the parameters of generation, which graphless variants do not read.
var generated = []string{"edges", "threshold", "degree", "alpha"}

// Variants returns the variants, the default first.
func Variants() []Variant {
	all := make([]Variant, len(variants))
	for i, v := range variants {
		all[i] = v.variant
	}
	return all
}

func (v Variant) known() bool { return slices.Contains(Variants(), v) }

// Edges says whether the variant generates A′; if not, A′ = I.
func (v Variant) Edges() bool {
	for _, known := range variants {
		if known.variant == v {
			return known.edges
		}
	}
	return false
}

// Reads says whether a parameter, named as in the JSON of Config, changes what the variant makes.
func (v Variant) Reads(parameter string) bool {
	for _, known := range variants {
		if known.variant == v && slices.Contains(known.fixed, parameter) {
			return false
		}
	}
	return v.Edges() || !slices.Contains(generated, parameter)
}

// Edges says what A′ is made of.
type Edges string

const (
	// SimilarEdges join condensed nodes whose embeddings are similar (eq. 16).
	SimilarEdges Edges = "similarity"
	// RealEdges aggregate the edges between the nodes that condensed nodes stand for (generate.Aggregated). The paper does
	// not have them.
	RealEdges Edges = "real"
)

// EdgeKinds returns what A′ can be made of, the default first.
func EdgeKinds() []Edges { return []Edges{SimilarEdges, RealEdges} }

// Config holds every parameter of a condensation. Many zeros are legal choices (no hops, no augmentation), so a
// zero never stands for a default. Start from Defaults and change what you mean.
type Config struct {
	// Variant is one of Variants.
	Variant Variant `json:"method"`
	// Size is N′, in one of three ways.
	condense.Size
	// Propagation is one of propagate.Rules.
	Propagation propagate.Rule `json:"propagation"`
	// Hops is K ≥ 0, for the original and the condensed graph alike.
	Hops int `json:"hops"`
	// Teleport is β of propagate.PPR, in (0, 1].
	Teleport float64 `json:"teleport"`
	// HopWeights are w_0 … w_K, each at least 0 and not all 0. They are divided by their sum. Σ_l w_l·H⁽ˡ⁾ then takes the
	// place of H⁽ᴷ⁾, and Q of eq. 17 is Σ_l w_l·Â′ˡ. No weights mean 0, …, 0, 1, as in the paper.
	HopWeights HopWeights `json:"hop_weights,omitempty"`
	// Augment is p ≥ 0: the number of shallower embeddings that are added, as a multiple of the number of training nodes.
	Augment float64 `json:"augment"`
	// PseudoLabels is how many nodes outside the training split join the embeddings, as a multiple ≥ 0 of the number of
	// training nodes. A ridge classifier gives them classes, and those of the widest margin are taken
	// (selftrain.Labeller.Pseudo). Their labels are not read. Rows of Condensed.Members then hold such nodes too. N′ is
	// still at most the number of training nodes. The inductive setting has no other nodes and wants 0.
	PseudoLabels float64 `json:"pseudo_labels,omitempty"`
	// SoftLabels gives each condensed node a distribution over the classes, Condensed.Soft. A GNN learns it instead of the
	// class.
	SoftLabels bool `json:"soft_labels,omitempty"`
	// Partition names what splits the embeddings of a class into groups: one of partition.Names. partition.Register adds
	// to them.
	Partition string `json:"partition"`
	// Partitions is how many times each class is partitioned, from 1 to 1000. The best one is kept (partition.Plan).
	Partitions int `json:"partitions"`
	// Temperature is τ > 0: embeddings in a group are weighted by softmax(r/τ). Infinity weights them equally.
	Temperature Temperature `json:"temperature"`
	// Edges is one of EdgeKinds. CGC only.
	Edges Edges `json:"edges"`
	// Threshold is T in [−1, 1]: condensed nodes are joined where the cosine of their embeddings is above it. CGC with
	// SimilarEdges only.
	Threshold float64 `json:"threshold"`
	// Degree bounds the mean degree of A′; 0 sets no bound. If Threshold gives more edges, T is raised to the smallest
	// similarity that keeps the bound. Graphs differ so much in similarity that no T fits all of them. CGC only.
	Degree float64 `json:"degree"`
	// Alpha is α ≥ 0, the weight of the smoothness of X′ over A′. CGC only.
	Alpha float64 `json:"alpha"`
	// NormalizeFeatures divides the features of each node by the sum of their absolute values, before anything else.
	NormalizeFeatures bool `json:"normalize_features,omitempty"`
	// Standardize scales each feature to mean 0 and variance 1 over the training nodes.
	Standardize bool `json:"standardize"`
	// Inductive condenses the subgraph induced by the training nodes, as if the others were not there yet.
	Inductive bool `json:"inductive"`
	// Memory is a bound in bytes on the graph and its propagation together; 0 sets no bound. With a bound, features are
	// propagated in blocks of as many columns as fit, at least 16. The result does not depend on it.
	Memory int64 `json:"memory,omitempty"`
	// Precision is one of blocked.Precisions: what propagation keeps numbers in between hops. blocked.Half is faster where
	// memory is the bound, and changes embeddings by about a thousandth. It is an error with an Engine of another
	// precision.
	Precision blocked.Precision `json:"precision,omitzero"`
	// Seed decides all random choices.
	Seed uint64 `json:"seed"`

	// Engine computes or fetches the embeddings; nil means package propagate/blocked. Files do not hold it.
	Engine propagate.Engine `json:"-"`
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
	v, err := ParseTemperature(s)
	*t = v
	return err
}

// ParseTemperature reads a number above 0, or "inf".
func ParseTemperature(text string) (Temperature, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) {
		return 0, fmt.Errorf("cgc: temperature %q, want a number above 0 or inf", text)
	}
	return Temperature(v), nil
}

// String writes t as ParseTemperature reads it.
func (t Temperature) String() string {
	if math.IsInf(float64(t), 1) {
		return "inf"
	}
	return strconv.FormatFloat(float64(t), 'g', -1, 64)
}

// Defaults returns the configuration to start from; only the size is left to say.
func Defaults() Config {
	return Config{
		Variant:     CGC,
		Propagation: propagate.SGC,
		// Two hops are the paper's choice for all graphs (appendix E.3), and the depth of the GNNs that train on the result.
		Hops: 2,
		// The teleport of the paper that proposed PPR for GNNs (Gasteiger et al. 2019, §5).
		Teleport: 0.1,
		// At 0.4, shallower embeddings lower the validation accuracy by 0.7 to 1 points on all of four graphs with few labels
		// (docs/design/defaults.md).
		Augment: 0,
		// Spectral partition is as good on three of these graphs, 1.7 points worse on the fourth, and costs more.
		Partition:   "kmeans",
		Partitions:  1,
		Temperature: 1,
		Edges:       SimilarEdges,
		// Of the thresholds from 0.6 to 0.9, 0.85 has the best validation accuracy on Cora and Citeseer together.
		Threshold: 0.85,
		// On Amazon Photo, 0.85 alone joins most pairs and halves the validation accuracy. With a mean degree of 1, edges
		// help.
		Degree: 1,
		Alpha:  1,
	}
}

// resolved returns the configuration that runs, with what the variant fixes.
func (c Config) resolved() Config {
	for _, v := range variants {
		if v.variant == c.Variant {
			v.fix(&c)
		}
	}
	return c
}

// propagation returns the parameters of propagation.
func (c Config) propagation() propagate.Propagation {
	return propagate.Propagation{Rule: c.Propagation, Hops: c.Hops, Teleport: c.Teleport}
}

// engine returns what propagates: Engine, or the blocked one.
func (c Config) engine() propagate.Engine {
	if c.Engine == nil {
		return blocked.Engine{Memory: c.Memory, Precision: c.Precision}
	}
	return c.Engine
}

// plan returns the parameters of the partition.
func (c Config) plan(budgets []int) (partition.Plan, error) {
	partitioner, err := partition.Find(c.Partition)
	return partition.Plan{
		Budgets: budgets, Partitioner: partitioner, Partitions: c.Partitions, Temperature: float64(c.Temperature),
	}, err
}

// Validate returns everything that is wrong with c without regard to a graph, joined; nil if nothing is. Each
// mistake in a parameter is a *condense.FieldError. What depends on the graph, Condense checks.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, field string, value any, want string, args ...any) {
		if !ok {
			errs = append(errs, &condense.FieldError{
				Package: "cgc", Field: field, Value: value, Want: fmt.Sprintf(want, args...),
			})
		}
	}
	in := func(v, lo, hi float64) bool { return v >= lo && v <= hi } // false for NaN
	check(c.Variant.known(), "method", quoted(c.Variant), "one of %v", Variants())
	_, err := partition.Find(c.Partition)
	check(err == nil, "partition", quoted(c.Partition), "one of %v", partition.Names())
	check(slices.Contains(propagate.Rules(), c.Propagation), "propagation", quoted(c.Propagation),
		"one of %v", propagate.Rules())
	errs = append(errs, c.Size.Validate())
	check(c.Hops >= 0, "hops", c.Hops, "at least 0")
	check(c.Propagation != propagate.PPR || c.Teleport > 0 && c.Teleport <= 1, "teleport", c.Teleport,
		"above 0 and at most 1")
	check(c.HopWeights.fit(c.Hops), "hop weights", c.HopWeights,
		"%d finite numbers (hops + 1) of at least 0, not all 0", c.Hops+1)
	check(in(c.Augment, 0, 1000), "augment", c.Augment, "0 to 1000")
	check(in(c.PseudoLabels, 0, 1000), "pseudo labels", c.PseudoLabels, "0 to 1000")
	check(c.PseudoLabels == 0 || !c.Inductive, "pseudo labels", c.PseudoLabels,
		"0 in the inductive setting, where no node is without a label")
	check(c.Partitions >= 1 && c.Partitions <= 1000, "partitions", c.Partitions, "1 to 1000")
	check(c.Temperature > 0, "temperature", c.Temperature, "above 0 (inf for plain means)")
	check(slices.Contains(EdgeKinds(), c.Edges), "edges", quoted(c.Edges), "one of %v", EdgeKinds())
	check(in(c.Threshold, -1, 1), "threshold", c.Threshold, "-1 to 1")
	check(in(c.Degree, 0, math.MaxFloat64), "degree", c.Degree, "finite and at least 0")
	check(in(c.Alpha, 0, math.MaxFloat64), "alpha", c.Alpha, "finite and at least 0")
	check(c.Memory >= 0, "memory", c.Memory, "at least 0 bytes (0 for no bound)")
	check(c.Precision.Known(), "precision", c.Precision, "one of %v", blocked.Precisions())
	engine, usual := c.engine().(blocked.Engine)
	check(c.Precision == blocked.Float32 || usual && engine.Precision == c.Precision, "precision", c.Precision,
		"%s with the engine %T, which decides by itself", blocked.Float32, c.Engine)
	return errors.Join(errs...)
}

// quoted returns a word as an error shows it.
func quoted[T ~string](word T) string { return strconv.Quote(string(word)) }

// NodesFor returns N′ for g, as Size.Of does in the setting of c.
func (c Config) NodesFor(g *graph.Graph) (int, error) { return c.Size.Of(g, c.Inductive) }

// check returns N′, or what is wrong with config, or with g for it.
func check(g *graph.Graph, config Config) (nodes int, err error) {
	if err := config.Validate(); err != nil {
		return 0, err
	}
	if err := condense.Trainable(g); err != nil {
		return 0, err
	}
	return config.NodesFor(g)
}

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

// Variant is a method of the paper. It decides what the condensed graph consists of.
type Variant string

const (
	// CGC propagates features, weights them by the confidence of a linear classifier, clusters each class and generates
	// {A′, X′} in closed form. Nothing is trained. Source: Gao et al., Rethinking and accelerating graph condensation: A
	// training-free approach with class partition (WWW 2025).
	CGC Variant = "cgc"
	// CGCX condenses as cgc does, without edges: {I, H′} (§3.5). Source: as cgc.
	CGCX Variant = "cgc-x"
	// SimDM returns the plain means of k-means clusters of each class, {I, H′}: simplified distribution matching (§2.3).
	// Source: as cgc.
	SimDM Variant = "simdm"
)

// variants lists what distinguishes the variants. No other code branches on a variant.
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
			c.Partition, c.Augment, c.Temperature = "kmeans", 0, Infinite
		},
		[]string{"partition", "augment", "temperature"},
	},
}

// generated lists the parameters of graph generation, which graphless variants ignore.
var generated = []string{"threshold", "degree", "alpha"}

// Variants returns the variants, the default first.
func Variants() []Variant {
	all := make([]Variant, len(variants))
	for i, v := range variants {
		all[i] = v.variant
	}
	return all
}

func (v Variant) index() int { return slices.Index(Variants(), v) }

// Edges reports whether the variant generates A′; if not, A′ = I.
func (v Variant) Edges() bool {
	i := v.index()
	return i >= 0 && variants[i].edges
}

// Reads reports whether a parameter, named as in the JSON of Config, affects the result of the variant.
func (v Variant) Reads(parameter string) bool {
	if i := v.index(); i >= 0 && slices.Contains(variants[i].fixed, parameter) {
		return false
	}
	return v.Edges() || !slices.Contains(generated, parameter)
}

// Config holds every parameter of a condensation. Zero is a legal value of many parameters (no hops, no augmentation),
// so it never means a default. Start from Defaults and change what you need.
type Config struct {
	// Variant is one of Variants.
	Variant Variant `json:"method"`
	// Size gives N′ in one of three ways.
	condense.Size
	// Propagation is one of propagate.Rules.
	Propagation propagate.Rule `json:"propagation"`
	// Hops is K, from 0 to propagate.MaxHops, for the original and the condensed graph alike.
	Hops int `json:"hops"`
	// Teleport is β of propagate.PPR, in (0, 1].
	Teleport float64 `json:"teleport"`
	// Augment is p ≥ 0: the number of shallower embeddings that are added, as a multiple of the number of training nodes.
	Augment float64 `json:"augment"`
	// Partition is the name of the method that groups the embeddings of a class: one of partition.Names.
	// partition.Register adds names.
	Partition string `json:"partition"`
	// Temperature is τ > 0: embeddings in a group are weighted by softmax(r/τ). Infinity weights them equally.
	Temperature Temperature `json:"temperature"`
	// Threshold is T in [−1, 1]: condensed nodes are joined where the cosine of their embeddings is above it. Only CGC
	// uses it.
	Threshold float64 `json:"threshold"`
	// Degree limits the mean degree of A′; 0 means no limit. If Threshold gives more edges, T is raised to the smallest
	// similarity that respects the limit. Similarities differ so much between graphs that no T fits all of them. Only CGC
	// uses the limit.
	Degree float64 `json:"degree"`
	// Alpha is α ≥ 0, the weight of the smoothness of X′ over A′. Only CGC uses it.
	Alpha float64 `json:"alpha"`
	// NormalizeFeatures divides the features of each node by the sum of their absolute values, before anything else.
	NormalizeFeatures bool `json:"normalize_features,omitempty"`
	// Standardize scales each feature to mean 0 and variance 1 over the training nodes.
	Standardize bool `json:"standardize"`
	// Inductive condenses the subgraph induced by the training nodes, as if the other nodes did not exist yet.
	Inductive bool `json:"inductive"`
	// Causal gives each node only the neighbours that arrived before it, so that embeddings use nothing from the future.
	// Nodes must be numbered in the order of their arrival: see graph.Graph.Causally.
	Causal bool `json:"causal,omitempty"`
	// Memory is the memory limit for the graph and its propagation together, in bytes; 0 means no limit. With a limit,
	// features are propagated in blocks of as many columns as fit. The result does not depend on it. A limit that is too
	// small is an error only if the graph is mapped from a file.
	Memory int64 `json:"memory,omitempty"`
	// Precision is one of blocked.Precisions: the number format between the hops of the propagation. blocked.Half is
	// faster if memory bandwidth is the bottleneck, and changes embeddings by about 0.1%. With blocked.Half, any Engine
	// other than a blocked.Engine of that precision is an error.
	Precision blocked.Precision `json:"precision,omitzero"`
	// Seed is the random seed.
	Seed uint64 `json:"seed"`

	// Engine computes the embeddings or reads them; nil means package propagate/blocked. It is not saved in files.
	Engine propagate.Engine `json:"-"`
}

// Temperature is τ. In JSON it is a number, or "inf" for infinity.
type Temperature float64

// Infinite is the temperature that gives plain means.
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

// ParseTemperature parses a number above 0, or "inf".
func ParseTemperature(text string) (Temperature, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) {
		return 0, fmt.Errorf("temperature %q, must be a number above 0 or inf", text)
	}
	return Temperature(v), nil
}

// String returns t in the form that ParseTemperature reads.
func (t Temperature) String() string {
	if math.IsInf(float64(t), 1) {
		return "inf"
	}
	return strconv.FormatFloat(float64(t), 'g', -1, 64)
}

// Defaults returns the configuration to start from. Only its size has to be set.
func Defaults() Config {
	return Config{
		Variant:     CGC,
		Propagation: propagate.SGC,
		// Two hops are the paper's choice for all graphs (appendix E.3), and the depth of the GNNs trained on the result.
		Hops: 2,
		// The teleport of the paper that proposed PPR for GNNs (Gasteiger et al. 2019, §5).
		Teleport: 0.1,
		// At 0.4, shallower embeddings lower the validation accuracy by 0.7 to 1 points on each of four graphs with few
		// labels (docs/notes/2026-11-defaults.md).
		Augment: 0,
		// Spectral clustering is as good on three of these graphs, 1.7 points worse on the fourth, and costs more.
		Partition:   "kmeans",
		Temperature: 1,
		// Of the thresholds from 0.6 to 0.9, 0.85 has the best validation accuracy on Cora and Citeseer together.
		Threshold: 0.85,
		// On Amazon Photo, a threshold of 0.85 without a degree limit joins most pairs and halves the validation accuracy.
		// With a mean degree of 1, edges help.
		Degree: 1,
		Alpha:  1,
	}
}

// resolved returns c with the parameters that the variant fixes.
func (c Config) resolved() Config {
	if i := c.Variant.index(); i >= 0 {
		variants[i].fix(&c)
	}
	return c
}

// propagation returns the parameters of propagation.
func (c Config) propagation() propagate.Propagation {
	return propagate.Propagation{Rule: c.Propagation, Hops: c.Hops, Teleport: c.Teleport}
}

// engine returns Engine, or a blocked.Engine if it is nil.
func (c Config) engine() propagate.Engine {
	if c.Engine == nil {
		return blocked.Engine{Memory: c.Memory, Precision: c.Precision}
	}
	return c.Engine
}

// Validate returns all errors in c that do not depend on a graph, joined, or nil. An error about a single parameter is
// a *condense.FieldError. Condense also checks what depends on the graph.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, field string, value any, want string, args ...any) {
		if !ok {
			errs = append(errs, &condense.FieldError{
				Field: field, Value: value, Want: fmt.Sprintf(want, args...),
			})
		}
	}
	in := func(v, lo, hi float64) bool { return v >= lo && v <= hi } // false for NaN
	check(c.Variant.index() >= 0, "method", quoted(c.Variant), "one of %v", Variants())
	_, err := partition.Find(c.Partition)
	check(err == nil, "partition", quoted(c.Partition), "one of %v", partition.Names())
	check(slices.Contains(propagate.Rules(), c.Propagation), "propagation", quoted(c.Propagation),
		"one of %v", propagate.Rules())
	errs = append(errs, c.Size.Validate())
	check(c.Hops >= 0, "hops", c.Hops, "at least 0")
	check(c.Hops <= propagate.MaxHops, "hops", c.Hops, "at most %d", propagate.MaxHops)
	check(c.Propagation != propagate.PPR || c.Teleport > 0 && c.Teleport <= 1, "teleport", c.Teleport,
		"above 0 and at most 1")
	check(in(c.Augment, 0, 1000), "augment", c.Augment, "0 to 1000")
	check(c.Temperature > 0, "temperature", c.Temperature, "above 0 (inf for plain means)")
	check(in(c.Threshold, -1, 1), "threshold", c.Threshold, "-1 to 1")
	check(in(c.Degree, 0, math.MaxFloat64), "degree", c.Degree, "finite and at least 0")
	check(in(c.Alpha, 0, math.MaxFloat64), "alpha", c.Alpha, "finite and at least 0")
	check(c.Memory >= 0, "memory", c.Memory, "at least 0 bytes (0 for no limit)")
	check(slices.Contains(blocked.Precisions(), c.Precision), "precision", c.Precision, "one of %v", blocked.Precisions())
	engine, usual := c.engine().(blocked.Engine)
	check(c.Precision == blocked.Float32 || usual && engine.Precision == c.Precision, "precision", c.Precision,
		"%s with the engine %T, which decides by itself", blocked.Float32, c.Engine)
	return errors.Join(errs...)
}

// quoted returns word in quotes, for error messages.
func quoted[T ~string](word T) string { return strconv.Quote(string(word)) }

// NodesFor returns N′ for g, in the setting of c: see Size.Of.
func (c Config) NodesFor(g *graph.Graph) (int, error) { return c.Size.Of(g, c.Inductive) }

// check returns N′, or an error about config, or about g for this config.
func check(g *graph.Graph, config Config) (nodes int, err error) {
	if err := condense.Trainable(g); err != nil { // first, because without training nodes DefaultsFor finds no size
		return 0, err
	}
	if err := config.Validate(); err != nil {
		return 0, err
	}
	return config.NodesFor(g)
}

// Reason explains the value of a parameter.
type Reason struct {
	// Name is the parameter, as in the JSON of Config.
	Name string
	// Text is a sentence with the value and the reason.
	Text string
}

// perClass is the number of condensed nodes for each class at the paper's middle ratios on Cora, Citeseer and
// ogbn-arxiv.
const perClass = 10

// DefaultsFor returns Defaults with a size that suits g, and the reason for it. The other parameters do not depend
// on g: docs/notes/2026-11-defaults.md has the measurements. Labels of validation and test nodes are not read.
//
// With c classes and n training nodes, Nodes is max(c, min(10·c, n/2)). More than n/2 nodes would hardly condense the
// graph. Only classes with training nodes count.
func DefaultsFor(g *graph.Graph) (Config, []Reason) {
	config := Defaults()
	train := len(g.Split.Train)
	classes, half := g.TrainClasses(), train/2
	var text string
	switch config.Nodes = perClass * classes; {
	case half >= config.Nodes:
		text = fmt.Sprintf("%d condensed nodes, %d for each of %d classes", config.Nodes, perClass, classes)
	case half > classes:
		config.Nodes = half
		text = fmt.Sprintf("%d condensed nodes, half of the %d training nodes", half, train)
	default:
		config.Nodes = classes
		text = fmt.Sprintf("%d condensed nodes, one for each class", classes)
	}
	return config, []Reason{{"nodes", text}}
}

package cgc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/generate"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// init registers the methods of the paper, so that flags, tables and files know them by name.
func init() {
	for _, v := range Variants() {
		config := Defaults()
		config.Variant = v
		condense.Register(config)
	}
}

// Name returns the name of the variant.
func (c Config) Name() string { return string(c.Variant) }

// Condense implements condense.Method. It calls the function Condense with nodes and seed in place of c's Size and
// Seed.
func (c Config) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*Condensed, error) {
	return Condense(ctx, g, c.with(g, nodes, seed))
}

// Check implements condense.Checker. It returns an error if c or g is invalid, or if g or the number of nodes does not
// fit c.
func (c Config) Check(g *graph.Graph, nodes int) error {
	if err := g.Check(context.Background()); err != nil {
		return err
	}
	_, err := check(g, c.with(g, nodes, c.Seed))
	return err
}

// with returns c with another seed and size. It keeps a ratio that gives the same number of nodes, so that files record
// what the user asked for.
func (c Config) with(g *graph.Graph, nodes int, seed uint64) Config {
	c.Seed = seed
	if n, err := c.NodesFor(g); err != nil || n != nodes {
		c.Size = condense.Size{Nodes: nodes}
	}
	return c
}

// Setting returns the setting in which c condenses a graph.
func (c Config) Setting() condense.Setting {
	return condense.Setting{
		NormalizeFeatures: c.NormalizeFeatures, Standardize: c.Standardize, Inductive: c.Inductive,
		Causal: c.Causal,
	}
}

// Prepare implements condense.Preparer with the function Prepare. c needs no size.
func (c Config) Prepare(ctx context.Context, g *graph.Graph) (condense.Prepared, error) {
	if c.Size.IsZero() {
		c.Nodes = len(g.Split.Train) // a valid size; the preparation does not depend on it
	}
	p, err := Prepare(ctx, g, c)
	if err != nil {
		return nil, err // a nil *Prepared in the interface would not be nil
	}
	return p, nil
}

// SharesPreparation reports whether c and other agree in everything that Prepare depends on. Both can then condense
// from one Prepared.
func (c Config) SharesPreparation(other condense.Method) bool {
	d, is := other.(Config)
	return is && c.preparation() == d.preparation() && sameEngine(c.Engine, d.Engine)
}

// sameEngine reports whether a and b are equal. Engines that cannot be compared count as different.
func sameEngine(a, b propagate.Engine) bool {
	if a == nil || b == nil {
		return a == b
	}
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// preparation is the part of a Config that Prepare depends on. Memory is left out: results do not depend on it.
type preparation struct {
	Propagation propagate.Propagation
	Setting     condense.Setting
	Precision   blocked.Precision
}

func (c Config) preparation() preparation {
	p := preparation{
		Propagation: propagate.Propagation{Rule: c.Propagation, Hops: c.Hops}, Setting: c.Setting(),
		Precision: c.Precision,
	}
	if c.Propagation == propagate.PPR {
		p.Propagation.Teleport = c.Teleport
	}
	return p
}

// Account is what the methods of this package store in Condensed.Account.
type Account struct {
	// Threshold is the similarity T above which condensed nodes were connected: the configured one, or a larger one if
	// the degree limit requires it; 0 for the graphless variants.
	Threshold float64 `json:"threshold"`
	// Assessed has measurements of the linear classifier.
	Assessed Assessed `json:"assessed"`
	// Partitions describes the partition of each class: its iterations, its objective and why it stopped.
	Partitions []partition.Stats `json:"partitions"`
	// Singular describes the linear systems for X′ that were singular; absent if none was.
	Singular *generate.Singular `json:"singular,omitempty"`
}

// illConditioned is the smallest condition number of T that an account reports. From there on, a relative change of T
// by 1/illConditioned can change the classifier completely.
const illConditioned = 1000

// Assessed is what the linear classifier found in the training nodes' embeddings.
type Assessed struct {
	// Accuracy is the percentage of training nodes whose class the classifier predicts correctly from H⁽ᴷ⁾. If it is near
	// 100, confidence differs little between embeddings.
	Accuracy float64 `json:"accuracy"`
	// Rank is the rank of the training nodes' embeddings, averaged over hops (T in equation 13). If it is below the
	// number of features, many classifiers fit equally well, and the one of smallest norm is used.
	Rank int `json:"rank"`
	// Condition is σ_max/σ_min of T over the nonzero singular values, within a factor of two. It is absent below 1000.
	Condition float64 `json:"condition,omitempty"`
	// Error is 1 − F1 of each class.
	Error []float64 `json:"error"`
	// Augmented is the number of embeddings that augmentation added.
	Augmented int `json:"augmented"`
}

// AccountOf returns the account of a graph that this package condensed.
func AccountOf(small *Condensed) (a Account, err error) {
	if Variant(small.Method).index() < 0 {
		return a, notOurs(small)
	}
	if err := json.Unmarshal(small.Account, &a); err != nil {
		return a, fmt.Errorf("account of a graph condensed by %q: %w", small.Method, err)
	}
	return a, nil
}

// ConfigOf returns the configuration of a graph that this package condensed. Fields that are missing from an older file
// have the values of Defaults.
func ConfigOf(small *Condensed) (Config, error) {
	c := Defaults()
	if err := json.Unmarshal(small.Config, &c); err != nil {
		return c, fmt.Errorf("configuration of a graph condensed by %q: %w", small.Method, err)
	}
	if c.Variant.index() < 0 {
		return c, notOurs(small)
	}
	return c, nil
}

// notOurs returns the error for a graph that another package condensed.
func notOurs(small *Condensed) error {
	return fmt.Errorf("the graph was condensed by %q, must be one of %v", small.Method, Variants())
}

// describe writes the configuration and the account into small.
func describe(small *Condensed, config Config, account Account) error {
	config.Memory = 0 // results do not depend on it
	var errConfig, errAccount error
	small.Config, errConfig = json.Marshal(config)
	small.Account, errAccount = json.Marshal(account)
	if err := errors.Join(errConfig, errAccount); err != nil {
		return fmt.Errorf("account of the condensation: %w", err)
	}
	return nil
}

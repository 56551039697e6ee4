package tune

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

// Candidate is a choice of the parameters that a Search varies.
type Candidate struct {
	// Config condenses the graph.
	Config cgc.Config
	// Weighted is gnn.Config.Weighted, the only parameter of training that concerns the condensed graph: whether the loss
	// weights condensed nodes by their source nodes.
	Weighted bool
}

// Dimension is one parameter that a Search varies, over a few levels.
type Dimension struct {
	// Name is the name of the corresponding command-line flag.
	Name string

	levels int
	set    func(c *Candidate, level int)
	show   func(c Candidate) string
	where  func(c Candidate) bool // a condition for an effect, in addition to Variant.Reads; nil means none
}

// matters reports whether the parameter has an effect on c.
func (d Dimension) matters(c Candidate) bool {
	return c.Config.Variant.Reads(strings.ReplaceAll(d.Name, "-", "_")) && (d.where == nil || d.where(c))
}

// MostHops is the largest number of hops that a Search tries.
const MostHops = 5

// Change is a parameter whose value differs from the base.
type Change struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// String returns "name from → to".
func (c Change) String() string { return fmt.Sprintf("%s %s → %s", c.Name, c.From, c.To) }

// Space returns the parameters that a Search varies, each with its levels. The method is one of variants, or of all
// cgc.Variants if variants is empty. All registered partitions and propagation rules are levels.
func Space(variants ...cgc.Variant) []Dimension {
	if len(variants) == 0 {
		variants = cgc.Variants()
	}
	propagated := func(c Candidate) bool { return c.Config.Hops > 0 }
	teleports := func(c Candidate) bool { return propagated(c) && c.Config.Propagation == propagate.PPR }
	return []Dimension{
		dimension("method", func(c *Candidate) *cgc.Variant { return &c.Config.Variant }, nil, variants...),
		dimension("weighted", func(c *Candidate) *bool { return &c.Weighted }, nil, true, false),
		dimension("hops", func(c *Candidate) *int { return &c.Config.Hops }, nil, 0, 1, 2, 3, 4, MostHops),
		dimension("propagation", func(c *Candidate) *propagate.Rule { return &c.Config.Propagation }, propagated,
			propagate.Rules()...),
		dimension("teleport", func(c *Candidate) *float64 { return &c.Config.Teleport }, teleports, 0.05, 0.1, 0.2),
		dimension("partition", func(c *Candidate) *string { return &c.Config.Partition }, nil, partition.Names()...),
		dimension("augment", func(c *Candidate) *float64 { return &c.Config.Augment }, nil, 0, 0.2, 0.4, 0.8, 1.5),
		dimension("temperature", func(c *Candidate) *cgc.Temperature { return &c.Config.Temperature }, nil,
			0.02, 0.1, 0.5, 1, cgc.Infinite),
		dimension("threshold", func(c *Candidate) *float64 { return &c.Config.Threshold }, nil,
			0.6, 0.7, 0.8, 0.85, 0.9, 0.95),
		dimension("degree", func(c *Candidate) *float64 { return &c.Config.Degree }, nil, 0.5, 1, 2, 4),
		dimension("alpha", func(c *Candidate) *float64 { return &c.Config.Alpha }, nil, 0.01, 0.1, 1, 10),
		dimension("standardize", func(c *Candidate) *bool { return &c.Config.Standardize }, nil, false, true),
	}
}

// dimension returns the dimension of one field of a candidate.
func dimension[T any](name string, field func(*Candidate) *T, where func(Candidate) bool, levels ...T) Dimension {
	return Dimension{
		Name: name, levels: len(levels), where: where,
		set:  func(c *Candidate, level int) { *field(c) = levels[level] },
		show: func(c Candidate) string { return fmt.Sprint(*field(&c)) },
	}
}

// asBase is the level at which a parameter keeps the value of the base.
const asBase = -1

// point is the internal form of a candidate: a level of each dimension, or asBase.
type point []int

// space draws points around a base.
type space struct {
	base       Candidate
	dimensions []Dimension
}

// at returns the candidate at p.
func (s space) at(p point) Candidate {
	c := s.base
	for d, level := range p {
		if level != asBase {
			s.dimensions[d].set(&c, level)
		}
	}
	return c
}

// settle sets levels of p to asBase if they have no effect or equal the base, so that equal candidates have equal
// points.
func (s space) settle(p point) point {
	c := s.at(p)
	for d, dim := range s.dimensions {
		if p[d] != asBase && (!dim.matters(c) || dim.show(c) == dim.show(s.base)) {
			p[d] = asBase
		}
	}
	return p
}

// draw returns a random point. Each dimension keeps the value of the base with probability two thirds, so that
// candidates with few changes are likelier.
func (s space) draw(random *rand.Rand) point {
	p := make(point, len(s.dimensions))
	for d, dim := range s.dimensions {
		p[d] = asBase
		if random.IntN(3) == 0 {
			p[d] = random.IntN(dim.levels)
		}
	}
	return s.settle(p)
}

// near changes one or two random dimensions of p. A dimension that differs from the base returns to it half of the
// time.
func (s space) near(p point, random *rand.Rand) point {
	p = slices.Clone(p)
	for range 1 + random.IntN(2) {
		d := random.IntN(len(p))
		if p[d] != asBase && random.IntN(2) == 0 {
			p[d] = asBase
			continue
		}
		p[d] = random.IntN(s.dimensions[d].levels)
	}
	return s.settle(p)
}

// changes lists the differences of p from the base.
func (s space) changes(p point) (changes []Change) {
	c := s.at(p)
	for d, dim := range s.dimensions {
		if p[d] != asBase {
			changes = append(changes, Change{dim.Name, dim.show(s.base), dim.show(c)})
		}
	}
	return changes
}

// apart returns the number of dimensions in which p and q differ.
func (p point) apart(q point) (n int) {
	for d := range p {
		if p[d] != q[d] {
			n++
		}
	}
	return n
}

// size returns the number of changes at p.
func (p point) size() (n int) {
	for _, level := range p {
		if level != asBase {
			n++
		}
	}
	return n
}

// key returns p as a map key.
func (p point) key() string { return fmt.Sprint([]int(p)) }

// Prior is a configuration that did well on other graphs. A Search ranks the base first, and then the priors that
// apply. After that, priors are treated like all other candidates: they must rank high to be confirmed, and must beat
// the base by more than noise to be chosen.
type Prior struct {
	// Name is the name of the prior.
	Name string `json:"name"`
	// Settings lists the parameters that it changes.
	Settings []Setting `json:"settings"`
	// FoundOn lists the graphs on which it did well. A gain on these graphs is not independent evidence.
	FoundOn []string `json:"found_on"`

	// fewLabels limits the prior to graphs in which at most one node in ten is a training node.
	fewLabels bool
}

// Setting is one parameter of a Prior.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// String lists the settings.
func (p Prior) String() string {
	words := make([]string, len(p.Settings))
	for i, s := range p.Settings {
		words[i] = s.Name + " " + s.Value
	}
	return strings.Join(words, ", ")
}

// Priors returns all priors. There is none so far.
func Priors() []Prior { return nil }

// applies reports whether the prior is meant for graphs like g.
func (p Prior) applies(g *graph.Graph) bool {
	return !p.fewLabels || len(g.Split.Train) <= g.Nodes()/10
}

// of returns the point of a prior. There is none if the space lacks one of its settings, or if the prior equals the
// base.
func (s space) of(prior Prior) (p point, is bool) {
	p = slices.Repeat(point{asBase}, len(s.dimensions))
	for _, want := range prior.Settings {
		d := slices.IndexFunc(s.dimensions, func(d Dimension) bool { return d.Name == want.Name })
		if d < 0 {
			return nil, false
		}
		found := false
		for level := range s.dimensions[d].levels {
			c := s.base
			if s.dimensions[d].set(&c, level); s.dimensions[d].show(c) == want.Value {
				p[d], found = level, true
			}
		}
		if !found {
			return nil, false
		}
	}
	p = s.settle(p)
	return p, p.size() > 0
}

package tune

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

// Candidate is a choice of the parameters that a Search varies.
type Candidate struct {
	// Method condenses the graph as Setting shows it. It is a cgc.Config without a setting of its own, or the method
	// cgc-d. As the base of a Search, it may be an auto.Method.
	Method condense.Method
	// Setting is the setting in which the graph is condensed.
	Setting condense.Setting
	// Weighted is gnn.Config.Weighted, the only parameter of training that concerns the condensed graph: whether the loss
	// weights condensed nodes by their source nodes.
	Weighted bool
}

// InSetting returns a method that condenses the graph itself, with the setting among its parameters.
func (c Candidate) InSetting() condense.Method {
	config, is := c.Method.(cgc.Config)
	if !is {
		return condense.Under(c.Setting, c.Method)
	}
	config.NormalizeFeatures, config.Standardize = c.Setting.NormalizeFeatures, c.Setting.Standardize
	config.Inductive, config.Causal = c.Setting.Inductive, c.Setting.Causal
	return config
}

// Methods returns the names of the methods that a Search can choose from.
func Methods() []string {
	var names []string
	for _, v := range cgc.Variants() {
		names = append(names, string(v))
	}
	return append(names, distill.New().Name())
}

// parts is a candidate split into its parts. It has the parameters of all methods, so that a change of method keeps the
// parameters that both methods read.
type parts struct {
	method   string
	config   cgc.Config     // parameters of the paper's methods
	soft     distill.Method // parameters of cgc-d
	setting  condense.Setting
	weighted bool
}

// take returns the parts of a candidate. config and soft have the parameters of the methods that it does not use.
func take(c Candidate, config cgc.Config, soft distill.Method) (parts, error) {
	p := parts{c.Method.Name(), config, soft, c.Setting, c.Weighted}
	switch m := c.Method.(type) {
	case cgc.Config:
		p.config, p.soft.Hops = m, m.Hops
	case distill.Method:
		p.soft, p.config.Hops = m, m.Hops
	default:
		return p, fmt.Errorf("method %s has no parameters to search, must be one of %v", p.method, Methods())
	}
	return p, nil
}

// candidate returns the candidate that consists of p.
func (p parts) candidate() Candidate {
	c := Candidate{p.soft, p.setting, p.weighted}
	if p.method != p.soft.Name() {
		config := p.config
		config.Variant = cgc.Variant(p.method)
		c.Method = config
	}
	return c
}

// Dimension is one parameter that a Search varies, over a few levels.
type Dimension struct {
	// Name is the name of the corresponding command-line flag, or of the parameter of cgc-d.
	Name string

	levels int
	set    func(p *parts, level int)
	show   func(p parts) string
	where  func(p parts) bool // whether the parameter has an effect; nil means always
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

// Space returns the parameters that a Search varies, each with its levels. The method is one of the named ones, or of
// Methods if there are none. All registered partitions and propagation rules are levels.
func Space(methods ...string) []Dimension {
	if len(methods) == 0 {
		methods = Methods()
	}
	soft := func(p parts) bool { return p.method == p.soft.Name() }
	propagates := func(p parts) bool { return !soft(p) && p.config.Hops > 0 }
	teleports := func(p parts) bool { return propagates(p) && p.config.Propagation == propagate.PPR }
	smooths := func(p parts) bool { return soft(p) && p.soft.Unlabelled != distill.Never }
	reads := func(name string) func(parts) bool {
		return func(p parts) bool { return !soft(p) && cgc.Variant(p.method).Reads(name) }
	}
	return []Dimension{
		dimension("method", func(p *parts) *string { return &p.method }, nil, methods...),
		dimension("weighted", func(p *parts) *bool { return &p.weighted }, nil, true, false),
		hops(),
		dimension("propagation", func(p *parts) *propagate.Rule { return &p.config.Propagation }, propagates,
			propagate.Rules()...),
		dimension("teleport", func(p *parts) *float64 { return &p.config.Teleport }, teleports, 0.05, 0.1, 0.2),
		dimension("partition", func(p *parts) *string { return &p.config.Partition }, reads("partition"),
			partition.Names()...),
		dimension("augment", func(p *parts) *float64 { return &p.config.Augment }, reads("augment"), 0, 0.2, 0.4, 0.8, 1.5),
		dimension("temperature", func(p *parts) *cgc.Temperature { return &p.config.Temperature }, reads("temperature"),
			0.02, 0.1, 0.5, 1, cgc.Infinite),
		dimension("threshold", func(p *parts) *float64 { return &p.config.Threshold }, reads("threshold"),
			0.6, 0.7, 0.8, 0.85, 0.9, 0.95),
		dimension("degree", func(p *parts) *float64 { return &p.config.Degree }, reads("degree"), 0.5, 1, 2, 4),
		dimension("alpha", func(p *parts) *float64 { return &p.config.Alpha }, reads("alpha"), 0.01, 0.1, 1, 10),
		dimension("teachers", func(p *parts) *[]distill.Depth { return &p.soft.Teachers }, soft,
			[]distill.Depth{{Hops: 1}}, []distill.Depth{{Hops: 2}}, []distill.Depth{{Hops: 4}},
			[]distill.Depth{{Hops: 10, Teleport: 0.1}}),
		dimension("smoothing", func(p *parts) *distill.Depth { return &p.soft.Smoothing }, smooths,
			distill.Depth{}, distill.Depth{Hops: 5, Teleport: 0.2}, distill.Depth{Hops: 10, Teleport: 0.1}),
		dimension("students", func(p *parts) *int { return &p.soft.Students }, soft, 0, 1, 2, 4),
		dimension("unlabelled", func(p *parts) *distill.When { return &p.soft.Unlabelled }, soft,
			distill.Always, distill.Never),
		dimension("standardize", func(p *parts) *bool { return &p.setting.Standardize }, nil, false, true),
	}
}

// dimension returns the dimension of one parameter.
func dimension[T any](name string, field func(*parts) *T, where func(parts) bool, levels ...T) Dimension {
	return Dimension{
		Name: name, levels: len(levels), where: where,
		set:  func(p *parts, level int) { *field(p) = levels[level] },
		show: func(p parts) string { return fmt.Sprint(*field(&p)) },
	}
}

// hops returns the dimension of the number of hops of all methods.
func hops() Dimension {
	d := dimension("hops", func(p *parts) *int { return &p.config.Hops }, nil, 0, 1, 2, 3, 4, MostHops)
	set := d.set
	d.set = func(p *parts, level int) {
		set(p, level)
		p.soft.Hops = p.config.Hops
	}
	return d
}

// asBase is the level at which a parameter keeps the value of the base.
const asBase = -1

// point is the internal form of a candidate: a level of each dimension, or asBase.
type point []int

// space draws points around a base.
type space struct {
	base       parts
	dimensions []Dimension
}

// at returns the parts of the candidate at p.
func (s space) at(p point) parts {
	c := s.base
	for d, level := range p {
		if level != asBase {
			s.dimensions[d].set(&c, level)
		}
	}
	return c
}

// of returns the point of a candidate that differs from the base only in dimensions of the space, at their levels.
func (s space) of(c parts) (p point, is bool) {
	p = slices.Repeat(point{asBase}, len(s.dimensions))
	for d, dim := range s.dimensions {
		for level := range dim.levels {
			there := s.base
			if dim.set(&there, level); dim.show(there) == dim.show(c) {
				p[d] = level
			}
		}
	}
	p = s.settle(p)
	return p, reflect.DeepEqual(s.at(p).candidate(), c.candidate())
}

// settle sets levels of p to asBase if they have no effect or equal the base, so that equal candidates have equal
// points.
func (s space) settle(p point) point {
	c := s.at(p)
	for d, dim := range s.dimensions {
		if p[d] != asBase && (dim.where != nil && !dim.where(c) || dim.show(c) == dim.show(s.base)) {
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

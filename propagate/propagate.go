// Package propagate smooths node features along the edges: the first step of the method (§3.1 and eq. 12 of the paper).
//
// A Propagation describes the computation. An Engine computes it, or reads stored results. Plain is eq. 12 as the paper
// writes it, one hop after the other. Package blocked contains the fast engine. Any type with the method Embeddings is
// an Engine.
package propagate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/registry"
	"github.com/graph-condensation/cgc/mat"
)

// Rule says how one hop computes H⁽ˡ⁾ from H⁽ˡ⁻¹⁾. H⁽⁰⁾ = X for each rule.
type Rule string

const (
	// SGC is H⁽ˡ⁾ = ÂH⁽ˡ⁻¹⁾, Â = D̃^-½(A+I)D̃^-½ (Wu et al. 2019; eq. 12 of the paper).
	SGC Rule = "sgc"
	// PPR is H⁽ˡ⁾ = (1−β)ÂH⁽ˡ⁻¹⁾ + βX: personalised PageRank by power iteration (Gasteiger et al. 2019, eq. 5).
	PPR Rule = "ppr"
	// SAGE is H⁽ˡ⁾ = D̃⁻¹(A+I)H⁽ˡ⁻¹⁾: the mean over the neighbours and the node itself (Hamilton et al. 2017).
	SAGE Rule = "sage"
)

// step defines a rule: P of H⁽ˡ⁾ = (1−β)·P·H⁽ˡ⁻¹⁾ + β·X, and whether β is Teleport or 0.
type step struct {
	operator  func(a *mat.CSR, degrees []float64) graph.Operator
	teleports bool
}

var rules = registry.New[step]("propagation rule").
	With(string(SGC), step{operator: graph.SymmetricOf}).
	With(string(PPR), step{operator: graph.SymmetricOf, teleports: true}).
	With(string(SAGE), step{operator: graph.MeanOf})

// Rules returns the rules, the default first, in a new slice.
func Rules() []Rule {
	names := rules.Names()
	list := make([]Rule, len(names))
	for i, name := range names {
		list[i] = Rule(name)
	}
	return list
}

// MaxHops is the largest number of hops. Features are practically constant long before.
const MaxHops = 1000

// Propagation describes the computation: the rule, the number of hops and the parameter of the rule.
type Propagation struct {
	// Rule is one of Rules.
	Rule Rule
	// Hops is K, the number of hops, from 0 to MaxHops. 0 leaves the features as they are.
	Hops int
	// Teleport is β in (0, 1], the share of the node's own features in each hop of PPR. Other rules ignore it.
	Teleport float64
}

// Validate returns an error that names the field of p that is out of range, its value and its bounds.
func (p Propagation) Validate() error {
	if !slices.Contains(Rules(), p.Rule) {
		_, err := rules.Find(string(p.Rule))
		return err
	}
	if p.Hops < 0 {
		return fmt.Errorf("hops %d, must be at least 0", p.Hops)
	}
	if p.Hops > MaxHops {
		return fmt.Errorf("hops %d, must be at most %d", p.Hops, MaxHops)
	}
	if p.Rule == PPR && !(p.Teleport > 0 && p.Teleport <= 1) {
		return fmt.Errorf("teleport %v, must be above 0 and at most 1", p.Teleport)
	}
	return nil
}

// Step returns P and β of one hop, H⁽ˡ⁾ = (1−β)·P·H⁽ˡ⁻¹⁾ + β·X, over in.Adj. β is 0 unless the rule is PPR. p must be
// valid.
func (in Input) Step(p Propagation) (operator graph.Operator, beta float32) {
	s, err := rules.Find(string(p.Rule))
	if err != nil {
		panic(fmt.Sprintf("propagate: %v", err))
	}
	if s.teleports {
		beta = float32(p.Teleport)
	}
	return s.operator(in.Adj, in.Degrees), beta
}

// Input is the data from which embeddings are computed, and the nodes for which they are computed.
type Input struct {
	// Adj is A, n×n, as in graph.Graph.Adj: symmetric, without self-loops, columns ascending.
	Adj *mat.CSR
	// X holds the features, n×d.
	X mat.Matrix
	// Rows lists the nodes whose embeddings are requested, in any order.
	Rows []int32
	// Classes holds the class of each of Rows, at least 0, or is nil. It is a hint: an engine may order its work by class.
	// The result does not depend on it.
	Classes []int32
	// Degrees holds Σ_j A_ij of each node, or is nil if they follow from Adj. With degrees, Adj may lack the rows of nodes
	// that are K hops or more from Rows: a worker then holds only the part of a large graph that it needs.
	Degrees []float64
	// Last says that only H⁽ᴷ⁾ is needed. Views of the other hops may then be empty.
	Last bool
	// Mapped says that Adj and X are in a file that is mapped into memory, like graph.Graph.Mapped. It is also a hint.
	Mapped bool
}

// ByClass returns the position of each of Rows after a stable sort by class; nil without Classes. Engines that write
// embeddings to a file store the rows of a class together, because later steps read one class at a time.
func (in Input) ByClass() []int32 {
	if len(in.Classes) == 0 {
		return nil
	}
	members := make([][]int32, slices.Max(in.Classes)+1)
	for i, c := range in.Classes {
		members[c] = append(members[c], int32(i))
	}
	place, next := make([]int32, len(in.Classes)), int32(0)
	for _, rows := range members {
		for _, i := range rows {
			place[i] = next
			next++
		}
	}
	return place
}

// Validate returns an error if the sizes of in do not match, or if a row or a class is out of range. It reads only Rows
// and Classes. The caller must make sure that Adj is valid (graph.Graph.Check).
func (in Input) Validate() error {
	if in.Adj == nil || in.X == nil {
		return errors.New("no adjacency or no features (nil): the adjacency of a graph without edges has no entries")
	}
	n, _ := in.X.Dims()
	if in.Adj.Rows != n || in.Adj.Cols != n {
		return fmt.Errorf("adjacency is %d×%d for features of %d nodes", in.Adj.Rows, in.Adj.Cols, n)
	}
	for i, v := range in.Rows {
		if v < 0 || int(v) >= n {
			return fmt.Errorf("row %d is node %d, must be 0 to %d", i, v, n-1)
		}
	}
	if in.Degrees != nil && len(in.Degrees) != n {
		return fmt.Errorf("%d degrees for %d nodes", len(in.Degrees), n)
	}
	if in.Classes == nil {
		return nil
	}
	if len(in.Classes) != len(in.Rows) {
		return fmt.Errorf("%d classes for %d rows", len(in.Classes), len(in.Rows))
	}
	for i, c := range in.Classes {
		if c < 0 || c == math.MaxInt32 {
			return fmt.Errorf("class %d of row %d, must be 0 to %d", c, i, math.MaxInt32-1)
		}
	}
	return nil
}

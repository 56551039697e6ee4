package gnn

import (
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/mat"
)

// MemoryError is the error for a model whose test needs more than the memory limit.
type MemoryError struct {
	// Model is the name of the model. Need is the smallest limit that works, and Bound is the limit, both in bytes.
	Model       string
	Need, Bound int64
}

// Error states the limit and the memory that testing needs.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("the memory limit is %d bytes, must be at least %d to test %s", e.Bound, e.Need, e.Model)
}

// streaming is a Model with known memory needs that a stream can run.
type streaming interface {
	Model
	needs() needs
}

// needs describes which part of a graph determines the logits of a node.
type needs struct {
	// first and last are the filters of these layers, and middle those of the layers between them. Without a first layer,
	// as in GAT, each inference reads X itself, once for each of the heads. Without a last layer, the first layer gives
	// the logits.
	first, last []filter
	middle      [][]filter
	heads       int
	// hops is the largest distance at which features matter.
	hops int
	// rules are the propagations that the model uses.
	rules []rule
}

func (m *polynomial) needs() (n needs) {
	n.first = m.layers[0]
	if last := len(m.layers) - 1; last > 0 {
		n.middle, n.last = m.layers[1:last], m.layers[last]
	}
	used := [rules]bool{}
	for _, f := range slices.Concat(m.layers...) {
		if f.degree() > 0 {
			used[f.rule] = true
		}
	}
	for r, is := range used {
		if is {
			n.rules = append(n.rules, rule(r))
		}
	}
	n.hops = n.reach() + degree(n.first)
	return n
}

func (m gat) needs() needs { return needs{hops: 2, heads: m.heads} }

// reach is the largest distance at which the first hidden units matter.
func (n needs) reach() int { return hopsOf(n.middle) + degree(n.last) }

// hopsOf returns the number of hops that the filters of all layers need together.
func hopsOf(layers [][]filter) (hops int) {
	for _, filters := range layers {
		hops += degree(filters)
	}
	return hops
}

// degree returns the largest degree of some filters.
func degree(filters []filter) (most int) {
	for _, f := range filters {
		most = max(most, f.degree())
	}
	return most
}

// lastLayer returns how many numbers the last layer keeps in memory if w of c classes are propagated together: the
// projections on the classes (one matrix for each filter, unless they are in a file), two steps of Horner's rule, and
// the logits. at returns the number of nodes within a given number of hops.
func (n needs) lastLayer(at func(hops int) int64, w, c int64) int64 {
	projections := int64(len(n.last))
	if w < c {
		projections = 1
	}
	hops := degree(n.last)
	return projections*at(hops)*w + 2*at(max(0, hops-1))*w + at(0)*(w+c)
}

// middleLayers returns the largest number of values that a layer between the first and the last keeps in memory for h
// hidden units: its input, the projections, two steps of Horner's rule, and its output.
func (n needs) middleLayers(at func(hops int) int64, h int64) (most int64) {
	for l, filters := range n.middle {
		hops := hopsOf(n.middle[l:]) + degree(n.last)
		most = max(most, int64(len(filters)+1)*at(hops)*h+3*at(hops-1)*h)
	}
	return most
}

// gatNumbers returns how many numbers GAT keeps in memory with h hidden units and c classes, one head after another.
func (n needs) gatNumbers(at func(hops int) int64, h, c int64) int64 {
	width := headWidth(h, int64(n.heads))
	return at(2)*(width+1) + at(1)*(width+2*c+1) + at(0)*c
}

// memory returns the bytes that testing m in memory within a limit needs, in addition to the graph. Validation and test
// keep separate memory. The result is 0 for a model whose memory needs are not known. memory searches for the nodes
// within the model's hops.
func (t *Target) memory(m Model, hidden int, limit int64) (bytes int64) {
	sm, ok := m.(streaming)
	if !ok {
		return 0
	}
	for _, s := range []*scope{t.validation, t.test} {
		room, units := roomWithin(limit)
		bytes += s.memory(sm.needs(), t.features, hidden, t.classes, int64(room), int64(units))
	}
	return bytes
}

// fits returns a *MemoryError with the smallest limit that works if testing m in memory needs more than t's limit.
func (t *Target) fits(m Model, hidden int) error {
	if t.bound == 0 {
		return nil
	}
	// Part of the need grows with the limit, up to keptNumbers and sparseUnits.
	least := budget.Least(t.bound, func(limit int64) int64 { return t.memory(m, hidden, limit) })
	if least == t.bound {
		return nil
	}
	return &MemoryError{Model: m.Name(), Need: least, Bound: t.bound}
}

// roomWithin returns the room and units of a scope within a memory limit; 0 means no limit.
func roomWithin(limit int64) (room, units int) {
	if limit == 0 {
		return keptNumbers, sparseUnits
	}
	return min(keptNumbers, int(limit/16)), min(sparseUnits, int(limit/64)) // at most four matrices of units
}

// memory implements Target.memory for one scope.
func (s *scope) memory(n needs, features, hidden, classes int, room, units int64) int64 {
	all, at := int64(s.adj.Rows), func(hops int) int64 { return int64(s.size(s.field(hops))) }
	d, h, c := int64(features), int64(hidden), int64(classes)
	numbers := 2 * all // the left and right factors of an operator
	if n.first == nil {
		width := headWidth(h, int64(n.heads))
		numbers += d * width // the weights of a head
		if _, sparse := s.x.(*mat.CSR); sparse {
			numbers += all * width // X times these
		}
		return 4 * (numbers + 4*all + n.gatNumbers(at, h, c))
	}
	numbers += all * int64(n.hops+1) // distances, and the positions of the nodes of each field
	width := c
	if len(n.last) > 0 {
		width = h
		numbers += n.lastLayer(at, c, c) + n.middleLayers(at, h) + blockRows*max(c, h)
	}
	filters, m := int64(len(n.first)), degree(n.first)
	if _, dense := s.x.(*mat.Dense); dense { // P·X, part of which is kept, and blocks of hidden units
		numbers += int64(max(0, m-1))*all*d + min(room, filters*at(n.reach())*d) + blockRows*(d+2*h)
	} else { // X·W and its propagation, for some units, and rows of a sparse X
		if x, sparse := s.x.(*mat.CSR); sparse {
			numbers += min(room, 2*int64(x.NNZ()))
		}
		width = min(width, max(16, units/max(1, all)/16*16))
		numbers += filters*all*width + int64(min(2, m))*at(n.reach()+max(0, m-1))*width + filters*at(n.reach())*width
	}
	return 4 * numbers
}

package gnn

import (
	"fmt"

	"github.com/graph-condensation/cgc/mat"
)

// MemoryError says that testing a model takes more than a bound on memory.
type MemoryError struct {
	// Model is the name of the model. Need is what testing it takes, and Bound the bound, in bytes.
	Model       string
	Need, Bound int64
}

// Error says what testing takes, and the bound.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("gnn: testing %s takes about %d bytes of memory, want a bound of at least that (it is %d)",
		e.Model, e.Need, e.Bound)
}

// Memory returns about how many bytes it takes to ask m, with so many hidden units, about the validation and test nodes
// of t, beside the graph. It is 0 if that is not known, or if the graph is larger than a bound on memory (Plan). Both
// questions keep their memory. It finds the nodes within some hops, which stay known to t.
func (t *Target) Memory(m Model, hidden int) int64 {
	if t.streams != nil {
		return 0
	}
	return t.validation.memory(m, t.features, hidden, t.classes) + t.test.memory(m, t.features, hidden, t.classes)
}

// memory returns Target.Memory for one scope.
func (s *scope) memory(m Model, features, hidden, classes int) int64 {
	n, at := int64(s.adj.Rows), func(hops int) int64 { return int64(s.size(s.field(hops))) }
	d, h, c := int64(features), int64(hidden), int64(classes)
	arrays := 2 * n // both sides of an operator, and the places and distances of the nodes of each field
	floats := int64(0)
	switch m := m.(type) {
	case *polynomial:
		hops, rest := 0, int64(0)
		if len(m.layers) > 1 {
			for _, f := range m.layers[1] {
				hops = max(hops, f.degree())
			}
			last := int64(len(m.layers[1]))
			rest = last*at(hops)*c + 2*at(max(0, hops-1))*c + 2*at(0)*c + blockRows*c
			h = min(h, max(16, int64(s.units)/max(1, n)/16*16))
		} else {
			h = c
		}
		degree, filters := 0, int64(len(m.layers[0]))
		for _, f := range m.layers[0] {
			degree = max(degree, f.degree())
		}
		if _, dense := s.x.(*mat.Dense); dense {
			floats = rest + int64(max(0, degree-1))*n*d + min(int64(s.room), filters*at(hops)*d) + blockRows*(d+2*int64(hidden))
		} else {
			h = min(h, max(16, int64(s.units)/max(1, n)/16*16))
			floats = rest + filters*n*h + int64(min(2, degree))*at(hops+max(0, degree-1))*h + filters*at(hops)*h
		}
		arrays += n * int64(hops+degree+1)
	case gat:
		width := (h + gatHeads - 1) / gatHeads
		floats = at(2)*(width+1) + at(1)*(width+2*c+1) + at(0)*c
		arrays += 4 * n
	default:
		return 0
	}
	return 4 * (floats + arrays)
}

package gnn

import (
	"errors"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/mat"
)

// Plan describes how a model is tested on a graph that is larger than the memory limit (TargetWithin), and what this
// costs. Sizes are in bytes.
type Plan struct {
	// Model is the name of the model, and Bound is the memory limit.
	Model string
	Bound int64
	// Memory is the memory that the process needs. The operating system can use the rest for cached pages of files.
	Memory int64
	// Columns is the number of feature columns that are propagated together, and Passes is the number of such blocks.
	// Element 0 is for the validation nodes, and element 1 is for the test nodes. Columns and Passes are 0 if no features
	// are copied to a temporary file.
	Columns, Passes [2]int
	// Classes is the number of classes that are propagated together when inferring the validation nodes and the test
	// nodes.
	Classes [2]int
	// Read is the number of bytes that are read from the graph's file before the first inference. Scratch is the number of
	// bytes that are written to temporary files. Each inference on the validation nodes reads Validation bytes of files,
	// and each inference on the test nodes reads Test bytes, unless they are still cached.
	Read, Scratch, Validation, Test int64
	// Seconds estimates the time before the first inference on two threads of an ordinary machine, without reading the
	// graph's file. ValidationSeconds and TestSeconds estimate the time of one inference.
	Seconds, ValidationSeconds, TestSeconds float64
}

// Plan returns how m, with the given number of hidden units, is tested on t. It is nil if t has no memory limit or its
// graph is not larger than the limit: the model is then tested in memory. A *MemoryError reports the smallest limit
// that works. Train does not check the limit of a model that is tested in memory, so call Plan before. Plan searches
// for the nodes within the model's hops, but reads no features.
func (t *Target) Plan(m Model, hidden int) (*Plan, error) {
	s := t.streams
	if s == nil {
		return nil, t.fits(m, hidden)
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	if shapes := m.Shapes(t.features, hidden, t.classes); len(shapes) > 0 {
		hidden = shapes[0].Cols
	}
	regions, memory, err := s.choose(m, hidden)
	large := new(MemoryError)
	if errors.As(err, &large) && large.Need > s.input && s.within != nil { // within that limit, m is tested in memory
		whole, err := s.within(large.Need)
		if err != nil {
			return nil, err
		}
		inMemory := new(MemoryError)
		if errors.As(whole.fits(m, hidden), &inMemory) {
			large.Need = inMemory.Need
		}
	}
	if err != nil {
		return nil, err
	}
	p := &Plan{Model: m.Name(), Bound: s.bound, Memory: memory}
	for i, r := range regions {
		if r == nil {
			continue
		}
		p.Columns[i], p.Passes[i], p.Classes[i] = r.columns, r.passes(), r.classes
		before := r.preparing()
		p.Read, p.Scratch, p.Seconds = p.Read+before.read, p.Scratch+before.written, p.Seconds+before.seconds()
		one := r.inference()
		if i == forTest {
			p.Test, p.TestSeconds = one.read, one.seconds()
		} else {
			p.Validation, p.ValidationSeconds = one.read, one.seconds()
		}
	}
	return p, nil
}

// choose returns, for the validation nodes and the test nodes, the largest blocks of columns and of classes with which
// testing m stays within the limit. A region is nil if there are no such nodes. Blocks are halved until they fit.
// memory is what the process then needs, in bytes,
//
//	process + input/512 + limit/16 + Σ held + max(finding, propagating, asking),
//
// where input/512 is for the tables of mapped pages, and limit/16 is for the pages that are being read. held is what
// both regions keep between inferences, and the maximum is over the steps of both regions.
func (t *streams) choose(m Model, hidden int) (regions [2]*region, memory int64, err error) {
	sm, ok := m.(streaming)
	if !ok {
		return regions, 0, fmt.Errorf("the memory that model %s needs on a graph larger than the limit (%d bytes) is "+
			"not known, must be one of cgc's models or a limit above %d", m.Name(), t.bound, t.input)
	}
	fixed := t.process + budget.Mapped(t.input)
	for i, s := range t.parts {
		if !s.of.empty() {
			regions[i] = newRegion(s, sm.needs(), hidden)
			fixed += regions[i].held()
		}
	}
	room, most := t.bound-budget.Reading(t.bound)-fixed, int64(0)
	for _, r := range regions {
		if r != nil {
			r.cut(room)
			most = max(most, r.finding(), r.propagating(r.columns), r.asking(r.classes))
		}
	}
	if most > room {
		least := (16*(fixed+most) + 14) / 15 // 15/16 of the limit are for the model
		return regions, 0, &MemoryError{Model: m.Name(), Need: least, Bound: t.bound}
	}
	return regions, fixed + most + budget.Reading(t.bound), nil
}

// empty reports whether no logits are requested.
func (s *scope) empty() bool { return s.adj.Rows == 0 || s.rows != nil && len(s.rows) == 0 }

// region is the part of a graph that a stream needs for inference with a model, and the blocks into which the work is
// divided.
type region struct {
	needs
	target           *streams
	of               *scope
	extent           *extent
	hidden           int
	whole            bool  // the part is the full graph
	nodes            int64 // the number of nodes in the part
	columns, classes int   // in a block; columns is 0 if no P·X is copied
}

func newRegion(s *stream, n needs, hidden int) *region {
	s.extent.grow(s.of.adj, s.of.rows, n.hops)
	r := &region{needs: n, target: s.target, of: s.of, extent: &s.extent, hidden: hidden}
	r.whole, r.nodes = s.of.mostly(&s.extent, n.hops), s.extent.nodes[n.hops]
	if r.whole {
		r.nodes = int64(s.of.adj.Rows)
	}
	return r
}

// cut chooses the largest blocks that need at most room bytes.
func (r *region) cut(room int64) {
	if slices.ContainsFunc(r.first, r.copied) {
		r.columns = r.target.features
		if panel := mat.PanelWidth(r.of.x); panel > 0 {
			r.columns = min(r.columns, max(panel, widestBlock/panel*panel))
		}
		for r.columns > 1 && r.propagating(r.columns) > room {
			r.columns = (r.columns + 1) / 2
		}
	}
	r.classes = r.target.classes
	for len(r.last) > 0 && r.classes > 1 && r.asking(r.classes) > room {
		r.classes = (r.classes + 1) / 2
	}
}

// If the features are stored in panels, a block has at most widestBlock columns, or one panel. Each panel is read only
// once anyway, so wider blocks gain nothing.
const widestBlock = 64

// passes returns the number of blocks of columns.
func (r *region) passes() int {
	if r.columns == 0 {
		return 0
	}
	return (r.target.features + r.columns - 1) / r.columns
}

// at returns how many nodes inference uses within the given number of hops. Like scope.field, it counts all nodes of
// the graph if nearly all are within that number of hops.
func (r *region) at(hops int) int64 {
	within, all := r.extent.nodes[hops], r.of.adj.Rows
	if r.whole && nearlyAll(within, all) {
		return int64(all)
	}
	return within
}

// copied reports whether P·X for a filter of the first layer is copied into a file. X itself is not copied if reading
// it from the file of the graph takes fewer bytes.
func (r *region) copied(f filter) bool {
	return f.degree() > 0 || 4*r.at(r.reach())*int64(r.target.features) <= budget.Features(r.of.x)
}

// spilled returns how many numbers are stored in a file during inference: the projections on the classes, or none if
// all classes are propagated together.
func (r *region) spilled() int {
	if r.classes == r.target.classes {
		return 0
	}
	return int(r.at(degree(r.last))) * r.target.classes * len(r.last)
}

// held returns the bytes that stay in memory between inferences: degrees, nodes, pointers, and the nodes of each field
// with their positions. Entries of the adjacency are in a file.
func (r *region) held() int64 {
	bytes := 4 * r.nodes * int64(len(r.rules))
	if !r.whole {
		bytes += 12 * r.nodes
	} else if r.of.rows != nil {
		bytes += 4 * r.nodes // distances, which the search for fields keeps
	}
	for hops := range r.hops {
		if size := r.at(hops); size < r.nodes {
			bytes += 4 * (size + r.nodes)
		}
	}
	return bytes
}

// finding returns the bytes that are needed to find the nodes of a part: distances, and arrays that are kept until the
// part is built.
func (r *region) finding() int64 {
	if r.whole {
		return 0
	}
	return 4*int64(r.of.adj.Rows) + 9*r.nodes
}

// propagating returns the bytes that are needed to propagate the given number of columns of X.
func (r *region) propagating(columns int) int64 {
	values := r.nodes
	if m := degree(r.first); m > 1 {
		values += int64(m-1)*r.at(r.hops-1) + r.at(r.reach())
	}
	return 4 * values * int64(columns)
}

// asking returns the bytes that inference needs if the given number of classes are propagated together.
func (r *region) asking(classes int) int64 {
	d, h, c := int64(r.target.features), int64(r.hidden), int64(r.target.classes)
	if r.first == nil {
		return 4 * (r.gatNumbers(r.at, h, c) + min(blockRows, r.at(2))*d)
	}
	values := min(blockRows, r.at(r.reach())) * (d + 2*h + c) // a block of features, hidden units and logits
	if r.last == nil {
		return 4 * (values + r.at(0)*c)
	}
	return 4 * (values + r.middleLayers(r.at, h) + r.lastLayer(r.at, int64(classes), c))
}

// work counts the cost of a step: bytes read from files and written to them, bytes gathered from random memory
// addresses, and floating-point operations of products.
type work struct{ read, written, gathered, products int64 }

// seconds estimates the time of w at the rates of an ordinary machine. Reading is not counted, because the operating
// system caches what was read before if there is room.
func (w work) seconds() float64 {
	return float64(w.written)/budget.Disk + float64(w.gathered)/budget.Gather + float64(w.products)/budget.Products
}

// preparing returns the work before the first inference: finding the nodes, copying their rows, and propagating X.
func (r *region) preparing() (w work) {
	d, adjacency := int64(r.target.features), budget.Entry(r.of.adj)*int64(r.of.adj.NNZ())
	w.read = adjacency
	if !r.whole {
		w.read += 2 * adjacency
		w.written = budget.Entry(r.of.adj) * r.extent.entries[r.hops-1]
	}
	if r.columns == 0 {
		return w
	}
	panel := mat.PanelWidth(r.of.x)
	if panel == 0 {
		panel = r.target.features
	}
	w.read += budget.Features(r.of.x) * int64((panel+r.columns-1)/r.columns) // a panel is read again for each block
	if r.whole {
		w.read += adjacency * int64(degree(r.first)*r.passes())
	}
	for _, f := range r.first {
		if r.copied(f) {
			w.written += 4 * r.at(r.reach()) * d
		}
		if f.degree() > 0 {
			w.gathered += 4 * d * r.extent.entries[r.hops-1]
		}
	}
	return w
}

// inference returns the work of one inference.
func (r *region) inference() (w work) {
	d, c, h := int64(r.target.features), int64(r.target.classes), int64(r.hidden)
	near := r.at(r.reach())
	if r.first == nil { // gat reads X for each head
		w.read = int64(r.heads) * budget.Features(r.of.x)
		w.products = 2*r.at(2)*d*h + 2*near*h*c
		w.gathered = 4 * r.extent.entries[1] * h
	}
	for _, f := range r.first {
		if r.copied(f) {
			w.read += 4 * near * d
		} else {
			w.read += budget.Features(r.of.x)
		}
		w.products += 2 * near * d * h
	}
	blocks := int64((r.target.classes + r.classes - 1) / r.classes)
	for l, filters := range r.middle {
		from := hopsOf(r.middle[l+1:]) + degree(r.last)
		for _, f := range filters {
			w.products += 2 * r.at(from+degree(filters)) * h * h
			w.propagate(r, f, from, h, 1)
		}
	}
	for _, f := range r.last {
		w.products += 2 * r.at(degree(r.last)) * h * c
		w.propagate(r, f, 0, c, blocks)
	}
	w.read += 2 * 4 * int64(r.spilled()) // written to the file once and read once
	return w
}

// propagate adds the work of a filter on the given number of columns, in blocks, at the nodes within some hops.
func (w *work) propagate(r *region, f filter, hops int, columns, blocks int64) {
	for j := range f.degree() {
		w.gathered += 4 * r.extent.entries[hops+j] * columns
		if r.whole {
			w.read += budget.Entry(r.of.adj) * int64(r.of.adj.NNZ()) * blocks
		}
	}
}

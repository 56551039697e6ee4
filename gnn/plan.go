package gnn

import (
	"fmt"

	"github.com/graph-condensation/cgc/mat"
)

// Plan is what it takes to ask a model about the validation and test nodes of a graph that is larger than a bound on
// memory (Within). Sizes are in bytes.
type Plan struct {
	// Model is the name of the model, Bound the bound on memory.
	Model string
	Bound int64
	// Memory is what the process needs. The system keeps pages of files in what is left.
	Memory int64
	// Columns is how many columns of the features are propagated at a time, and Passes how many times that is done, for
	// the validation nodes and for the test nodes. 0 if the model propagates no features.
	Columns, Passes [2]int
	// Classes is how many classes are propagated at a time in a question about each.
	Classes [2]int
	// Read is how many bytes are read from the graph's file before the first questions, and Scratch how many are written
	// to temporary files. Each question about the validation nodes reads Question bytes of files, unless the system has
	// kept them, and the question about the test nodes Test.
	Read, Scratch, Question, Test int64
	// Seconds is about how long the work before the first questions takes on two threads of an ordinary machine, and
	// QuestionSeconds and TestSeconds how long a question takes.
	Seconds, QuestionSeconds, TestSeconds float64
}

// The rates of an ordinary machine: bytes a second from a disk and from random places of memory, operations a second of
// products.
const (
	diskRate    = 1e9
	gatherRate  = 1e10
	productRate = 1e11
)

// process is the memory of a process that has not begun to work, with the pages of its program and of a sample.
const process = 48 << 20

// cut is how the work of a model is cut up within a bound.
type cut struct {
	need             int64
	inFile           bool // copies of entries of the adjacency go into files
	validation, test share
}

// of returns the share of a stream.
func (c cut) of(s *stream) share {
	if s == s.target.test {
		return c.test
	}
	return c.validation
}

// share is how the questions about one scope are cut up.
type share struct {
	columns, classes int
	spilled          bool  // the projections on classes wait in a file
	spill            int64 // of so many bytes
}

// cut returns how the work of m is cut up. The error says how much memory is needed, if that is more than the bound.
func (t *streams) cut(m Model, hidden int) (c cut, err error) {
	sm, ok := m.(streaming)
	if !ok {
		return c, fmt.Errorf("gnn: what model %s takes on a graph larger than the bound on memory (%d bytes) is not known, "+
			"want one of cgc's models or a bound above %d", m.Name(), t.bound, t.input)
	}
	n := sm.needs()
	for _, s := range []*stream{t.validation, t.test} {
		s.extent.grow(s.of.adj, s.of.rows, n.hops)
	}
	for _, inFile := range []bool{false, true} {
		if c = t.within(n, hidden, t.bound, inFile); c.need <= t.bound {
			return c, nil
		}
	}
	least := c.need
	for range 100 { // part of the need grows with the bound
		if c = t.within(n, hidden, least, true); c.need <= least {
			break
		}
		least = c.need
	}
	return c, &MemoryError{Model: m.Name(), Need: least, Bound: t.bound}
}

// within returns how the work of a model is cut up within a bound, or what little it needs if it does not fit. inFile
// says that copies of entries go into files. The extents are known.
func (t *streams) within(n needs, hidden int, bound int64, inFile bool) (c cut) {
	c.inFile = inFile
	base := t.process + t.input/512 + bound/16 // with the tables of its pages, and room for those that are being read
	for _, s := range []*stream{t.validation, t.test} {
		base += s.held(n, inFile)
	}
	room := bound - base
	for _, s := range []*stream{t.validation, t.test} {
		if s.of.empty() {
			continue
		}
		here, least := s.share(n, hidden, room)
		c.need = max(c.need, base+least)
		if s == t.test {
			c.test = here
		} else {
			c.validation = here
		}
	}
	return c
}

// empty reports whether nothing is asked for.
func (s *scope) empty() bool { return s.adj.Rows == 0 || s.rows != nil && len(s.rows) == 0 }

// size returns how many nodes within some hops inference of n sees.
func (s *stream) size(n needs, hops int) int64 {
	within, all := s.extent.nodes[hops], int64(s.of.adj.Rows)
	if s.of.mostly(&s.extent, n.hops) && 10*within >= 9*all {
		return all
	}
	return within
}

// nodes returns how many nodes the part has.
func (s *stream) nodes(n needs) int64 {
	if s.of.mostly(&s.extent, n.hops) {
		return int64(s.of.adj.Rows)
	}
	return s.extent.nodes[n.hops]
}

// entryBytes returns the bytes of the entries that the part has a copy of.
func (s *stream) entryBytes(n needs) int64 {
	if s.of.mostly(&s.extent, n.hops) {
		return 0
	}
	bytes := 4 * s.extent.entries[n.hops-1]
	if s.of.adj.Data != nil {
		bytes *= 2
	}
	return bytes
}

// held returns the bytes that the part keeps in memory between questions, and what its making takes.
func (s *stream) held(n needs, inFile bool) int64 {
	if s.of.empty() {
		return 0
	}
	all, here := int64(s.of.adj.Rows), s.nodes(n)
	bytes := 4 * here * int64(len(n.rules))
	if !s.of.mostly(&s.extent, n.hops) {
		bytes += 8*here + 4*here // pointers, nodes
		if !inFile {
			bytes += s.entryBytes(n)
		}
	} else if s.of.rows != nil {
		bytes += 4 * all // the distances, which the search for fields keeps
	}
	for j := range n.hops {
		if size := s.size(n, j); size < here {
			bytes += 4 * (size + here) // the nodes, and their places
		}
	}
	return bytes
}

// share returns how the questions are cut up so that they take at most room bytes beside what is held, and how many
// they take.
func (s *stream) share(n needs, hidden int, room int64) (here share, least int64) {
	d, c := s.target.features, s.target.classes
	if !s.of.mostly(&s.extent, n.hops) {
		least = 4*int64(s.of.adj.Rows) + 9*s.nodes(n) // to find the part
	}
	panel := mat.PanelWidth(s.of.x)
	if n.first != nil && s.copies(n) {
		per := s.column(n)
		here.columns = widthFor(int(min(room/per, int64(d))), panel, d)
		least = max(least, per*int64(here.columns))
	}
	here.classes = c
	if bytes := s.question(n, hidden, c, false); bytes <= room || len(n.last) == 0 {
		return here, max(least, bytes)
	}
	here.spilled, here.spill = true, 4*s.size(n, n.reach())*int64(c*len(n.last))
	one, two := s.question(n, hidden, 1, true), s.question(n, hidden, 2, true)
	here.classes = int(min(max(1, 1+(room-one)/(two-one)), int64(c)))
	return here, max(least, s.question(n, hidden, here.classes, true))
}

// widthFor returns how many columns of d are propagated at a time if most of them fit: whole panels if a panel fits.
// It is at least 1.
func widthFor(most, panel, d int) int {
	const widest = 64 // wider blocks of panels gain nothing: each panel is read once anyway
	switch {
	case panel == 0 || panel >= d: // each pass reads all of X
		passes := (d + max(1, most) - 1) / max(1, most)
		return (d + passes - 1) / passes
	case most >= panel:
		return min(most, max(widest, panel)) / panel * panel
	}
	most = max(1, most)
	for panel%most != 0 {
		most--
	}
	return most
}

// copies reports whether any filter of the first layer puts P·X into a file.
func (s *stream) copies(n needs) bool {
	return degree(n.first) > 0 || !s.fromFile(int(s.size(n, n.reach())))
}

// column returns the bytes that the propagation of a column of X takes.
func (s *stream) column(n needs) int64 {
	values := s.nodes(n)
	if m := degree(n.first); m > 1 {
		values += int64(m-1)*s.size(n, n.hops-1) + s.size(n, n.reach())
	}
	return 4 * values
}

// question returns the bytes that a question takes if so many classes are propagated at a time. spilled says that the
// projections wait in a file. If the model has no filters, it is gat.
func (s *stream) question(n needs, hidden, classes int, spilled bool) int64 {
	d, c, w := int64(s.target.features), int64(s.target.classes), int64(classes)
	at := func(hops int) int64 { return s.size(n, hops) }
	h := int64(hidden)
	if n.first == nil {
		width := h / gatHeads
		return 4 * (at(2)*(width+1) + at(1)*(width+2*c+1) + at(0)*c + min(blockRows, at(2))*d)
	}
	block := min(blockRows, at(n.reach())) // nodes whose hidden units are made at a time
	if n.last == nil {
		return 4 * (at(0)*c + block*(d+2*c))
	}
	values := at(0)*c + block*(d+2*h+c)
	if spilled {
		values += at(n.reach()) * w
	} else {
		values += at(n.reach()) * w * int64(len(n.last))
	}
	m := n.reach()
	if m > 0 {
		values += at(m-1) * w // a step of the last filter
	}
	if m > 1 {
		values += at(m-1) * w // the step before
	}
	for _, f := range n.last {
		if f.degree() > 0 && f.c[0] != 0 {
			values += at(m-1) * w // what it adds
			break
		}
	}
	if len(n.last) > 1 {
		values += at(0) * w
	}
	return 4 * values
}

// Plan returns what it takes to ask m, with so many hidden units, about the nodes of t. It is nil if t has no bound on
// memory or if the graph is not larger. The error says how much memory is needed, if that is more than the bound. It
// finds the nodes within some hops, and reads no features.
func (t *Target) Plan(m Model, hidden int) (*Plan, error) {
	s := t.streams
	if s == nil {
		return nil, nil
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	if shapes := m.Shapes(t.features, hidden, t.classes); len(shapes) > 0 {
		hidden = shapes[0].Cols
	}
	c, err := s.cut(m, hidden)
	if err != nil {
		return nil, err
	}
	n := m.(streaming).needs()
	p := &Plan{Model: m.Name(), Bound: s.bound, Memory: c.need}
	for i, part := range []*stream{s.validation, s.test} {
		if part.of.empty() {
			continue
		}
		here := c.of(part)
		p.Columns[i], p.Classes[i] = here.columns, here.classes
		if here.columns > 0 {
			p.Passes[i] = (s.features + here.columns - 1) / here.columns
		}
		part.tell(n, hidden, here, p, c.inFile, i == 1)
	}
	return p, nil
}

// tell adds to p what the questions of s take.
func (s *stream) tell(n needs, hidden int, here share, p *Plan, inFile, test bool) {
	d, c, h := int64(s.target.features), int64(s.target.classes), int64(hidden)
	near, whole := s.size(n, n.reach()), s.of.mostly(&s.extent, n.hops)
	adjacency := 4 * int64(len(s.of.adj.Indices)+len(s.of.adj.Data))
	p.Read += adjacency // to find the nodes
	if !whole {
		p.Read += 2 * adjacency // to find them again, and to copy their rows
		if inFile {
			p.Scratch += s.entryBytes(n)
		}
	}
	var question, products, gathered int64
	for _, f := range n.first {
		if f.degree() == 0 && s.fromFile(int(near)) {
			question += bytesOf(s.of.x)
		} else {
			question += 4 * near * d
			p.Scratch += 4 * near * d
		}
		products += 2 * near * d * h
		if f.degree() > 0 && n.hops > 0 {
			lines := (int64(here.columns) + 15) / 16 * int64(max(1, p.passes(test)))
			p.Seconds += float64(64*lines*s.extent.entries[n.hops-1]) / gatherRate
		}
	}
	if here.columns > 0 {
		panel := mat.PanelWidth(s.of.x)
		if panel == 0 {
			panel = int(d)
		}
		for lo := 0; lo < int(d); lo += here.columns {
			hi := min(lo+here.columns, int(d))
			p.Read += bytesOf(s.of.x) / d * int64((hi+panel-1)/panel*panel-lo/panel*panel)
			if whole {
				p.Read += adjacency * int64(degree(n.first))
			}
		}
	}
	if n.first == nil { // gat: a head at a time
		question += gatHeads * bytesOf(s.of.x)
		far := s.size(n, 2)
		products += 2*far*d*h + 2*near*h*c
		gathered += 4 * s.extent.entries[1] * h
	}
	for _, f := range n.last {
		products += 2 * near * h * c
		for j := range f.degree() {
			blocks := (c + int64(here.classes) - 1) / int64(here.classes)
			gathered += 4 * s.extent.entries[j] * c
			if whole {
				question += adjacency * blocks
			}
		}
	}
	question += 2 * here.spill
	seconds := float64(products)/productRate + float64(gathered)/gatherRate
	if test {
		p.Test, p.TestSeconds = question, seconds
	} else {
		p.Question, p.QuestionSeconds = question, seconds
	}
	p.Seconds += float64(p.Scratch) / diskRate
}

// passes returns how often columns are propagated for the validation nodes or the test nodes.
func (p *Plan) passes(test bool) int {
	if test {
		return p.Passes[1]
	}
	return p.Passes[0]
}

// bytesOf returns the bytes of features in a file.
func bytesOf(x mat.Matrix) int64 {
	n, d := x.Dims()
	per := 4
	if p, ok := x.(*mat.Panels); ok {
		per = p.Storage().Bytes()
	}
	return int64(per) * int64(n) * int64(d)
}

package gnn

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// stream answers questions about a scope whose graph lies in a mapped file and is larger than a bound on memory.
//
// Of the graph, only the nodes within some hops of the rows matter: scope.closure. What a first layer propagates, P·X,
// does not depend on weights. So it is computed once, some columns of X at a time, and kept in a temporary file in
// panels of these columns. Each question then reads that file once, in order. If the projections on all classes do not
// fit either, they wait in another file, and are propagated some classes at a time.
type stream struct {
	target *streams
	of     *scope
	name   string // of the stage, for progress
	extent extent

	model  Model  // which the part is for
	part   *scope // nil if no model has asked yet
	hidden int
	files  files
}

// streams is what the streams of a target share.
type streams struct {
	bound             int64
	process           int64 // the memory of a process that has not begun to work
	input             int64 // the bytes of the mapped file that the graph lies in
	features, classes int
	validation, test  *stream

	asking sync.Mutex // one question at a time keeps to the bound
}

// streaming is a Model whose questions a stream can answer.
type streaming interface {
	Model
	// needs says what of a graph decides the logits of a node.
	needs() needs
}

// needs says what of a graph decides the logits of a node.
type needs struct {
	// first and last are the filters of the layers. Without a first layer, X itself is read, in each question anew.
	// Without a last one, the first is it.
	first, last []filter
	// hops is how far away features matter.
	hops int
	// rules are the propagations.
	rules []rule
}

func (m *polynomial) needs() (n needs) {
	n.first = m.layers[0]
	if len(m.layers) > 1 {
		n.last = m.layers[1]
	}
	used := [rules]bool{}
	for _, f := range append(append([]filter{}, n.first...), n.last...) {
		if f.degree() > 0 {
			used[f.rule()] = true
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

func (gat) needs() needs { return needs{hops: 2} }

// reach is how far away hidden units matter.
func (n needs) reach() int { return degree(n.last) }

// degree returns the largest degree of some filters.
func degree(filters []filter) (most int) {
	for _, f := range filters {
		most = max(most, f.degree())
	}
	return most
}

// infer answers a question of v.
func (s *stream) infer(ctx context.Context, v *View, m Model, parameters []*mat.Dense) (*mat.Dense, error) {
	s.target.asking.Lock()
	defer s.target.asking.Unlock()
	hidden := parameters[0].Cols
	if s.part == nil || s.model.Name() != m.Name() || s.hidden != hidden {
		v.work = workspace{} // what it holds has no place beside the work to come
		if err := s.prepare(ctx, m, hidden); err != nil {
			s.release()
			return nil, err
		}
	}
	own := View{scope: s.part, work: v.work}
	z, err := own.infer(ctx, m, parameters)
	v.work = own.work
	return z, err
}

// release forgets the part and gives back its files.
func (s *stream) release() {
	s.part, s.model = nil, nil
	s.files.free()
}

// prepare makes the part of the graph that m asks about, and P·X there.
func (s *stream) prepare(ctx context.Context, m Model, hidden int) error {
	s.release()
	cut, err := s.target.cut(m, hidden)
	if err != nil {
		return err
	}
	n := m.(streaming).needs()
	progress.Report(ctx, progress.Event{Stage: "find what " + s.name + " needs"})
	end := memory.InOrder(s.of.adj.Indices)
	part, nodes, err := s.of.closure(&s.extent, n.hops, n.rules, &s.files, cut.inFile)
	if err != nil {
		return err
	}
	if nodes != nil {
		end()
	}
	debug.FreeOSMemory()
	here := cut.of(s)
	part.x = rowsIn{s.of.x, nodes}
	if nodes == nil {
		part.x = s.of.x
	}
	if n.first != nil {
		progress.Report(ctx, progress.Event{Stage: "propagate for " + s.name})
		if err := s.propagate(ctx, part, n, here.columns); err != nil {
			return err
		}
		part.ready = true
	}
	if here.spilled {
		if part.file, err = s.files.numbers(int(here.spill / 4)); err != nil {
			return err
		}
		part.classes = here.classes
	}
	s.model, s.hidden, s.part = m, hidden, part
	debug.FreeOSMemory()
	progress.Report(ctx, progress.Event{Stage: "train " + m.Name()})
	return ctx.Err()
}

// propagate puts P·X for the filters of the first layer into part.kept, computed by width columns at a time.
func (s *stream) propagate(ctx context.Context, part *scope, n needs, width int) error {
	hops := n.reach()
	near := part.field(hops)
	rows, d := part.size(near), s.target.features
	defer mat.InOrder(s.of.x)()
	made := make([]*kept, 0, len(n.first))
	panels := make([][][]float32, len(n.first))
	for k, f := range n.first {
		x := kept{filter: f, hops: hops}
		if f.degree() == 0 && s.fromFile(rows) {
			x.px = rowsIn{part.x, near.nodes}
			if near.nodes == nil {
				x.px = part.x
			}
		} else {
			data, err := s.files.numbers(rows * d)
			if err != nil {
				return err
			}
			for lo := 0; lo < d; lo += width {
				panels[k] = append(panels[k], data[rows*lo:rows*min(lo+width, d)])
			}
			if x.px, err = mat.FloatPanels(rows, d, width, panels[k]); err != nil {
				return fmt.Errorf("gnn: %w", err)
			}
		}
		made = append(made, &x)
	}
	v, block := part.view(), new(mat.Dense)
	for lo := 0; lo < d && degree(n.first) >= 0 && anyOf(panels); lo += width {
		hi := min(lo+width, d)
		if err := mat.ReadColumns(ctx, block, part.x, nil, lo, hi); err != nil {
			return fmt.Errorf("gnn: reading features: %w", err)
		}
		for k, f := range n.first {
			if panels[k] == nil {
				continue
			}
			v.work.reset()
			from, err := v.features(ctx, block, f, hops)
			if err != nil {
				return err
			}
			to := mat.Dense{Data: panels[k][lo/width]}
			got, err := v.read(ctx, &to, from, 0, rows)
			if err != nil {
				return err
			}
			if len(got.Data) > 0 && &got.Data[0] != &panels[k][lo/width][0] {
				copy(panels[k][lo/width], got.Data)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for _, x := range made {
		part.kept = append(part.kept, *x)
	}
	part.keep = true
	return nil
}

// fromFile reports whether X at so many nodes is better read from the file of the graph than copied.
func (s *stream) fromFile(rows int) bool {
	return 4*int64(rows)*int64(s.target.features) > bytesOf(s.of.x)
}

// anyOf reports whether some filter has panels.
func anyOf(panels [][][]float32) bool {
	for _, p := range panels {
		if p != nil {
			return true
		}
	}
	return false
}

// rowsIn is some rows of a matrix.
type rowsIn struct {
	of   mat.Matrix
	rows []int32
}

// Dims implements mat.Matrix.
func (r rowsIn) Dims() (rows, cols int) {
	_, cols = r.of.Dims()
	return len(r.rows), cols
}

// ReadBlock implements mat.Matrix.
func (r rowsIn) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	there := make([]int32, len(rows))
	for i, v := range rows {
		there[i] = r.rows[v]
	}
	return mat.Read(dst, r.of, there, lo, hi)
}

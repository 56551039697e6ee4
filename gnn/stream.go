package gnn

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// streams computes the logits of the validation nodes and the test nodes of a target whose graph is in a mapped file
// and larger than the memory limit.
type streams struct {
	bound             int64 // the memory limit
	process           int64 // the memory of a process that has not started to work
	input             int64 // the size of the graph in its mapped file, in bytes
	features, classes int
	parts             [2]*stream
	// within returns a target of the same graph within another limit; nil if the graph is read in order in any case.
	within func(bound int64) (*Target, error)

	asking sync.Mutex // inferences run one at a time, to stay within the limit
}

// These are the indices of streams.parts.
const (
	forValidation = iota
	forTest
)

// stream computes the logits of one scope.
//
// It copies the part of the graph within the model's reach of the rows (scope.closure). The propagated features P·X of
// the first layer do not depend on weights. They are therefore computed once, in blocks of columns, and kept in a
// temporary file with a panel for each block. Each inference then reads that file once, in order. If the projections on
// all classes do not fit in memory either, they are stored in another file, and are propagated in blocks of classes.
type stream struct {
	target *streams
	place  int // forValidation or forTest
	of     *scope
	extent extent

	model  Model  // the model for which the part was built
	part   *scope // nil before the first inference
	hidden int
	files  files
}

// name returns the split whose logits s computes, for progress reports.
func (s *stream) name() string { return [2]string{"validation", "test"}[s.place] }

// infer computes the logits for v.
func (s *stream) infer(ctx context.Context, v *View, m Model, parameters []*mat.Dense) (*mat.Dense, error) {
	s.target.asking.Lock()
	defer s.target.asking.Unlock()
	hidden := parameters[0].Cols
	if s.part == nil || s.model.Name() != m.Name() || s.hidden != hidden {
		v.work = workspace{} // to free memory for prepare
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

// release discards the part and its files.
func (s *stream) release() {
	s.part, s.model = nil, nil
	s.files.release()
}

// prepare builds the part of the graph that m needs, and computes P·X there.
func (s *stream) prepare(ctx context.Context, m Model, hidden int) error {
	s.release()
	regions, _, err := s.target.choose(m, hidden)
	if err != nil {
		return err
	}
	r := regions[s.place]
	progress.Report(ctx, progress.Event{Stage: "find what " + s.name() + " needs"})
	end := memory.InOrder(s.of.adj.Indices)
	part, nodes, err := s.of.closure(r, &s.files)
	if err != nil {
		return err
	}
	part.x = s.of.x
	if nodes != nil {
		end()
		part.x = mat.RowsOf(s.of.x, nodes)
	}
	debug.FreeOSMemory()
	if r.first != nil {
		progress.Report(ctx, progress.Event{Stage: "propagate for " + s.name()})
		if err := s.propagate(ctx, part, r); err != nil {
			return err
		}
		part.ready = true
	}
	part.classes = r.classes
	if part.spill, err = scratch[float32](&s.files, r.spilled()); err != nil {
		return err
	}
	s.model, s.hidden, s.part = m, hidden, part
	debug.FreeOSMemory()
	progress.Report(ctx, progress.Event{Stage: "train " + m.Name()})
	return ctx.Err()
}

// propagate puts P·X for each filter of the first layer into part.kept, in blocks of r.columns columns.
func (s *stream) propagate(ctx context.Context, part *scope, r *region) error {
	near := part.field(r.reach())
	rows, d := part.size(near), s.target.features
	defer paneled.InOrder(s.of.x)()
	type copied struct {
		filter filter
		to     *paneled.Matrix
	}
	var copies []copied
	for _, f := range r.first {
		px := part.x
		if r.copied(f) {
			to, err := s.files.panels(rows, d, r.columns)
			if err != nil {
				return err
			}
			px, copies = to, append(copies, copied{f, to})
		} else if near.nodes != nil {
			px = mat.RowsOf(part.x, near.nodes)
		}
		part.kept = append(part.kept, kept{f, r.reach(), px})
	}
	v, block := part.view(), new(mat.Dense)
	for k := range r.passes() {
		lo := k * r.columns
		if err := mat.ReadColumns(ctx, block, part.x, nil, lo, min(lo+r.columns, d)); err != nil {
			return fmt.Errorf("reading features: %w", err)
		}
		for _, c := range copies {
			v.work.reset()
			from, err := v.features(ctx, block, c.filter, r.reach())
			if err != nil {
				return err
			}
			panel := mat.Dense{Data: c.to.Floats(k)}
			got, err := v.read(ctx, &panel, from, 0, rows)
			if err != nil {
				return err
			}
			copy(c.to.Floats(k), got.Data) // both share memory, unless read used another buffer
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	part.keep = true
	return nil
}

package experiment

import (
	"context"
	"maps"
	"slices"

	"github.com/graph-condensation/cgc/progress"
)

// stages counts the pieces of work of each stage. Pieces of a stage take about the same time, so that listeners can
// estimate the remaining time. It is not safe for concurrent use.
type stages map[string]*struct{ done, total int64 }

// plan adds pieces to a stage, before anything is announced.
func (s stages) plan(stage string, pieces int) {
	if s[stage] == nil {
		s[stage] = &struct{ done, total int64 }{}
	}
	s[stage].total += int64(pieces)
}

// announce reports the number of pieces of each stage.
func (s stages) announce(ctx context.Context) {
	for _, stage := range slices.Sorted(maps.Keys(s)) {
		s.begin(ctx, stage)
	}
}

// begin reports that work on a stage starts. It reports nothing if the stage has no pieces, or if some have ended: the
// last report still holds.
func (s stages) begin(ctx context.Context, stage string) {
	if c := s[stage]; c != nil && c.total > 0 && c.done == 0 {
		progress.Report(ctx, progress.Event{Stage: stage, Total: c.total})
	}
}

// end counts a piece of a stage, and reports it.
func (s stages) end(ctx context.Context, stage string) {
	c := s[stage]
	c.done++
	progress.Report(ctx, progress.Event{Stage: stage, Done: c.done, Total: c.total})
}

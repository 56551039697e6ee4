package cli

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/confine"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate/blocked"
	"github.com/graph-condensation/cgc/report"
)

// planned is the plan of a propagation within a bound on memory, and what it came to.
type planned struct {
	// Bound is the bound on memory in bytes. Columns and Passes say how wide the blocks of columns are, and how many.
	Bound   int64 `json:"memory_bytes"`
	Columns int   `json:"columns"`
	Passes  int   `json:"passes"`
	// Expected is what was planned, Measured what it came to.
	Expected taken `json:"expected"`
	Measured taken `json:"measured"`
}

// taken is what a propagation takes.
type taken struct {
	// Memory is the memory of the process: expected, what it needs; measured, its largest resident set, with the pages of
	// mapped files that the system has kept.
	Memory int64 `json:"memory_bytes"`
	// Read is how many bytes are read from the graph's file, and Scratch how many are written to temporary files and
	// read again. What is measured is what came from disks and went to them, in Read all and in Scratch what was written.
	Read    int64 `json:"read_bytes"`
	Scratch int64 `json:"scratch_bytes"`
	// Seconds are those of the propagation.
	Seconds float64 `json:"seconds"`
}

// watch makes c print the plan of the first propagation within a bound on memory. rate is that of the graph's file in
// bytes a second, 0 if it is not known. The function that it returns completes the plan when the seconds are known; it
// returns nil if there was none.
func (c *command) watch(
	ctx context.Context, bound int64, rate float64,
) (watched context.Context, complete func(seconds float64) *planned) {
	if bound <= 0 {
		return ctx, func(float64) *planned { return nil }
	}
	var plan *planned
	var once sync.Once
	var readBefore, writtenBefore int64
	ctx = blocked.Watch(ctx, func(f blocked.Footprint) {
		once.Do(func() {
			plan = &planned{Bound: bound, Columns: f.Columns, Passes: f.Passes}
			plan.Expected = taken{Memory: f.Held, Read: f.Read, Scratch: f.Scratch, Seconds: f.Work}
			if f.Held == 0 {
				plan.Expected.Memory = f.Input + f.Sum()
			} else if rate > 0 {
				plan.Expected.Seconds += float64(f.Read+f.Scratch) / rate
			}
			readBefore, writtenBefore = confine.Transferred(os.Getpid())
			c.progress.note("%s", plan.sentence(f))
		})
	})
	return ctx, func(seconds float64) *planned {
		if plan == nil {
			return nil
		}
		read, written := confine.Transferred(os.Getpid())
		plan.Measured = taken{
			Memory: peakRSS(), Read: read - readBefore, Scratch: written - writtenBefore, Seconds: seconds,
		}
		return plan
	}
}

// sentence says what is planned.
func (p *planned) sentence(f blocked.Footprint) string {
	e := p.Expected
	said := fmt.Sprintf("plan within %s: blocks of %d columns, %d in all, %s of memory",
		report.Bytes(p.Bound), p.Columns, p.Passes, report.Bytes(e.Memory))
	if f.Held > 0 {
		said += fmt.Sprintf(", %s to read from the file", report.Bytes(e.Read))
	}
	if e.Scratch > 0 {
		said += fmt.Sprintf(", %s through temporary files", report.Bytes(e.Scratch))
	}
	said += fmt.Sprintf(", about %.2g s", e.Seconds)
	if e.Memory > p.Bound {
		said += fmt.Sprintf("; that is more than --memory, want at least %s", report.Bytes(e.Memory))
	}
	return said
}

// openedRate returns the bytes a second at which the file of a mapped graph was read when it was opened, in GB/s; 0 if
// the graph is not mapped.
func openedRate(g *graph.Graph, seconds float64) float64 {
	if !g.Mapped || seconds <= 0 {
		return 0
	}
	bytes := 8*len(g.Adj.Indptr) + 4*(len(g.Adj.Indices)+len(g.Adj.Data))
	if x, dense := g.X.(*mat.Dense); dense {
		bytes += 4 * len(x.Data)
	}
	return float64(bytes) / seconds / 1e9
}

// paragraph shows what was expected beside what was measured.
func (p *planned) paragraph() report.Paragraph {
	return report.Paragraph("propagation within " + report.Bytes(p.Bound) + ": " + p.Expected.shown("expected") + "; " +
		p.Measured.shown("measured"))
}

// shown puts what was taken into words.
func (t taken) shown(name string) string {
	return fmt.Sprintf("%s %.3g s, %s of memory, %s read, %s in temporary files", name, t.Seconds, report.Bytes(t.Memory),
		report.Bytes(t.Read), report.Bytes(t.Scratch))
}

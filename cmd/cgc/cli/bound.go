package cli

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/confine"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// planned is the plan of a propagation within a memory limit, together with its actual usage.
type planned struct {
	// Bound is the memory limit in bytes, Columns the width of a block of columns, and Passes the number of blocks.
	Bound   int64 `json:"memory_bytes"`
	Columns int   `json:"columns"`
	Passes  int   `json:"passes"`
	// Expected is the plan, Measured what the propagation used.
	Expected taken `json:"expected"`
	Measured taken `json:"measured"`
}

// taken is the resource usage of a propagation, expected or measured.
type taken struct {
	// Memory is the memory of the process. The measured value is the largest resident set, including pages of mapped
	// files.
	Memory int64 `json:"memory_bytes"`
	// Read is the number of bytes read from the graph's file, and Scratch the number written to temporary files and read
	// again. The measured values are all bytes that the process read from disks and wrote to them.
	Read    int64   `json:"read_bytes"`
	Scratch int64   `json:"scratch_bytes"`
	Seconds float64 `json:"seconds"`
}

// watch makes c print the plan of the first propagation within a memory limit. rate is the speed at which the graph's
// file is read, in bytes per second, or 0 if unknown. complete adds the elapsed seconds and the other measurements to
// the plan; it returns nil if there was no plan.
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
		said += fmt.Sprintf("; that is more than --memory, which must be at least %s", report.Bytes(e.Memory))
	}
	return said
}

// openedRate returns the speed at which the file of a mapped graph was read when it was opened, in GB/s; 0 if the graph
// is not mapped.
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

// paragraph shows the expected and the measured values.
func (p *planned) paragraph() report.Paragraph {
	return report.Paragraph("propagation within " + report.Bytes(p.Bound) + ": " + p.Expected.shown("expected") + "; " +
		p.Measured.shown("measured"))
}

// shown formats the values after the given name.
func (t taken) shown(name string) string {
	return fmt.Sprintf("%s %.3g s, %s of memory, %s read, %s in temporary files", name, t.Seconds, report.Bytes(t.Memory),
		report.Bytes(t.Read), report.Bytes(t.Scratch))
}

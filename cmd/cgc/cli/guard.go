package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/internal/memory"
)

// beyond is the error for work that needs more memory than the system allows.
type beyond struct {
	doing      string // "reading my-graph"
	took, most int64  // bytes
	by         string // what sets the limit
	help       string
	planned    bool // the work keeps to its own memory limit
}

// Error states what was being done, how much memory it used, and what sets the limit.
func (b *beyond) Error() string {
	return fmt.Sprintf("%s has taken %s of memory and is not through, and %s %s%s", b.doing, report.Bytes(b.took), b.by,
		report.Bytes(b.most), b.help)
}

// looking is the interval at which the guard checks the memory of the process, which grows by at most a few GB/s.
const looking = 4 * time.Millisecond

// looks is the number of checks after which the limit is read again. Reading it takes ten times as long as a check.
const looks = 256

// guard cancels a context before the system kills the process without a message. Package memory checks only large
// slices, but a graph in text or XML consists of many small ones, whose number is unknown before it is read. The guard
// measures the memory that only the process can free, without pages of mapped files. It cancels when that memory,
// extrapolated by four checks at the current growth, is less than a sixteenth below the limit. Faster growth is not
// caught. Work that keeps to its own limit (bound; 0 means none) fills it fast, so its growth is ignored. explain ends
// the watch, and replaces the context's error by the reason.
func guard(
	ctx context.Context, doing, help string, bound int64,
) (watched context.Context, explain func(error) error) {
	return guarded(ctx, &beyond{doing: doing, help: help, planned: bound > 0}, memory.Limit, held)
}

// mostHeld is the largest value that held has returned so far.
var mostHeld atomic.Int64

// held returns memory.Held, and updates mostHeld.
func held() int64 {
	now := memory.Held()
	for most := mostHeld.Load(); now > most && !mostHeld.CompareAndSwap(most, now); most = mostHeld.Load() {
	}
	return now
}

// guarded implements guard. Tests replace limit and held.
func guarded(
	ctx context.Context, b *beyond, limit func() (int64, string), held func() int64,
) (watched context.Context, explain func(error) error) {
	watched, cancel := context.WithCancelCause(ctx)
	last := held()
	go func() { // ends when explain cancels the context
		tick := time.NewTicker(looking)
		defer tick.Stop()
		most, by := limit()
		for look := 1; ; look++ {
			select {
			case <-watched.Done():
				return
			case <-tick.C:
			}
			if look%looks == 0 {
				most, by = limit()
			}
			now := held()
			growth := max(0, now-last)
			if b.planned {
				growth = 0
			}
			if most > 0 && now+4*growth > most-most/16 {
				b.took, b.most, b.by = now, most, by
				cancel(b)
				return
			}
			last = now
		}
	}()
	return watched, func(err error) error {
		cancel(nil)
		var reason *beyond
		if errors.Is(err, context.Canceled) && errors.As(context.Cause(watched), &reason) {
			return reason
		}
		return err
	}
}

// read opens a graph, and returns how long that took. It returns an error if that needs more memory than the system
// allows. If the format knows the sizes of the graph in advance, the error comes before reading and includes an
// estimate.
func (c *command) read(ctx context.Context, name string) (g *graph.Graph, seconds float64, err error) {
	begun := time.Now()
	c.progress.step("opening " + format.Shown(name))
	if err := c.readable(ctx, name); err != nil {
		return nil, 0, err
	}
	ctx, explain := guard(ctx, "reading "+name, "", 0)
	g, err = c.options().Open(ctx, name)
	return g, time.Since(begun).Seconds(), explain(err)
}

// readable returns an error if reading a graph needs more memory than the system allows, and the format knows the sizes
// of the graph in advance. Files far below the limit are not inspected.
func (c *command) readable(ctx context.Context, name string) error {
	limit, by := memory.Limit()
	o := c.options()
	o.Note = nil // Open prints the notes
	found, err := o.Find(name)
	const unpacked = 64 // bytes of memory per byte of a file
	if err != nil || limit == 0 || unpacked*unpackedUnder(found.Path)+budget.Margin < limit {
		return nil // Open reports the error
	}
	s, err := o.Stream(ctx, name, limit)
	if err != nil || s == nil {
		return nil
	}
	if s.Close != nil {
		defer s.Close()
	}
	need := readingTakes(int64(s.Nodes), int64(s.Features), s.Entries) + s.Held
	if need <= limit {
		return nil
	}
	return fmt.Errorf("reading %s takes about %s of memory, and %s %s (cgc convert writes it in parts to a .safetensors "+
		"file, which is read in parts)", name, report.Bytes(need), by, report.Bytes(limit))
}

// readingTakes returns the memory, in bytes, of a process that reads a complete graph: the features, the edge list, and
// the adjacency matrix built from it.
func readingTakes(nodes, features, edges int64) int64 {
	const list, sorted = 8, 16
	return budget.Process + nodes*(4*features+8) + edges*(list+sorted)
}

// unpackedUnder returns the size of a file, or of all files in a folder. gzip files count with their estimated
// decompressed size.
func unpackedUnder(path string) (bytes int64) {
	for info := range filesUnder(path) {
		bytes += info.Size()
		if strings.HasSuffix(info.Name(), ".gz") {
			bytes += 7 * info.Size()
		}
	}
	return bytes
}

// filesUnder yields the file at path, or all files in that folder. It skips files that cannot be inspected.
func filesUnder(path string) iter.Seq[fs.FileInfo] {
	return func(yield func(fs.FileInfo) bool) {
		_ = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil
			}
			if info, err := entry.Info(); err == nil && !yield(info) {
				return fs.SkipAll
			}
			return nil
		})
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/report"
)

// beyond is the error for work that takes more memory than the system allows.
type beyond struct {
	doing      string // what is done, as "reading my-graph"
	took, most int64  // bytes
	by         string // what allows no more
	help       string
	planned    bool // the work keeps to a bound
}

// Error says what was done, what it took, and what allows no more.
func (b *beyond) Error() string {
	return fmt.Sprintf("%s has taken %s of memory and is not through, and %s %s%s", b.doing, report.Bytes(b.took), b.by,
		report.Bytes(b.most), b.help)
}

// looking is the time between two looks at the memory of the process. New memory comes at a few GB/s at most.
const looking = 4 * time.Millisecond

// looks is the number of them after which the limit is asked for again. Asking reads a dozen files, which takes ten
// times as long as a look.
const looks = 256

// guard ends a context before the system ends the process: when the memory that only the process can free comes within
// a sixteenth of the limit, or will with the growth of four more looks. Pages of mapped files do not count. Memory that
// grows faster than that is not caught. Work that keeps to a bound (0 is none) fills it fast, and its growth says
// nothing. The function that guard returns ends the watch, and puts the reason in place of an error that comes from the
// end of the context.
func guard(
	ctx context.Context, doing, help string, bound int64,
) (watched context.Context, explain func(error) error) {
	return guarded(ctx, &beyond{doing: doing, help: help, planned: bound > 0}, memory.Limit, memory.Held)
}

// guarded is guard with functions that tell the limit and what is held.
func guarded(
	ctx context.Context, b *beyond, limit func() (int64, string), held func() int64,
) (watched context.Context, explain func(error) error) {
	watched, cancel := context.WithCancelCause(ctx)
	last := held()
	go func() { // it ends with the context, which explain ends
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

// read opens a graph. If that takes more memory than the system allows, the error says so: at once, with an estimate,
// if the format can tell the sizes of the graph first.
func (c *command) read(ctx context.Context, name string) (*graph.Graph, error) {
	if err := c.readable(ctx, name); err != nil {
		return nil, err
	}
	ctx, explain := guard(ctx, "reading "+name, "", 0)
	g, err := c.options().Open(ctx, name)
	return g, explain(err)
}

// readable returns an error if the format can tell the sizes of a graph before it is read, and reading takes more
// memory than the system allows. Files that are far smaller than that are not asked.
func (c *command) readable(ctx context.Context, name string) error {
	limit, by := memory.Limit()
	o := c.options()
	o.Note = nil // Open tells
	found, err := o.Find(name)
	const unpacked, program = 64, 256 << 20 // bytes of memory for a byte of a file
	if err != nil || limit == 0 || unpacked*unpackedUnder(found.Path)+program < limit {
		return nil // Open says what is wrong
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

// readingTakes returns the memory of a process that reads a graph whole: features, and the list of edges beside the
// adjacency that is made of it.
func readingTakes(nodes, features, edges int64) int64 {
	const program, list, sorted = 24 << 20, 8, 16
	return program + nodes*(4*features+8) + edges*(list+sorted)
}

// unpackedUnder returns the bytes of a file, or of all files in a folder. Those of gzip count as what they may hold.
func unpackedUnder(path string) (bytes int64) {
	for info := range filesUnder(path) {
		bytes += info.Size()
		if strings.HasSuffix(info.Name(), ".gz") {
			bytes += 7 * info.Size()
		}
	}
	return bytes
}

// filesUnder returns the file at path, or all files in a folder. What cannot be looked at is left out.
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

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// collected returns the memory limit for the garbage collector: --memory, or else the limit of a control group or of
// ulimit -v. 0 means no limit.
func collected(asked int64) int64 {
	if asked > 0 {
		return asked
	}
	if limit, by := memory.Limit(); by != memory.ByMachine {
		return limit
	}
	return 0
}

// fit compares the memory that condensing needs with what the system allows, unless --memory sets a limit. If the
// system allows less, features are propagated in blocks, with the same result. bound is the limit that the work keeps
// to: --memory, or the limit for the blocks, or 0 for none. If blocks do not help, the error has the estimate that
// --dry-run prints.
func (c *command) fit(g *graph.Graph, flags *configFlags) (bound int64, err error) {
	limit, by := memory.Limit()
	config, is := flags.propagating()
	if is && flags.config.Memory > 0 {
		return flags.config.Memory, flags.enough(g, config)
	}
	if !is || limit == 0 {
		return flags.config.Memory, nil
	}
	if config.Engine != nil || roomy(g, config.Hops+8, limit) {
		return 0, nil
	}
	whole, err := cgc.Expect(g, config)
	if err != nil {
		return 0, flags.mistake(err)
	}
	need := foreseen(g, whole)
	if need <= limit {
		return 0, nil
	}
	bound = limit - limit/8 // margin for errors of the estimate
	config.Engine = blocked.Engine{Memory: bound, Precision: config.Precision}
	blocks, err := cgc.Expect(g, config)
	if err != nil {
		return 0, flags.mistake(err)
	}
	least := foreseen(g, blocks)
	if least > limit {
		return 0, fmt.Errorf("condensing %s takes about %s of memory, %s in blocks, and %s %s%s", g.Name,
			report.Bytes(need), report.Bytes(least), by, report.Bytes(limit), inParts(g))
	}
	flags.config.Engine = config.Engine
	c.progress.note("condensing %s takes about %s of memory, and %s %s: it is done in blocks, as with --memory %s", g.Name,
		report.Bytes(need), by, report.Bytes(limit), report.Bytes(bound))
	return bound, nil
}

// propagating returns the configuration of the first chosen method that is cgc's own or auto, whose fallback counts.
// All of these propagate in the same way.
func (f *configFlags) propagating() (config cgc.Config, is bool) {
	for _, m := range f.methods() {
		switch m := m.(type) {
		case cgc.Config:
			return m, true
		case auto.Method:
			config = m.Base()
			config.Size = f.config.Size
			return config, true
		}
	}
	return config, false
}

// enough returns an error with the smallest sufficient limit if condensing g does not fit into --memory. It does not
// read the features of a mapped graph, unless the setting copies them.
func (f *configFlags) enough(g *graph.Graph, config cgc.Config) error {
	asked := config.Memory
	var failed error
	least := budget.Least(asked, func(limit int64) int64 { // the memory for a mapped graph grows slightly with the limit
		config.Memory = limit
		e, err := cgc.Expect(g, config)
		failed = err
		if e.Propagation.Read > 0 { // from a mapped file, whose pages the system keeps only while there is room
			return e.Propagation.Held
		}
		return e.Memory
	})
	if failed != nil {
		return f.mistake(failed)
	}
	if least <= asked {
		return nil
	}
	return usagef("--memory %s, must be at least %s to condense %s%s", inUnitsOf(asked, asked), inUnitsOf(asked, least),
		g.Name, inParts(g))
}

// foreseen returns the expected memory, as printed by --dry-run. Reading a graph may have used more than condensing it
// needs.
func foreseen(g *graph.Graph, e cgc.Expectation) int64 {
	if e.Propagation.Held > 0 || g.Mapped {
		return e.Memory
	}
	return max(e.Memory, peakRSS())
}

// inParts returns the advice to convert the graph to a mapped file, if it is in memory and large enough to gain from
// it.
func inParts(g *graph.Graph) string {
	const small = 16 << 20
	if g.Mapped || budget.Graph(g.Adj, g.X) < small {
		return ""
	}
	if g.Numbers != nil { // even a native file is then copied
		return " (a .safetensors file that cgc convert --without writes is read in parts)"
	}
	return " (a .safetensors file that cgc convert writes is read in parts)"
}

// roomy reports whether limit exceeds times·(the size of g) + budget.Margin. Then no estimate is necessary.
func roomy(g *graph.Graph, times int, limit int64) bool {
	return int64(times)*budget.Graph(g.Adj, g.X)+budget.Margin < limit
}

// testingBound returns the memory limit for testing models on g: asked if given, or else the rest of the system's
// limit. It returns 0 if memory is unlimited or clearly suffices. small is the number of condensed nodes. rest
// describes the limit.
func testingBound(asked int64, g *graph.Graph, small, hidden int) (bound int64, rest remainder) {
	limit, by := memory.Limit()
	if asked > 0 || limit == 0 {
		return asked, remainder{asked: asked}
	}
	rest = remainder{by: by, limit: limit}
	// Subtract the program, the weights with their gradients and moments, and the activations of the condensed nodes.
	limit -= budget.Process + 4*int64(hidden)*int64(6*(g.Features()+g.Classes)+8*small)
	units := 4 * int64(g.Nodes()) * int64(hidden+g.Classes)
	if roomy(g, 8, limit-8*units) {
		return 0, remainder{}
	}
	if !g.Mapped { // a graph in memory occupies part of the limit
		limit -= budget.Graph(g.Adj, g.X)
	}
	rest.taken = rest.limit - limit
	return max(1, limit), rest // 0 would mean no limit
}

// remainder describes the memory limit for testing models: --memory, or the system's limit minus the memory for
// training and for a graph that is not mapped.
type remainder struct {
	asked        int64  // --memory in bytes; 0 if not given
	by           string // "the machine has"; empty if there is no such limit
	limit, taken int64  // in bytes
}

// limited explains the limit in the error of a test that needs too much memory. With --memory, it returns a usage error
// that names the smallest sufficient limit.
func (r remainder) limited(err error, g *graph.Graph) error {
	large := new(gnn.MemoryError)
	if !errors.As(err, &large) {
		return err
	}
	if r.asked > 0 {
		return usagef("--memory %s, must be at least %s for %s on %s%s", inUnitsOf(r.asked, r.asked),
			inUnitsOf(r.asked, large.Need), large.Model, g.Name, inParts(g))
	}
	if r.by == "" {
		return err
	}
	what := "the program, the graph and the training"
	if g.Mapped {
		what = "the program and the training"
	}
	return fmt.Errorf("testing %s takes about %s of memory in addition to %s for %s, and %s %s%s", large.Model,
		report.Bytes(large.Need), report.Bytes(r.taken), what, r.by, report.Bytes(r.limit), inParts(g))
}

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
	return fmt.Sprintf("%s has used %s of memory and is not finished, and %s %s%s", b.doing, report.Bytes(b.took), b.by,
		report.Bytes(b.most), b.help)
}

// looking is the interval at which the guard checks the memory of the process, which grows by at most a few GB/s.
const looking = 4 * time.Millisecond

// looks is the number of checks after which the limit is read again. Reading it takes ten times as long as a check.
const looks = 256

// guard cancels a context before the system kills the process without a message. Package memory checks only large
// slices, but a graph in text or XML consists of many small ones, whose number is unknown before it is read. The guard
// measures the memory that only the process can free, without pages of mapped files. It cancels when that memory,
// extrapolated by four checks at the current growth, is within a sixteenth of the limit. Faster growth is not caught.
// Work with its own memory limit (bound; 0 means none) soon uses all of it, so its growth is ignored. explain ends the
// watch, and replaces the context's error with the reason.
func guard(
	ctx context.Context, doing, help string, bound int64,
) (watched context.Context, explain func(error) error) {
	return guarded(ctx, &beyond{doing: doing, help: help, planned: bound > 0}, memory.Limit, held)
}

// mostHeld is the largest value that held has returned so far.
var mostHeld atomic.Int64

// held returns memory.Held() and updates mostHeld.
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

// read opens a graph, and returns how long that took. It returns an error if reading needs more memory than the system
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

// findable returns an error if one of several graphs does not exist, so that a mistyped name is reported before the
// work on the graphs before it.
func (c *command) findable(names []string) error {
	o := c.options()
	o.Note = nil // Open prints the notes
	for _, name := range names {
		if _, err := o.Find(name); errors.As(err, new(*dataset.NotFoundError)) && !slices.Contains(graphNames(), name) {
			return err
		}
	}
	return nil
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
	const entry = 8 + 16 // bytes in the list of edges and, sorted, in the adjacency matrix
	need := budget.Process + int64(s.Nodes)*(4*int64(s.Features)+8) + s.Entries*entry + s.Held
	if need <= limit {
		return nil
	}
	return fmt.Errorf("reading %s takes about %s of memory, and %s %s (cgc convert writes it in parts to a .safetensors "+
		"file, which is read in parts)", name, report.Bytes(need), by, report.Bytes(limit))
}

// unpackedUnder returns the size of a file, or of all files in a folder. gzip files count eightfold, an estimate of
// their decompressed size.
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

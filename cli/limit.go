package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate/blocked"
	"github.com/graph-condensation/cgc/report"
)

// collected returns the bound that the collector keeps to: that of --memory, or what a control group or ulimit -v
// allows. 0 sets none.
func collected(asked int64) int64 {
	if asked > 0 {
		return asked
	}
	if limit, by := memory.Limit(); by != memory.ByMachine {
		return limit
	}
	return 0
}

// fit compares what condensing takes with what the system allows, when --memory does not say what to keep to. If it is
// more, features are propagated in blocks, as with --memory: the result is the same. fit returns the bound that work
// keeps to, that of --memory or of these blocks; 0 if there is none. The error says that blocks do not help, with the
// estimate that --dry-run prints.
func (c *command) fit(g *graph.Graph, flags *configFlags) (bound int64, err error) {
	limit, by := memory.Limit()
	methods, err := flags.methods()
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(methods, func(m condense.Method) bool { _, is := m.(cgc.Config); return is })
	if at < 0 || flags.config.Memory > 0 || limit == 0 {
		return flags.config.Memory, nil
	}
	config := methods[at].(cgc.Config) // variants propagate alike
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
	bound = limit - limit/8 // for what the estimate leaves out
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

// foreseen returns the memory to expect, as --dry-run prints it: reading a graph may have taken more than condensing
// it does.
func foreseen(g *graph.Graph, e cgc.Expectation) int64 {
	if e.Propagation.Held > 0 || g.Mapped {
		return e.Memory
	}
	return max(e.Memory, peakRSS())
}

// inParts says what to do with a graph that is held in memory.
func inParts(g *graph.Graph) string {
	if g.Mapped {
		return ""
	}
	return " (a .safetensors file that cgc convert writes is read in parts)"
}

// roomy reports whether a limit is far above what is done with a graph: its bytes some times over. Then nothing needs
// to be estimated.
func roomy(g *graph.Graph, times int, limit int64) bool {
	const program = 256 << 20
	return int64(times)*bytesOf(g)+program < limit
}

// bytesOf returns about how many bytes a graph takes.
func bytesOf(g *graph.Graph) int64 {
	bytes := 8*int64(len(g.Adj.Indptr)) + 8*int64(len(g.Adj.Indices))
	if x, sparse := g.X.(*mat.CSR); sparse {
		return bytes + 8*int64(len(x.Indptr)) + 8*int64(len(x.Indices))
	}
	return bytes + 4*int64(g.Nodes())*int64(g.Features())
}

// testingBound returns the bound on memory of testing models on a graph: asked, or what the system allows if that may
// be too little, without what training on so many condensed nodes takes. rest says how it comes about; it is empty for
// a bound that was asked for.
func testingBound(asked int64, g *graph.Graph, small, hidden int) (bound int64, rest remainder) {
	limit, by := memory.Limit()
	if asked > 0 || limit == 0 {
		return asked, remainder{}
	}
	rest = remainder{by: by, limit: limit}
	// The program, the weights with their gradients and moments, and what a layer makes of the condensed nodes.
	limit -= 24<<20 + 4*int64(hidden)*int64(6*(g.Features()+g.Classes)+8*small)
	units := 4 * int64(g.Nodes()) * int64(hidden+g.Classes)
	if roomy(g, 8, limit-8*units) {
		return 0, remainder{}
	}
	if !g.Mapped { // a graph in memory is there already
		limit -= bytesOf(g)
	}
	rest.taken = rest.limit - limit
	return max(1, limit), rest // 0 would be no bound
}

// remainder is what the system allows beside what is taken: by the graph, unless it is mapped, and by training.
type remainder struct {
	by           string // "the machine has"; empty if there is no such limit
	limit, taken int64  // in bytes
}

// limited says in the error of a test that takes too much memory what allows no more.
func (r remainder) limited(err error, g *graph.Graph) error {
	large := new(gnn.MemoryError)
	if r.by == "" || !errors.As(err, &large) {
		return err
	}
	what := "the program, the graph and the training"
	if g.Mapped {
		what = "the program and the training"
	}
	return fmt.Errorf("testing %s takes about %s of memory beside %s for %s, and %s %s%s", large.Model,
		report.Bytes(large.Need), report.Bytes(r.taken), what, r.by, report.Bytes(r.limit), inParts(g))
}

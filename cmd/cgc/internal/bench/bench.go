// Package bench measures condensation: it times every step at the sizes of the paper's data sets, and compares it with
// the peak performance of the machine.
//
// The graphs are synthetic (package synth), so that no data set is needed and any multiple of a size is possible.
// Measure determines the ceilings of the machine with the kernels that the steps use. The work of a step is computed
// from the sizes: it is the work that the method requires, not the work that the program does. A step that does
// unnecessary work reaches only a low share of its ceiling.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Result holds the measurements of a Plan. Its JSON keys are a contract (docs/reference/json.md).
type Result struct {
	// Kernel is the SIMD code path in use (avx512, avx2 or generic). Threads is the number of threads.
	Kernel  string `json:"kernel"`
	Threads int    `json:"threads"`
	// Runs is the number of condensations behind each median. Seed is the random seed.
	Runs int    `json:"runs"`
	Seed uint64 `json:"seed"`
	// Cases has an entry for each size, scale, partition and precision, in the order of the plan.
	Cases []Case `json:"cases"`
	// Growth has an entry for each combination of size, partition, precision and step with times at two or more scales.
	Growth []Growth `json:"growth,omitempty"`
}

// Case is the measurement of condensing one graph.
type Case struct {
	// Size is the data set whose sizes the graph has, multiplied by Scale. Partition is the kind of partition.
	Size      string  `json:"size"`
	Scale     float64 `json:"scale"`
	Partition string  `json:"partition"`
	// Precision is the number format of propagation between hops.
	Precision blocked.Precision `json:"precision,omitzero"`
	// Nodes, Edges (undirected), Features and Classes are the sizes of the graph. Train is its number of training nodes.
	// Condensed is the number of condensed nodes.
	Nodes     int `json:"nodes"`
	Edges     int `json:"edges"`
	Features  int `json:"features"`
	Classes   int `json:"classes"`
	Train     int `json:"train"`
	Condensed int `json:"condensed_nodes"`
	// Steps holds propagate, assess, augment, partition and generate; then condense, which includes all of them, and
	// new memory, a part of propagate whose seconds are not measured; then train if a GCN was trained.
	Steps []Step `json:"steps"`
	// Ceilings holds the peak rates of the machine with the memory that the propagation reads, on all threads. They are
	// measured before and after each condensation; these are the medians.
	Ceilings Ceilings `json:"ceilings"`
	// Least is the sum over the steps of the time that their work takes at the ceilings, in seconds. Ratios has, for each
	// run, the seconds of condense divided by Least, with the means of the ceilings before and after that run. Ratio is
	// their median.
	Least  float64   `json:"least_seconds"`
	Ratio  float64   `json:"ratio"`
	Ratios []float64 `json:"ratios"`
	// Peak is the largest resident set of the process during the condensations, in bytes, including the graph; 0 if it is
	// unknown. Only Linux can reset the peak. On other systems it is the largest since the process began.
	Peak int64 `json:"peak_rss_bytes"`
}

// Step is the measured or expected time of one step.
type Step struct {
	Name string `json:"step"`
	// Seconds is the median wall-clock time over the runs; for the step train, it is the time of the only run.
	Seconds float64 `json:"seconds"`
	*Work           // nil for condense, whose steps have different ceilings, and for partitions of unknown work
	// Share is work / seconds / ceiling: 1 means that the step reaches the ceiling. It may exceed 1 if the data fits
	// into a cache.
	Share float64 `json:"share,omitempty"`
}

// Run carries out the measurements of p. It generates one graph after another and keeps only one in memory. It honours
// cancellation, except while it generates a graph.
func Run(ctx context.Context, p Plan) (*Result, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	r := &Result{
		Kernel: kernel.Name(), Threads: runtime.GOMAXPROCS(0), Runs: p.Runs, Seed: p.Seed,
	}
	for _, name := range p.Sizes {
		for i, scale := range p.Scales {
			cases, err := p.graph(ctx, name, scale, p.Train && i == 0)
			if err != nil {
				return nil, err
			}
			r.Cases = append(r.Cases, cases...)
		}
	}
	r.Growth = growth(r.Cases)
	return r, nil
}

// begin reports the start of a part of the work.
func begin(ctx context.Context, part string) { progress.Report(ctx, progress.Event{Stage: part}) }

// graph generates one graph and measures its condensation with each partition and precision.
func (p Plan) graph(ctx context.Context, name string, scale float64, train bool) ([]Case, error) {
	title := scaled(name, scale)
	begin(ctx, "making "+title)
	s, nodes, err := shape(name, scale)
	if err != nil {
		return nil, err
	}
	g, err := synth.Make(ctx, s, rand.NewPCG(p.Seed, 0))
	if err != nil {
		return nil, fmt.Errorf("making %s: %w", title, err)
	}
	config := cgc.Defaults()
	config.Nodes, config.Seed = nodes, p.Seed
	var cases []Case
	for _, config := range p.configurations(config) {
		doing := fmt.Sprintf("condensing %s by %s", title, named(config.Partition, config.Precision))
		inner := progress.With(ctx, func(e progress.Event) { begin(ctx, doing+": "+e.Stage) })
		c, small, err := p.measure(inner, g, config)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		c.Size, c.Scale = name, scale
		if train && len(cases) == 0 {
			begin(ctx, "training on condensed "+title)
			step, err := p.training(ctx, g, small)
			if err != nil {
				return nil, fmt.Errorf("training on condensed %s: %w", title, err)
			}
			step.Share = c.Ceilings.share(step)
			c.Steps = append(c.Steps, step)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// configurations returns a copy of config for each partition and precision of p.
func (p Plan) configurations(config cgc.Config) (all []cgc.Config) {
	for _, config.Partition = range p.Partitions {
		for _, config.Precision = range p.Precisions {
			all = append(all, config)
		}
	}
	return all
}

// measure condenses g p.Runs times with the same seed, and returns the measurements and the last condensed graph. The
// ceilings are measured before and after each run: on a shared machine, they change within minutes.
func (p Plan) measure(
	ctx context.Context, g *graph.Graph, config cgc.Config,
) (c Case, small *cgc.Condensed, err error) {
	t, allocated, err := working(g, config)
	if err != nil {
		return c, nil, err
	}
	limits, src := make([]Ceilings, p.Runs+1), rand.NewPCG(p.Seed, 1)
	if limits[0], err = p.Measure(ctx, t, probing, src); err != nil {
		return c, nil, err
	}
	all := make([]condense.Seconds, p.Runs)
	for i := range all {
		// A command condenses once, in memory that it must first get from the system, which takes a large part of the time
		// for a large graph. To measure that, each run starts without the memory of the previous run.
		debug.FreeOSMemory()
		ForgetPeak()
		if small, err = cgc.Condense(ctx, g, config); err != nil {
			return c, nil, err
		}
		all[i], c.Peak = small.Seconds, max(c.Peak, p.Peak())
		if limits[i+1], err = p.Measure(ctx, t, probing, src); err != nil {
			return c, nil, err
		}
	}
	c = Case{
		Partition: config.Partition, Precision: config.Precision,
		Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes,
		Train: len(g.Split.Train), Condensed: small.Nodes(), Peak: c.Peak, Ceilings: median(limits),
	}
	if c.Steps, err = c.Ceilings.timed(g, small, config, Medians(all)); err != nil {
		return c, nil, err
	}
	c.Steps = append(c.Steps, allocated)
	c.Least = c.Ceilings.least(c.Steps)
	for i, s := range all {
		c.Ratios = append(c.Ratios, 2*s.Total/(limits[i].least(c.Steps)+limits[i+1].least(c.Steps)))
	}
	c.Ratio = Median(slices.Clone(c.Ratios))
	return c, small, nil
}

// probing is the number of seconds of each measurement of a ceiling between two runs.
const probing = 0.1

// Medians returns the median of each step over several condensations. all must not be empty.
func Medians(all []condense.Seconds) condense.Seconds { return Combine(all, Median) }

// Median returns the median of values, which must not be empty. For an even number of values, it is the mean of the two
// middle values. It sorts values.
func Median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// training trains a GCN on small and returns the time and the work.
func (p Plan) training(ctx context.Context, g *graph.Graph, small *cgc.Condensed) (Step, error) {
	target, err := gnn.NewTarget(g, false)
	if err != nil {
		return Step{}, err
	}
	config := gnn.Defaults()
	config.ValidateEvery, config.Epochs = 10, cmp.Or(p.epochs, config.Epochs)
	sample := &gnn.Sample{Adj: small.Adj, X: small.X, Y: small.Y, Classes: small.Classes}
	result, err := gnn.Train(ctx, gnn.GCN(), sample, target, config, rand.NewPCG(p.Seed, 0))
	if err != nil {
		return Step{}, err
	}
	return Step{Name: "train", Seconds: result.Seconds, Work: learning(g, small.Nodes(), config)}, nil
}

// ForgetPeak resets the peak resident set on Linux (proc(5), clear_refs). On other systems it does nothing.
func ForgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// Combine applies f, such as a mean or a median, to the seconds of each step and to the totals. It combines the steps
// that all[0] has. Combine returns the zero value if all is empty.
func Combine(all []condense.Seconds, f func(values []float64) float64) condense.Seconds {
	if len(all) == 0 {
		return condense.Seconds{}
	}
	values := make([]float64, len(all))
	of := func(part func(condense.Seconds) float64) float64 {
		for i, s := range all {
			values[i] = part(s)
		}
		return f(values)
	}
	combined := condense.Seconds{Total: of(func(s condense.Seconds) float64 { return s.Total })}
	for _, p := range all[0].Steps {
		combined.Steps = append(combined.Steps, condense.Step{
			Name: p.Name, Seconds: of(func(s condense.Seconds) float64 { return s.Of(p.Name) }),
		})
	}
	return combined
}

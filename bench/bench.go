// Package bench measures condensation: the time of every step, at the sizes of the paper's data sets, beside the best
// that the machine can do.
//
// The graphs are made (package synth). So no data set is needed, and any multiple of a size can be had. The ceilings of
// the machine are measured first, with the same kernels that the steps run on. The work of a step is counted from
// sizes: it is what the method asks for, not what the program did. A step that does more than it must has a low share
// of its ceiling.
package bench

import (
	"context"
	"fmt"
	"math"
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

// Result is what was measured. Its JSON keys are a contract (docs/formats.md).
type Result struct {
	// Kernel is the set of loops in use (kernel.Name), Threads the number of threads.
	Kernel  string `json:"kernel"`
	Threads int    `json:"threads"`
	// Runs and Seed are those of the plan.
	Runs int    `json:"runs"`
	Seed uint64 `json:"seed"`
	// Ceilings is the best that the machine can do.
	Ceilings Ceilings `json:"ceilings"`
	// Cases has an entry for each size, scale and partition, in the order of the plan.
	Cases []Case `json:"cases"`
	// Growth has an entry for each size, partition and step that took time at two scales or more.
	Growth []Growth `json:"growth,omitempty"`
}

// Case is the condensation of one graph.
type Case struct {
	Size      string  `json:"size"`
	Scale     float64 `json:"scale"`
	Partition string  `json:"partition"`
	// Precision is what propagation kept numbers in between hops.
	Precision blocked.Precision `json:"precision,omitzero"`
	// Nodes, Edges (undirected), Features and Classes are the sizes of the graph. Train is its number of training nodes,
	// Condensed is N′.
	Nodes     int `json:"nodes"`
	Edges     int `json:"edges"`
	Features  int `json:"features"`
	Classes   int `json:"classes"`
	Train     int `json:"train"`
	Condensed int `json:"condensed_nodes"`
	// Steps holds propagate, assess, augment, partition and generate; then condense, which is all of them and what lies
	// between; then train if a GCN was trained.
	Steps []Step `json:"steps"`
	// Peak is the largest resident set of the process in bytes during the condensations, with the graph; 0 if it is not
	// known. Only Linux can forget an earlier peak. Elsewhere it is the largest since the process began.
	Peak int64 `json:"peak_rss_bytes"`
}

// Step is the measure of one step.
type Step struct {
	Name string `json:"step"`
	// Seconds is the median over the runs, by the wall clock; for train, the time of its only run.
	Seconds float64 `json:"seconds"`
	// Work is absent from condense, whose steps have different ceilings, and from a partition whose work is not known.
	*Work
	// Share is Work.Amount/Seconds over the ceiling: 1 is all of it. It may exceed 1 if the data fits into a cache.
	Share float64 `json:"share,omitempty"`
}

// Run measures p. It makes one graph after the other and keeps only one in memory. It stops within moments of ctx's
// end, unless a graph is being made, and returns ctx's error.
func Run(ctx context.Context, p Plan) (*Result, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Peak == nil {
		p.Peak = func() int64 { return 0 }
	}
	r := &Result{Kernel: kernel.Name(), Threads: runtime.GOMAXPROCS(0), Runs: p.Runs, Seed: p.Seed}
	var err error
	begin(ctx, "measuring the machine")
	if r.Ceilings, err = Measure(ctx, rand.NewPCG(p.Seed, 0)); err != nil {
		return nil, err
	}
	for _, name := range p.Sizes {
		for i, scale := range p.Scales {
			cases, err := p.graph(ctx, name, scale, p.Train && i == 0, r.Ceilings)
			if err != nil {
				return nil, err
			}
			r.Cases = append(r.Cases, cases...)
		}
	}
	r.Growth = growth(r.Cases)
	return r, nil
}

// begin reports that a part of the work begins.
func begin(ctx context.Context, part string) { progress.Report(ctx, progress.Event{Stage: part}) }

// graph makes one graph and measures its condensation by each partition.
func (p Plan) graph(ctx context.Context, name string, scale float64, train bool, ceilings Ceilings) ([]Case, error) {
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
			step, err := training(ctx, g, small, p.Seed)
			if err != nil {
				return nil, fmt.Errorf("training on condensed %s: %w", title, err)
			}
			c.Steps = append(c.Steps, step)
		}
		for i := range c.Steps {
			c.Steps[i].Share = ceilings.share(c.Steps[i])
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// configurations returns config with each partition and precision of p.
func (p Plan) configurations(config cgc.Config) (all []cgc.Config) {
	precisions := p.Precisions
	if len(precisions) == 0 {
		precisions = []blocked.Precision{blocked.Float32}
	}
	for _, config.Partition = range p.Partitions {
		for _, config.Precision = range precisions {
			all = append(all, config)
		}
	}
	return all
}

// measure condenses g p.Runs times and returns what it took, and the last condensed graph.
func (p Plan) measure(ctx context.Context, g *graph.Graph, config cgc.Config) (Case, *cgc.Condensed, error) {
	small, seconds, err := repeat(ctx, g, config, p.Runs)
	if err != nil {
		return Case{}, nil, err
	}
	c := Case{
		Partition: config.Partition, Precision: config.Precision,
		Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes,
		Train: len(g.Split.Train), Condensed: small.Nodes(), Peak: p.Peak(),
	}
	c.Steps, err = timed(g, small, config, seconds)
	return c, small, err
}

// repeat condenses several times with the same seed, and returns the last result and the medians of the seconds. It
// forgets the earlier peak of memory.
func repeat(
	ctx context.Context, g *graph.Graph, config cgc.Config, runs int,
) (small *cgc.Condensed, seconds condense.Seconds, err error) {
	all := make([]condense.Seconds, runs)
	for i := range all {
		// A command condenses once, in memory that it must first get from the system. For a large graph that takes a good
		// part of the time. So each run begins without the memory of the run before.
		debug.FreeOSMemory()
		if i == 0 {
			forgetPeak()
		}
		if small, err = cgc.Condense(ctx, g, config); err != nil {
			return nil, seconds, err
		}
		all[i] = small.Seconds
	}
	return small, Medians(all), nil
}

// Medians returns the median of each step over several condensations, at least one.
func Medians(all []condense.Seconds) condense.Seconds { return condense.Combine(all, median) }

// median returns the middle of values, or the mean of the two in the middle. It sorts them.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// timed puts the time and the work of each step together.
func timed(g *graph.Graph, small *cgc.Condensed, config cgc.Config, s condense.Seconds) ([]Step, error) {
	account, err := cgc.AccountOf(small)
	if err != nil {
		return nil, err
	}
	hops, d, train := config.Hops, g.Features(), len(g.Split.Train)
	judged := 1 // H⁽ᴷ⁾ alone, unless augmentation drew from the other hops
	if account.Assessed.Augmented > 0 {
		judged += hops
	}
	step := func(name string, w *Work) Step { return Step{Name: name, Seconds: s.Of(name), Work: w} }
	return []Step{
		step("propagate", propagation(g.Adj, g.X, g.Split.Train, hops, config.Precision)),
		step("assess", assessment(train, d, g.Classes, judged)),
		step("augment", augmentation(train, d, account.Assessed.Augmented)),
		step("partition", partitioning(g.Counts(g.Split.Train), d, config.Partition, small.Budget, account)),
		step("generate", generation(small.Adj, d, hops)),
		{Name: "condense", Seconds: s.Total},
	}, nil
}

// training trains a GCN on small and returns the time and the work.
func training(ctx context.Context, g *graph.Graph, small *cgc.Condensed, seed uint64) (Step, error) {
	target, err := gnn.NewTarget(g, false)
	if err != nil {
		return Step{}, err
	}
	config := gnn.Defaults()
	config.ValidateEvery = 10
	sample := &gnn.Sample{Adj: small.Adj, X: small.X, Y: small.Y, Classes: small.Classes}
	result, err := gnn.Train(ctx, gnn.GCN(), sample, target, config, rand.NewPCG(seed, 0))
	if err != nil {
		return Step{}, err
	}
	return Step{Name: "train", Seconds: result.Seconds, Work: learning(g, small.Nodes(), config)}, nil
}

// forgetPeak makes Linux forget the largest resident set so far (proc(5), clear_refs). Other systems have no such file.
func forgetPeak() {
	if file, err := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0); err == nil {
		_, _ = file.WriteString("5")
		file.Close()
	}
}

// share returns the share of its ceiling that s reached; 0 if it has no work or took no time.
func (c Ceilings) share(s Step) float64 {
	if s.Work == nil || s.Seconds <= 0 {
		return 0
	}
	share := s.Amount / s.Seconds / c.of(s.Ceiling)
	if math.IsInf(share, 0) || math.IsNaN(share) {
		return 0
	}
	return share
}

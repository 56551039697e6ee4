// Package bench measures condensation: every step, at the sizes of the paper's data sets, beside what the machine could do at best.
//
// The graphs are made (synth.Make), so that no data set is needed and any multiple of a size can be had. The machine's ceilings are
// measured first, with the same kernels that the steps run on. The work of a step is counted from sizes: it is what the method asks for, and not
// what the program did, so a step that does more than it must has a low share of its ceiling.
package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/progress"
)

// Plan says what is measured.
type Plan struct {
	// Sizes names data sets whose sizes the graphs get: see Sizes.
	Sizes []string
	// Scales multiplies the nodes, edges and split of each size; each is above 0. N′ stays. Growth is fitted from two of them on.
	Scales []float64
	// Partitions lists the partitions to measure, "kmeans" and "spectral".
	Partitions []string
	// Runs is the number of condensations, at least 1, of which the medians are taken.
	Runs int
	// Train says whether a GCN is trained as well: for each size on the condensed graph of the first scale and partition, gnn.Defaults with
	// validation on the whole graph every 10 epochs.
	Train bool
	// Seed decides the graphs and all random choices.
	Seed uint64

	// Peak, if not nil, returns the largest resident set of the process in bytes.
	Peak func() int64
}

// size is a data set and N′, its middle number of condensed nodes in the paper's table 3.
type size struct {
	name  string
	nodes int
}

func sizes() []size {
	return []size{{"cora", 70}, {"citeseer", 60}, {"arxiv", 454}, {"flickr", 223}, {"reddit", 153}, {"products", 1238}}
}

// Sizes lists the sizes, in the order of the paper's table 1.
func Sizes() (names []string) {
	for _, s := range sizes() {
		names = append(names, s.name)
	}
	return names
}

// Validate returns everything that is wrong with p, joined, each with the field, the value and the bound.
func (p Plan) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) bool {
		if !ok {
			errs = append(errs, fmt.Errorf("bench: "+format, args...))
		}
		return ok
	}
	check(len(p.Sizes) > 0, "sizes 0, want at least 1")
	check(len(p.Scales) > 0, "scale 0, want at least 1")
	check(len(p.Partitions) > 0, "partition 0, want at least 1")
	check(p.Runs >= 1, "runs %d, want at least 1", p.Runs)
	for _, method := range p.Partitions {
		check(method == "kmeans" || method == "spectral", "partition %q, want %s or %s", method, "kmeans", "spectral")
	}
	const most = 1e6 // beyond it, no size has fewer nodes than a graph can have
	valid := func(scale float64) bool { return scale > 0 && scale <= most }
	for _, scale := range p.Scales {
		check(valid(scale), "scale %g, want above 0 and at most %g", scale, most)
	}
	for _, name := range p.Sizes {
		if !check(slices.Contains(Sizes(), name), "sizes %q, want some of %s", name, strings.Join(Sizes(), ", ")) {
			continue
		}
		for _, scale := range p.Scales {
			if !valid(scale) {
				continue
			}
			s, nodes, err := shape(name, scale)
			if err == nil {
				err = s.Validate()
			}
			if check(err == nil, "scale %g of %s: %v", scale, name, err) {
				check(nodes <= s.Train, "scale %g of %s: %d training nodes, want at least the %d condensed ones", scale, name, s.Train, nodes)
			}
		}
	}
	return errors.Join(errs...)
}

// shape returns what graph a size and scale stand for, and N′.
func shape(name string, scale float64) (s synth.Shape, nodes int, err error) {
	for _, of := range sizes() {
		if of.name == name {
			nodes = of.nodes
		}
	}
	if s, err = synth.Like(name); err != nil {
		return s, 0, err
	}
	return s.Scale(scale), nodes, nil
}

// Result is what was measured. Its JSON keys are a contract, written down in docs/formats.md.
type Result struct {
	// Kernel is the set of loops in use (kernel.Name), Threads the number of threads.
	Kernel  string `json:"kernel"`
	Threads int    `json:"threads"`
	Runs    int    `json:"runs"`
	Seed    uint64 `json:"seed"`
	// Ceilings is what the machine can do.
	Ceilings Ceilings `json:"ceilings"`
	// Cases has an entry for each size, scale and partition, in the order of the plan.
	Cases []Case `json:"cases"`
	// Growth has an entry for each size, partition and step that took measurable time; absent if there are fewer than two scales.
	Growth []Growth `json:"growth,omitempty"`
}

// Case is the condensation of one graph.
type Case struct {
	Size      string  `json:"size"`
	Scale     float64 `json:"scale"`
	Partition string  `json:"partition"`
	// Nodes, Edges (undirected), Features and Classes are the sizes of the graph, Train its number of training nodes, Condensed is N′.
	Nodes     int `json:"nodes"`
	Edges     int `json:"edges"`
	Features  int `json:"features"`
	Classes   int `json:"classes"`
	Train     int `json:"train"`
	Condensed int `json:"condensed_nodes"`
	// Steps holds propagate, assess, augment, partition, generate, their sum with all around it as condense and, where a GCN was trained, train.
	Steps []Step `json:"steps"`
	// Peak is the largest resident set of the process in bytes during the condensations, the graph included; 0 where it is not known. Where the
	// system cannot forget an earlier peak (all but Linux) it is the largest since the process began.
	Peak int64 `json:"peak_rss_bytes"`
}

// Step is the measure of one step.
type Step struct {
	Name string `json:"step"`
	// Seconds is the median over the runs, by the wall clock; of train, the time of its only run.
	Seconds float64 `json:"seconds"`
	// Work is absent from condense, whose steps have ceilings of different kinds.
	*Work
	// Share is Work.Amount/Seconds as a share of the ceiling: 1 is all of it. It may be above 1 where the data fits into a cache.
	Share float64 `json:"share,omitempty"`
}

// Run measures p. The graphs are made one after the other, and only one is in memory. It stops within moments of ctx's end, unless a graph is
// being made, and returns ctx's error.
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

// graph makes one graph and measures its condensation by each partition.
func (p Plan) graph(ctx context.Context, name string, scale float64, train bool, ceilings Ceilings) ([]Case, error) {
	title := scaled(name, scale)
	begin(ctx, "making "+title)
	s, nodes, err := shape(name, scale)
	if err != nil {
		return nil, err
	}
	g, err := synth.Make(s, rand.NewPCG(p.Seed, 0))
	if err != nil {
		return nil, fmt.Errorf("making %s: %w", title, err)
	}
	config := cgc.Defaults()
	config.Nodes, config.Seed = nodes, p.Seed
	var cases []Case
	for i, method := range p.Partitions {
		config.Partition = method
		doing := fmt.Sprintf("condensing %s by %s", title, method)
		steps := progress.With(ctx, func(e progress.Event) { begin(ctx, doing+": "+e.Stage) })
		small, seconds, err := repeat(steps, g, config, p.Runs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		timed, err := timed(g, small, config, seconds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		c := Case{
			Size: name, Scale: scale, Partition: method, Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes,
			Train: len(g.Split.Train), Condensed: small.Nodes(), Steps: timed, Peak: p.Peak(),
		}
		if train && i == 0 {
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

// repeat condenses several times, each with the same seed and as if it were the first time, and returns the last result and the medians of
// the seconds. The peak of memory begins anew with it.
func repeat(ctx context.Context, g *graph.Graph, config cgc.Config, runs int) (small *cgc.Condensed, seconds condense.Seconds, err error) {
	all := make([]condense.Seconds, runs)
	for i := range all {
		// A command condenses once, in memory that the system has yet to give it. That takes a good part of the time of a large graph, so no
		// run may have the memory of the one before it.
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

// begin reports that a part of the work begins.
func begin(ctx context.Context, part string) { progress.Report(ctx, progress.Event{Stage: part}) }

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
	judged := 1 // H⁽ᴷ⁾; the others if augmentation drew from them
	if account.Assessed.Augmented > 0 {
		judged += hops
	}
	step := func(name string, w Work) Step { return Step{Name: name, Seconds: s.Of(name), Work: &w} }
	return []Step{
		step("propagate", propagation(g.Adj, g.X, g.Split.Train, hops)),
		step("assess", assessment(train, d, g.Classes, judged)),
		step("augment", augmentation(train, d, account.Assessed.Augmented)),
		step("partition", partitioning(g.Counts(g.Split.Train), d, config.Partition, small.Budget, account)),
		step("generate", generation(small.Adj, d, hops)),
		{Name: "condense", Seconds: s.Total},
	}, nil
}

// training trains a GCN on small and returns how that went.
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
	w := learning(g, small.Nodes(), config)
	return Step{Name: "train", Seconds: result.Seconds, Work: &w}, nil
}

// forgetPeak makes Linux forget the largest resident set so far (proc(5), clear_refs). Elsewhere there is no such file, and the peak of the
// whole process is what can be told.
func forgetPeak() {
	if file, err := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0); err == nil {
		_, _ = file.WriteString("5")
		file.Close()
	}
}

// share returns what part of its ceiling s reached; 0 if it has no work or took no time.
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

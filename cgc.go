// Package cgc condenses a labelled graph, for instance from millions of nodes to hundreds. A graph neural network (GNN)
// trained on the small graph reaches about the same accuracy on the original as one trained on the original itself.
//
// The method is Class-partitioned Graph Condensation (Gao et al., "Rethinking and Accelerating Graph Condensation: A
// Training-Free Approach with Class Partition", WWW 2025). It uses closed-form solutions and clustering, and involves
// no training.
//
//	config := cgc.Defaults()
//	config.Nodes = 70
//	small, err := cgc.Condense(ctx, g, config)
//	err = small.Save(ctx, "cora70.safetensors")
//
// Condense implements algorithm 1 of the paper. Each step has its own package: propagate, assess, augment, partition,
// generate. docs/paper.md maps each equation to the code that computes it.
//
// A Config is a condense.Method, and experiments and tables accept any such method.
package cgc

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/assess"
	"github.com/graph-condensation/cgc/internal/generate"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

// Condensed is a condensed graph 𝒮 = {A′, X′}, y′.
type Condensed = condense.Condensed

// Load reads a condensed graph from a file that Condensed.Save wrote.
func Load(path string) (*Condensed, error) { return condense.Load(path) }

// Condense condenses g according to config, by algorithm 1 of the paper. It does not modify g.
//
// An invalid g (graph.Graph.Check) is an error. Other errors list everything that is wrong with config, or with g for
// this config, or name the step that failed. When ctx is cancelled, Condense soon stops and returns ctx's error. It
// reports its steps through ctx (package progress).
//
// The same graph and configuration give the same bytes for any number of threads, on processors that use the same SIMD
// code path.
func Condense(ctx context.Context, g *graph.Graph, config Config) (*Condensed, error) {
	p, err := Prepare(ctx, g, config)
	if err != nil {
		return nil, err
	}
	return p.With(ctx, config)
}

// Prepared is a graph after feature propagation and data assessment, the first two steps of algorithm 1. Configurations
// that agree in these steps can all be condensed from it, each at the cost of the remaining steps. It implements
// condense.Prepared and is safe for concurrent use. It reads the graph, which must not change.
type Prepared struct {
	config     Config
	given      *graph.Graph  // the graph passed to Prepare
	digest     graph.Digest  // digest of the graph passed to Prepare
	view       condense.View // the graph to condense
	counts     []int         // training nodes of each class
	y          []int32       // class of each training node
	h          []mat.View    // H⁽⁰⁾ … H⁽ᴷ⁾ of the training nodes
	assessment assess.Assessment
	mixing     string     // a warning about edges between classes, or ""
	judging    sync.Mutex // guards the confidence below H⁽ᴷ⁾, computed for the first configuration that augments
	seconds    condense.Seconds
}

// The names of the steps in Seconds.
const (
	propagateStep = "propagate"
	assessStep    = "assess"
	augmentStep   = "augment"
	partitionStep = "partition"
	generateStep  = "generate"
)

// The streams of random numbers. Each step has its own stream, so that a change to one step does not change the draws
// of another.
const (
	augmentStream = iota + 1
	partitionStream
)

// source returns a new random source, which depends on Seed and the stream.
func (c Config) source(stream uint64) rand.Source { return rand.NewPCG(c.Seed, stream) }

// Prepare runs the first two steps, feature propagation and data assessment. They depend only on Propagation, Hops,
// Teleport, NormalizeFeatures, Standardize, Inductive, Causal, Precision and Engine. It returns the same errors as
// Condense.
func Prepare(ctx context.Context, g *graph.Graph, config Config) (_ *Prepared, err error) {
	defer memory.Recover(&err)
	if err := g.Check(ctx); err != nil {
		return nil, err
	}
	if _, err := check(g, config); err != nil {
		return nil, err
	}
	clock := condense.StartClock(ctx, propagateStep, assessStep)
	p := &Prepared{config: config, given: g}
	if p.digest, err = graph.DigestOf(g); err != nil {
		return nil, err
	}

	// Feature propagation: H⁽ˡ⁾ = ÂH⁽ˡ⁻¹⁾ at the training nodes (eq. 12).
	done := clock.Step(propagateStep)
	if p.view, err = config.Setting().View(ctx, g); err != nil {
		return nil, err
	}
	train := p.view.Split.Train
	if config.Hops > 0 {
		p.mixing = mixed(p.view.Graph)
	}
	p.counts, p.y = p.view.Counts(train), p.view.Labels(train)
	p.collect() // frees what earlier condensations left
	in := propagate.Input{Adj: p.view.Adj, X: p.view.X, Rows: train, Classes: p.y, Mapped: p.view.Mapped}
	if p.h, err = propagate.Run(ctx, config.engine(), config.propagation(), in); err != nil {
		return nil, err
	}
	p.collect()
	done()

	// Data assessment: the linear classifier W = T⁺Y (eqs. 13, 14), its confidence r and its class errors e.
	done = clock.Step(assessStep)
	if p.assessment, err = assess.Fit(ctx, p.h, p.y, g.Classes); err != nil {
		return nil, err
	}
	if config.resolved().Augment > 0 {
		p.assessment.Judge(p.h, p.y)
	}
	done()
	p.seconds = clock.Stop()
	return p, ctx.Err()
}

// collect frees unused memory, such as the blocks of propagation, if it is large or if there is a memory limit.
// Otherwise the collector would wait until the heap has doubled. Fresh memory costs more than a collection: a tenth of
// the run time at 10⁵ nodes.
func (p *Prepared) collect() {
	const large = 16 << 20
	if p.config.Memory > 0 || 4*len(p.y)*p.view.Features() >= large {
		runtime.GC()
	}
}

// Condense implements condense.Prepared. It calls With on m, which must be a Config, with nodes and seed in place of
// its Size and Seed.
func (p *Prepared) Condense(ctx context.Context, m condense.Method, nodes int, seed uint64) (*Condensed, error) {
	c, is := m.(Config)
	if !is {
		return nil, fmt.Errorf("method %s (%T) cannot condense from what Config prepared", m.Name(), m)
	}
	return p.With(ctx, c.with(p.given, nodes, seed))
}

// With runs the remaining steps of config. The result is identical to that of the function Condense, and its Seconds
// include the preparation. A config that does not share the preparation is an error.
func (p *Prepared) With(ctx context.Context, config Config) (_ *Condensed, err error) {
	defer memory.Recover(&err)
	nodes, err := check(p.given, config)
	if err != nil {
		return nil, err
	}
	if !p.config.SharesPreparation(config) {
		return nil, fmt.Errorf("graph %s was prepared for %+v, the configuration wants %+v",
			p.given.Name, p.config.preparation(), config.preparation())
	}
	clock := condense.StartClock(ctx, propagateStep, assessStep, augmentStep, partitionStep, generateStep)
	clock.Add(p.seconds)
	small := &Condensed{Graph: p.given.Name, Classes: p.given.Classes, Method: config.Name()}
	account := Account{Assessed: p.assessed()}
	recorded := config
	config = config.resolved()

	// Data augmentation: H_cond is H⁽ᴷ⁾ of the training nodes and a sample from shallower hops, weighted by class errors
	// (§3.3).
	done := clock.Step(augmentStep)
	size := int(config.Augment * float64(len(p.y)))
	picks, err := assess.Sample(p.y, p.assessment.Error, config.Hops, size, config.source(augmentStream))
	if err != nil {
		return nil, err
	}
	pool := gather(p.h, p.y, p.confidence(len(picks) > 0), picks, p.view.Split.Train)
	account.Assessed.Augmented = len(picks)
	done()

	// Class partition: the groups R̂ of each class, and their calibrated means H′ = R̂H_cond (eq. 15).
	done = clock.Step(partitionStep)
	if small.Budget, err = partition.Budgets(p.counts, nodes); err != nil {
		return nil, err
	}
	partitioner, err := partition.Find(config.Partition)
	if err != nil {
		return nil, err
	}
	plan := partition.Plan{
		Budgets: small.Budget, Partitioner: partitioner, Temperature: float64(config.Temperature),
	}
	groups, err := plan.Aggregate(ctx, pool.rows, pool.y, pool.confidence, config.source(partitionStream))
	if err != nil {
		return nil, err
	}
	small.X, small.Y, account.Partitions = groups.H, groups.Y, groups.Stats
	small.Members = pool.members(groups.Members, p.view.Adj.Rows)
	done()

	// Graph generation: CGC-X returns {I, H′}. CGC finds A′ by similarity (eq. 16), then X′ from A′ and H′ (eq. 17).
	if config.Variant.Edges() {
		done = clock.Step(generateStep)
		small.Adj, account.Threshold, err = generate.Adjacency(ctx, groups.H, config.Threshold, config.Degree)
		if err != nil {
			return nil, err
		}
		small.X, account.Singular, err = generate.Solve(ctx, small.Adj, groups.H, config.Hops, config.Alpha)
		if err != nil {
			return nil, err
		}
		done()
	}
	p.view.Adopt(small)
	small.SetSource(p.digest, p.given)
	small.Warnings = p.warnings()
	small.Seconds = clock.Stop()
	if err := describe(small, recorded, account); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return small, nil
}

// confidence returns the confidence at each hop. Unless drawn is set, it may be missing at the hops below H⁽ᴷ⁾.
func (p *Prepared) confidence(drawn bool) [][]float32 {
	p.judging.Lock()
	defer p.judging.Unlock()
	if drawn {
		p.assessment.Judge(p.h, p.y)
	}
	return slices.Clone(p.assessment.Confidence)
}

// assessed returns the assessment part of the Account.
func (p *Prepared) assessed() Assessed {
	a := p.assessment
	assessed := Assessed{Accuracy: 100 * a.Accuracy, Rank: a.Rank, Error: a.Error}
	if a.Condition >= illConditioned {
		assessed.Condition = a.Condition
	}
	return assessed
}

// warnings returns warnings about the scales of the features and about edges between classes.
func (p *Prepared) warnings() (warnings []string) {
	if warning := p.assessment.Warning(); warning != "" && !p.config.Standardize {
		warnings = append(warnings, warning)
	}
	if p.mixing != "" {
		warnings = append(warnings, p.mixing)
	}
	return warnings
}

// mixed returns a warning if most edges between the training nodes of g join different classes, else "". On a large
// graph, it counts only the edges of evenly spaced training nodes.
func mixed(g *graph.Graph) string {
	const some = 1024 // in a mapped file, each may be a read from disk
	train := g.Split.Train
	var nodes []int32
	for i := 0; i < len(train); i += len(train)/some + 1 {
		nodes = append(nodes, train[i])
	}
	edges, share, chance := g.Homophily(nodes, train)
	n := float64(edges)/2 + 4 // most edges count twice; 4 more, 2 of them within a class (Agresti and Coull 1998)
	likely := (share*(n-4) + 2) / n
	most := likely + 2*math.Sqrt(likely*(1-likely)/n) // two standard errors above
	if most-chance >= graph.Mixing*(1-chance) {
		return ""
	}
	return fmt.Sprintf("%.2g%% of the edges between training nodes join nodes of one class, and %.2g%% would by chance, "+
		"so propagation mixes the classes: compare --hops 0 and --hops 1", 100*share, 100*chance)
}

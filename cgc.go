// Package cgc condenses a labelled graph: it makes a graph of hundreds of nodes from one of millions. A graph neural
// network (GNN) that is trained on the small graph does about as well on the large one as a GNN that was trained there.
//
// The method is Class-partitioned Graph Condensation (Gao et al., "Rethinking and Accelerating Graph Condensation: A
// Training-Free Approach with Class Partition", WWW 2025). It has closed forms and clustering, and no training.
//
//	config := cgc.Defaults()
//	config.Nodes = 70
//	small, err := cgc.Condense(ctx, g, config)
//	err = small.Save(ctx, "cora70.safetensors")
//
// Condense is algorithm 1 of the paper. Each of its steps has a package: propagate, assess, augment, partition,
// generate. What goes beyond the paper is in extensions.go and in package selftrain. docs/paper.md leads from each
// equation to the name that computes it.
//
// A Config is a condense.Method. Experiments and tables take any such method.
package cgc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/assess"
	"github.com/graph-condensation/cgc/augment"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/generate"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/selftrain"
)

// Condensed is a condensed graph 𝒮 = {A′, X′}, y′.
type Condensed = condense.Condensed

// Load reads a condensed graph from a file that Condensed.Save wrote.
func Load(path string) (*Condensed, error) { return condense.Load(path) }

// Condense condenses g by config: algorithm 1 of the paper. g is left alone.
//
// If g is not valid (graph.Graph.Check), that is the error. Other errors name everything that is wrong with config,
// or with g for it, or the step that failed. Condense stops within moments of ctx's end and returns ctx's error. It
// reports its steps to ctx (package progress).
//
// The same graph and configuration give the same bytes for any number of threads, on processors that run the same
// kernels.
func Condense(ctx context.Context, g *graph.Graph, config Config) (*Condensed, error) {
	p, err := Prepare(ctx, g, config)
	if err != nil {
		return nil, err
	}
	return p.Condense(ctx, config)
}

// Prepared is a graph after feature propagation and data assessment, the first two steps of algorithm 1. Configurations
// that agree in these steps can all be condensed from it, each at the cost of the remaining steps. It is safe for
// concurrent use. It reads the graph, which must not change.
type Prepared struct {
	config     Config
	given      *graph.Graph  // the graph that was given
	view       condense.View // what is condensed
	counts     []int         // training nodes of each class
	y          []int32       // class of each training node
	h          []mat.View    // H⁽⁰⁾ … H⁽ᴷ⁾ of the training nodes
	assessment assess.Assessment
	judging    sync.Mutex // guards the confidence below H⁽ᴷ⁾, computed for the first configuration that augments
	labeller   *selftrain.Labeller
	seconds    condense.Seconds
}

// The steps, as Seconds names them.
const (
	propagateStep = "propagate"
	assessStep    = "assess"
	augmentStep   = "augment"
	partitionStep = "partition"
	generateStep  = "generate"
)

// The streams of random numbers. Each step has its own, so that a change of one step leaves the draws of the other
// alone.
const (
	augmentStream = iota + 1
	partitionStream
)

// source returns the source of one stream.
func (c Config) source(stream uint64) rand.Source { return rand.NewPCG(c.Seed, stream) }

// Prepare does the first two steps, feature propagation and data assessment. They depend only on Propagation, Hops,
// Teleport, NormalizeFeatures, Standardize, Inductive and Engine. Errors are those of Condense.
func Prepare(ctx context.Context, g *graph.Graph, config Config) (_ *Prepared, err error) {
	defer memory.Recover(&err)
	if err := g.CheckContext(ctx); err != nil {
		return nil, fmt.Errorf("cgc: graph %s is not valid: %w", g.Name, err)
	}
	if _, err := check(g, config); err != nil {
		return nil, err
	}
	clock := condense.StartClock(ctx, propagateStep, assessStep)
	p := &Prepared{config: config, given: g}

	// Feature propagation: H⁽ˡ⁾ = ÂH⁽ˡ⁻¹⁾ at the training nodes (eq. 12).
	done := clock.Step(propagateStep)
	if p.view, err = config.Setting().View(ctx, g); err != nil {
		return nil, err
	}
	train := p.view.Split.Train
	p.counts, p.y = p.view.Counts(train), p.view.Labels(train)
	p.collect() // what a condensation before this one has left
	if p.h, err = p.embed(ctx, p.view.X, train, p.y); err != nil {
		return nil, err
	}
	p.labeller = &selftrain.Labeller{
		X: p.view.X, Embed: p.embed, Train: train, Y: p.y, H: p.h[len(p.h)-1], Classes: g.Classes,
	}
	p.collect()
	done()

	// Data assessment: the linear classifier W = T⁺Y (eqs. 13, 14), the confidence r and the class errors e by it.
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

// embed returns H⁽⁰⁾ … H⁽ᴷ⁾ of the given nodes. x takes the place of the features.
func (p *Prepared) embed(ctx context.Context, x mat.Matrix, nodes, classes []int32) ([]mat.View, error) {
	in := propagate.Input{Adj: p.view.Adj, X: x, Rows: nodes, Classes: classes, Mapped: p.view.Mapped && x == p.view.X}
	return propagate.Run(ctx, p.config.engine(), p.config.propagation(), in)
}

// collect frees what is not in use, as the blocks of propagation, if they are large. The collector alone would wait
// until twice the memory is in use. Memory that is new to the process costs more than a collection: a tenth of the
// whole time at 10⁵ nodes.
func (p *Prepared) collect() {
	const large = 16 << 20
	if p.config.Memory > 0 || 4*len(p.y)*p.view.Features() >= large {
		runtime.GC()
	}
}

// Condense does the remaining steps. It returns the same bytes as the function Condense, and Seconds that include those
// of the preparation. A config that does not share the preparation is an error.
func (p *Prepared) Condense(ctx context.Context, config Config) (_ *Condensed, err error) {
	defer memory.Recover(&err)
	nodes, err := check(p.given, config)
	if err != nil {
		return nil, err
	}
	if !p.config.SharesPreparation(config) {
		return nil, fmt.Errorf("cgc: graph %s was prepared for %+v, the configuration wants %+v",
			p.given.Name, p.config.preparation(), config.preparation())
	}
	clock := condense.StartClock(ctx, propagateStep, assessStep, augmentStep, partitionStep, generateStep)
	clock.Add(p.seconds)
	small := &Condensed{Graph: p.given.Name, Classes: p.given.Classes, Method: config.Name()}
	account := Account{Assessed: p.assessed()}
	recorded := config
	config = config.resolved()

	// Data augmentation: H_cond is H⁽ᴷ⁾ of the training nodes and a sample of shallower hops, drawn by class errors
	// (§3.3).
	done := clock.Step(augmentStep)
	size := int(config.Augment * float64(len(p.y)))
	picks, err := augment.Sample(p.y, p.assessment.Error, config.Hops, size, config.source(augmentStream))
	if err != nil {
		return nil, err
	}
	h, confidence := p.mixed(config, len(picks) > 0)
	pool := gather(h, p.y, confidence, picks, p.view.Split.Train)
	if err := p.pseudoLabel(ctx, config, &pool, &account.Assessed); err != nil {
		return nil, err
	}
	account.Assessed.Augmented = len(picks)
	done()

	// Class partition: the groups R̂ of each class, and their calibrated means H′ = R̂H_cond (eq. 15).
	done = clock.Step(partitionStep)
	if small.Budget, err = partition.Budgets(p.counts, nodes); err != nil {
		return nil, err
	}
	plan, err := config.plan(small.Budget)
	if err != nil {
		return nil, err
	}
	groups, err := plan.Aggregate(ctx, pool.rows, pool.y, pool.confidence, config.source(partitionStream))
	if err != nil {
		return nil, err
	}
	small.X, small.Y, account.Partitions = groups.H, groups.Y, groups.Stats
	small.Members = pool.members(groups.Members, p.view.Adj.Rows)
	if small.Soft, err = p.softLabels(ctx, config, pool, groups.Members); err != nil {
		return nil, err
	}
	done()

	// Graph generation: CGC-X returns {I, H′}. CGC finds A′ by similarity (eq. 16), then X′ from A′ and H′ (eq. 17).
	if config.Variant.Edges() {
		done = clock.Step(generateStep)
		if small.Adj, account.Threshold, err = p.edges(ctx, config, small); err != nil {
			return nil, err
		}
		small.X, account.Singular, err = generate.Solve(ctx, small.Adj, groups.H, config.shares(), config.Alpha)
		if err != nil {
			return nil, err
		}
		done()
	}
	p.view.Adopt(small)
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

// confidence returns the confidence of each hop. Hops below H⁽ᴷ⁾ may have none unless augmentation draws from them.
func (p *Prepared) confidence(drawn bool) [][]float32 {
	p.judging.Lock()
	defer p.judging.Unlock()
	if drawn {
		p.assessment.Judge(p.h, p.y)
	}
	return slices.Clone(p.assessment.Confidence)
}

// assessed returns the account of the assessment.
func (p *Prepared) assessed() Assessed {
	a := p.assessment
	assessed := Assessed{Accuracy: 100 * a.Accuracy, Rank: a.Rank, Error: a.Error}
	if a.Condition >= IllConditioned {
		assessed.Condition = a.Condition
	}
	return assessed
}

// warnings returns what the user should know about the features.
func (p *Prepared) warnings() []string {
	warning := p.assessment.Warning()
	if warning == "" || p.config.Standardize {
		return nil
	}
	return []string{warning}
}

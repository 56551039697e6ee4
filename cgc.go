// Package cgc condenses a labelled graph: from a graph of up to millions of nodes it makes one of some hundred, such that a graph neural
// network (GNN) trained on the small graph does about as well on the large one as if it had been trained there.
//
// The method is Class-partitioned Graph Condensation (Gao et al., "Rethinking and Accelerating Graph Condensation: A Training-Free
// Approach with Class Partition", WWW 2025): no training and no gradients, but closed forms and clustering.
//
//	config := cgc.Defaults()
//	config.Nodes = 70
//	small, err := cgc.Condense(ctx, g, config)
//	err = small.Save(ctx, "cora70.safetensors")
//
// This package is the only place that knows the order of the steps. Each step has a package of its own: propagate, assess, augment,
// partition, generate. docs/paper.md leads from each equation to the name that computes it.
package cgc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/graph-condensation/cgc/assess"
	"github.com/graph-condensation/cgc/augment"
	"github.com/graph-condensation/cgc/generate"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

// Condense condenses g by config (algorithm 1 of the paper). g must be valid (graph.Graph.Validate; readers of package dataset see to
// that) and is left alone. The errors name everything that is wrong with config, or with g for it, or the step that failed. It stops within
// moments of ctx's end and returns ctx's error.
//
// The same graph, configuration and seed give the same bytes, for any number of threads, on processors that run the same kernels.
func Condense(ctx context.Context, g *graph.Graph, config Config) (*Condensed, error) {
	nodes, err := check(g, config)
	if err != nil {
		return nil, err
	}
	p, err := prepare(ctx, g, config)
	if err != nil {
		return nil, err
	}
	small, err := p.condense(ctx, config, nodes)
	if err != nil {
		return nil, err
	}
	small.Seconds.Propagate, small.Seconds.Assess = p.seconds.Propagate, p.seconds.Assess
	small.Seconds.Condense += p.seconds.Condense
	return small, nil
}

// Prepared is a graph whose embeddings are propagated and assessed. Any number of configurations that agree so far can be condensed from it, each for the
// price of the remaining steps. It is safe for concurrent use. It reads the features of the graph where they are: the graph must not change while it is used.
type Prepared struct {
	config     Config
	name       string
	classes    int
	nodes      int        // of the graph that was given
	origin     []int32    // node of the graph that was given, for each node of the one that is condensed; nil if they are the same
	train      []int32    // training nodes, in the graph that is condensed
	counts     []int      // of training nodes of each class
	y          []int32    // class of each training node
	h          []mat.View // H⁽⁰⁾ … H⁽ᴷ⁾ of the training nodes
	assessment assess.Assessment
	judging    sync.Mutex // of assessment.Confidence below H⁽ᴷ⁾, which is made for the first configuration that augments
	scaling    *graph.Scaling
	adj        *mat.CSR // of the graph that is condensed
	seconds    Seconds
	graph      *graph.Graph // as it was given
	labeller   labeller
}

// Prepare propagates and assesses the embeddings of g by config: the steps of algorithm 1 that do not depend on Method, Nodes, Ratio, LabelRatio, Augment,
// Partition, Partitions, HopWeights, PseudoLabels, SoftLabels, Temperature, Edges, Threshold, Degree, Alpha and Seed. Errors are those of Condense.
func Prepare(ctx context.Context, g *graph.Graph, config Config) (*Prepared, error) {
	if _, err := check(g, config); err != nil {
		return nil, err
	}
	return prepare(ctx, g, config)
}

// Condense does the remaining steps, and returns what Condense of the package would: the same bytes, with Seconds of these steps alone. It is an error if config differs from
// that of Prepare in Propagation, Hops, Teleport, Standardize or Inductive.
func (p *Prepared) Condense(ctx context.Context, config Config) (*Condensed, error) {
	nodes, err := check(p.graph, config)
	if err != nil {
		return nil, err
	}
	if a, b := p.config.preparation(), config.preparation(); a != b {
		return nil, fmt.Errorf("cgc: graph %s was prepared for %+v, the configuration wants %+v", p.name, a, b)
	}
	return p.condense(ctx, config, nodes)
}

// Seconds returns what the preparation took: Propagate, Assess, and both with what is around them as Condense. Added to those of a condensation, they are what it would have
// taken alone.
func (p *Prepared) Seconds() Seconds { return p.seconds }

// SharesPreparation says whether c and d agree in what Prepare depends on, so that both can be condensed from one Prepared.
func (c Config) SharesPreparation(d Config) bool { return c.preparation() == d.preparation() }

// preparation is the part of a Config that Prepare depends on. Memory is left out: results do not depend on it.
type preparation struct {
	Propagation propagate.Propagation
	Standardize bool
	Inductive   bool
}

func (c Config) preparation() preparation {
	p := preparation{propagate.Propagation{Rule: c.Propagation, Hops: c.Hops}, c.Standardize, c.Inductive}
	if c.Propagation == propagate.PPR {
		p.Propagation.Teleport = c.Teleport
	}
	return p
}

// check returns N′, or what is wrong with config, or with g for it.
func check(g *graph.Graph, config Config) (nodes int, err error) {
	if err := config.Validate(); err != nil {
		return 0, err
	}
	if err := trainable(g); err != nil {
		return 0, err
	}
	return config.Size(g)
}

// trainable returns an error if a model could not learn all classes of g from its training nodes.
func trainable(g *graph.Graph) error {
	if len(g.Split.Train) == 0 {
		return fmt.Errorf("cgc: graph %s has 0 training nodes, want at least 1", g.Name)
	}
	train, val, test := g.Counts(g.Split.Train), g.Counts(g.Split.Val), g.Counts(g.Split.Test)
	var errs []error
	for c, n := range train {
		if n == 0 && val[c]+test[c] > 0 {
			errs = append(errs, fmt.Errorf("cgc: class %d of graph %s has 0 training nodes and %d for validation and test, want at least 1 for training", c, g.Name, val[c]+test[c]))
		}
	}
	return errors.Join(errs...)
}

// Seconds is the wall-clock time of each step, in seconds. Condense is all of it, from the graph in memory to the condensed graph in memory.
type Seconds struct {
	Propagate float64 `json:"propagate"`
	Assess    float64 `json:"assess"`
	Augment   float64 `json:"augment"`
	Partition float64 `json:"partition"`
	Generate  float64 `json:"generate"`
	Condense  float64 `json:"condense"`
}

// The streams of random numbers, one for each step that draws any, so that a change of one step leaves the other's draws alone.
const (
	augmentStream = iota + 1
	partitionStream
)

// source returns the source of one stream.
func (c Config) source(stream uint64) rand.Source { return rand.NewPCG(c.Seed, stream) }

// step announces a step and returns a function that notes its time.
func (c Config) step(name string, seconds *float64) func() {
	if c.Progress != nil {
		c.Progress(name)
	}
	begun := time.Now()
	return func() { *seconds = time.Since(begun).Seconds() }
}

func prepare(ctx context.Context, g *graph.Graph, config Config) (*Prepared, error) {
	begun := time.Now()
	p := &Prepared{config: config, name: g.Name, classes: g.Classes, nodes: g.Nodes(), graph: g}
	done := config.step("propagate", &p.seconds.Propagate)
	if config.Inductive {
		p.origin = g.Split.Train
		g = g.TrainingGraph()
	}
	if config.Standardize {
		scaling := graph.FitScaling(g.X, g.Split.Train)
		p.scaling = &scaling
		g = g.Scaled(scaling)
	}
	p.adj, p.train = g.Adj, g.Split.Train
	p.counts, p.y = g.Counts(p.train), g.Labels(p.train)
	var err error
	p.h, err = config.embeddings(ctx, g, g.X, p.train, p.y)
	if err != nil {
		return nil, err
	}
	// What follows takes the memory of the blocks, which the collector would otherwise leave until twice as much is in use. Memory that is new to the process costs more
	// than a collection where there is much of it: a tenth of the whole time on a graph of a hundred thousand nodes.
	const large = 16 << 20
	if config.Memory > 0 || 4*len(p.train)*g.Features() >= large {
		runtime.GC()
	}
	done()

	done = config.step("assess", &p.seconds.Assess)
	if p.assessment, err = assess.Fit(ctx, p.h, p.y, p.classes); err != nil {
		return nil, err
	}
	if config.resolved().Augment > 0 {
		p.assessment.Judge(p.h, p.y)
	}
	done()
	p.seconds.Condense = time.Since(begun).Seconds()
	return p, ctx.Err()
}

// confidence returns the confidence of each hop. Of those below H⁽ᴷ⁾ there may be none unless they are drawn from.
func (p *Prepared) confidence(drawn bool) [][]float32 {
	p.judging.Lock()
	defer p.judging.Unlock()
	if drawn {
		p.assessment.Judge(p.h, p.y)
	}
	return slices.Clone(p.assessment.Confidence)
}

func (p *Prepared) condense(ctx context.Context, config Config, nodes int) (*Condensed, error) {
	begun := time.Now()
	small := &Condensed{Graph: p.name, Classes: p.classes, Scaling: p.scaling, Config: config}
	small.Config.Progress = nil
	small.Assessed = Assessed{Accuracy: 100 * p.assessment.Accuracy, Rank: p.assessment.Rank, Error: p.assessment.Error}
	config = config.resolved()

	done := config.step("augment", &small.Seconds.Augment)
	picks, err := augment.Sample(p.y, p.assessment.Error, config.Hops, int(config.Augment*float64(len(p.train))), config.source(augmentStream))
	if err != nil {
		return nil, err
	}
	h, confidence := p.mixed(config, len(picks) > 0)
	pool := gather(h, p.y, confidence, picks)
	small.Assessed.Augmented = len(picks)
	sources := p.train // the nodes that the rows of the pool are of
	if config.PseudoLabels > 0 {
		picked, err := p.pseudoLabels(ctx, config)
		if err != nil {
			return nil, err
		}
		p.join(&pool, picked, config)
		sources = slices.Concat(sources, picked.nodes)
		small.Assessed.PseudoLabelled = len(picked.nodes)
	}
	done()

	done = config.step("partition", &small.Seconds.Partition)
	if small.Budget, err = partition.Budgets(p.counts, nodes); err != nil {
		return nil, err
	}
	plan := partition.Plan{Budgets: small.Budget, Partitioner: config.partition(), Partitions: config.Partitions, Temperature: float64(config.Temperature)}
	groups, err := plan.Aggregate(ctx, pool.rows, pool.y, pool.confidence, config.source(partitionStream))
	if err != nil {
		return nil, err
	}
	small.X, small.Y, small.Partitions = groups.H, groups.Y, groups.Stats
	small.Members = members(groups.Members, pool.row, sources, p.origin, p.nodes)
	if config.SoftLabels {
		if small.Soft, err = p.softLabels(ctx, pool, groups.Members); err != nil {
			return nil, err
		}
	}
	done()

	if config.Method == CGC {
		done = config.step("generate", &small.Seconds.Generate)
		if config.Edges == RealEdges {
			own := small.Members
			if p.origin != nil { // the edges are those of the graph that is condensed, and so must be the nodes
				own = members(groups.Members, pool.row, sources, nil, p.adj.Rows)
			}
			small.Adj, small.Threshold, err = generate.Aggregated(ctx, own, p.adj, config.Degree)
		} else {
			small.Adj, small.Threshold, err = generate.Adjacency(ctx, groups.H, config.Threshold, config.Degree)
		}
		if err != nil {
			return nil, err
		}
		if small.X, err = generate.Features(ctx, small.Adj, groups.H, config.HopWeights.shares(config.Hops), config.Alpha); err != nil {
			return nil, err
		}
		done()
	}
	small.Seconds.Condense = time.Since(begun).Seconds()
	return small, ctx.Err()
}

// partition returns the partitioner that the configuration names. Validate has seen to the name.
func (c Config) partition() partition.Partitioner {
	p, err := partition.Find(string(c.Partition))
	if err != nil {
		panic(err)
	}
	return p
}

// pool is H_cond, y_cond and their confidence (§3.3): the training nodes' embeddings, then the sampled ones, then those of pseudo-labelled nodes.
type pool struct {
	rows       [][]float32 // views of the embeddings, which are not copied
	y          []int32
	confidence []float32
	row        []int32 // the node of each embedding, by its position among the training nodes and, behind these, the pseudo-labelled ones
}

func gather(h []mat.View, y []int32, confidence [][]float32, picks []augment.Pick) pool {
	last := len(h) - 1
	n := len(y)
	p := pool{rows: h[last].Rows(), y: y, confidence: confidence[last], row: make([]int32, n, n+len(picks))}
	for i := range p.row {
		p.row[i] = int32(i)
	}
	if len(picks) == 0 {
		return p
	}
	p.y, p.confidence = slices.Clone(y), slices.Clone(p.confidence)
	for _, pick := range picks {
		p.rows = append(p.rows, h[pick.Hop].Row(int(pick.Row)))
		p.y = append(p.y, y[pick.Row])
		p.confidence = append(p.confidence, confidence[pick.Hop][pick.Row])
		p.row = append(p.row, pick.Row)
	}
	return p
}

// members turns groups of embeddings into groups of nodes of the graph that was given: an embedding becomes its node, and a node whose
// embeddings of several hops share a group has their weights summed.
func members(groups *mat.CSR, row, sources, origin []int32, nodes int) *mat.CSR {
	m := &mat.CSR{Rows: groups.Rows, Cols: nodes, Indptr: make([]int64, 1, groups.Rows+1), Data: []float32{}}
	weight := make([]float32, len(sources))
	in := make([]int, len(sources)) // 1 + the last group that the node was met in
	var inside []int32
	for j := range groups.Rows {
		inside = inside[:0]
		for e, w := range groups.Row(j) {
			i := row[e]
			if in[i] != j+1 {
				in[i], weight[i] = j+1, 0
				inside = append(inside, i)
			}
			weight[i] += w
		}
		slices.SortFunc(inside, func(a, b int32) int { return cmp.Compare(sources[a], sources[b]) })
		for _, i := range inside {
			node := sources[i]
			if origin != nil {
				node = origin[node]
			}
			m.Indices = append(m.Indices, node)
			m.Data = append(m.Data, weight[i])
		}
		m.Indptr = append(m.Indptr, int64(len(m.Indices)))
	}
	return m
}

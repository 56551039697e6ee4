// Package gradient condenses a graph by matching gradients: GCond, GCond-X, DosCond, MSGC and SGDD.
//
// These methods learn X′ and A′ so that a relay model has similar parameter gradients on the condensed and on the
// original graph. A′ is PGE(X′), a graphon (SGDD) or I (GCond-X). The objective is
//
//	min Σ_θ Σ_c n′_c/max n′ · D(∇_θ ℓ_c(A, X), ∇_θ ℓ_c(A′, X′)),
//
// where ℓ_c is the mean cross entropy of the nodes of class c. D is 1 − cosine, summed over the columns of each weight
// matrix, or the squared distance. Each epoch draws weights θ, trains the relay on the condensed graph and matches
// gradients at its states.
//
// The relay is linear (SGC) or a GCN with two layers. The parameter gradient of SGC has a closed form, so
// differentiating the objective needs only first-order derivatives. GCN needs second-order derivatives.
//
// Departures of GCond and DosCond from their authors' program (ChandlerBang/GCond, gcond_agent_transduct.py):
//   - X′ begins with features of the node's own class, as in the paper. The program sorts the rows of Y′ by the size of
//     their class, but those of X′ by its number. On Cora, five of seven classes begin with the features of another
//     class.
//   - On Cora and Citeseer, the programs of all five methods divide each row of features by its sum. Here all rows are
//     divided by the mean sum (package learn).
//   - Real gradients use full neighbourhoods, not 10 and 5 sampled neighbours. The relay SGC draws Batch nodes of a
//     larger class with replacement. The program draws them without. The relay GCN uses all training nodes.
//   - On arxiv and Flickr, the relay of the program is an SGC with a hidden layer and ReLU. Here there is no such
//     relay.
//   - The program has no GCond-X: with lr_adj=0 it learns X′ for a random A′, which it then drops. Here GCond-X has the
//     settings of GCond and A′ = I throughout, and every epoch trains X′.
//
// docs/notes/2026-11-baselines.md explains what the papers leave open and what other departures cost.
package gradient

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// Methods returns the methods of the package with their default parameters.
func Methods() []condense.Method {
	x := gcondX{Matching: newGCond().Matching, Choice: newGCond().Choice}
	return []condense.Method{newGCond(), x, newDosCond(), newMSGC(), newSGDD()}
}

// SGC and GCN are the names of the relays. Cosine and MSE are the names of the distances.
const (
	SGC    = "sgc"
	GCN    = "gcn"
	Cosine = "cosine"
	MSE    = "mse"
)

// Matching holds the parameters of gradient matching.
type Matching struct {
	// Epochs is the number of relays, each with random initial weights, at least 1.
	Epochs int `json:"epochs"`
	// Outer is the number of states of a relay at which gradients are matched, at least 1. Inner is the number of steps
	// that train the relay from one state to the next, at least 0.
	Outer int `json:"outer"`
	Inner int `json:"inner"`
	// FeatureRate is Adam's learning rate for X′, above 0. RelayRate is the relay's learning rate, above 0.
	FeatureRate float64 `json:"lr_feat"`
	RelayRate   float64 `json:"lr_model"`
	// Relay is the GNN whose gradients are matched: sgc or gcn. Hops is the number of propagations of sgc, at least 0.
	// Hidden is the number of hidden units of gcn, at least 1.
	Relay  string `json:"relay"`
	Hops   int    `json:"hops"`
	Hidden int    `json:"hidden"`
	// Distance is D: cosine or mse.
	Distance string `json:"distance"`
	// Batch is the number of training nodes of each class in a step with the relay sgc, drawn anew for each step; 0
	// uses all.
	Batch int `json:"batch"`
}

// gcond is a method that learns X′ and A′ by matching gradients: gcond or doscond.
type gcond struct {
	name string
	Matching
	learn.Choice
	learn.Structure
}

const (
	// nameGCond matches the gradients of a GNN on the condensed graph with its gradients on the training nodes, throughout
	// many training runs. A network computes A′ from pairs of rows of X′. Source: Jin et al., Graph condensation for graph
	// neural networks (ICLR 2022).
	nameGCond = "gcond"
	// nameDosCond matches gradients as gcond does, but only at the random initial weights of each GNN. Source: Jin et
	// al., Condensing graphs via one-step gradient matching (KDD 2022).
	nameDosCond = "doscond"
)

// gcondX matches gradients as gcond does, without edges: A′ = I. Source: as gcond.
type gcondX struct {
	Matching
	learn.Choice
	// Memory limits the memory for the rows of the training nodes and for X′.
	Memory rival.Memory `json:"memory"`
}

// newGCond returns gcond with the settings of its authors' program for Cora.
func newGCond() gcond {
	return gcond{
		name: nameGCond,
		Matching: Matching{
			Epochs: 600, Outer: 20, Inner: 15, FeatureRate: 1e-4, RelayRate: 0.01, Relay: SGC, Hops: 2, Hidden: 256,
			Distance: Cosine, Batch: 256,
		},
		Choice: learn.Choice{JudgeEvery: 25, JudgeEpochs: 200},
		Structure: learn.Structure{
			AdjacencyRate: 1e-4, PairHidden: 128, Threshold: 0.05, StartWeight: 0.5, StructureEpochs: 10, FeatureEpochs: 40,
		},
	}
}

// newDosCond returns doscond with the settings of its authors' program for Cora.
func newDosCond() gcond {
	m := newGCond()
	m.name = nameDosCond
	m.Epochs, m.Outer, m.Inner, m.FeatureRate, m.Relay, m.Distance = 5000, 1, 0, 1e-3, GCN, MSE
	m.AdjacencyRate, m.JudgeEvery = 1e-3, 100
	return m
}

// Name returns the name of the method.
func (m gcond) Name() string { return m.name }

// Name returns "gcond-x".
func (gcondX) Name() string { return "gcond-x" }

// Condense implements condense.Method.
func (m gcond) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, m.Choice, &m.Structure, nodes, seed)
}

// Condense implements condense.Method.
func (m gcondX) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, m.Choice, nil, nodes, seed)
}

// Check validates the parameters, g, nodes and the memory limit.
func (m gcond) Check(g *graph.Graph, nodes int) error {
	return m.check(g, m, &m.Structure, m.Memory, nodes, m.Choice.Check())
}

// Check validates the parameters, g, nodes and the memory limit.
func (m gcondX) Check(g *graph.Graph, nodes int) error {
	return m.check(g, m, nil, m.Memory, nodes, m.Choice.Check())
}

// check returns errs, and an error for each parameter that is out of range. If there is none, it checks the memory that
// a run needs. A nil structure means A′ = I.
func (m Matching) check(
	g *graph.Graph, method condense.Method, s *learn.Structure, memory rival.Memory, nodes int, errs ...error,
) error {
	return learn.Check(method, g, nodes, s, memory, func() float64 { return m.bytes(g, nodes) }, append(errs,
		parameter.Check(m.Epochs >= 1, "epochs", m.Epochs, "at least 1"),
		parameter.Check(m.Outer >= 1, "outer", m.Outer, "at least 1"),
		parameter.Check(m.Inner >= 0, "inner", m.Inner, "at least 0"),
		parameter.Check(m.FeatureRate > 0, "lr feat", m.FeatureRate, "above 0"),
		parameter.Check(m.RelayRate > 0, "lr model", m.RelayRate, "above 0"),
		parameter.Check(m.Relay == SGC || m.Relay == GCN, "relay", m.Relay, "sgc or gcn"),
		parameter.Check(m.Hops >= 0, "hops", m.Hops, "at least 0"),
		parameter.Check(m.Hidden >= 1, "hidden", m.Hidden, "at least 1"),
		parameter.Check(m.Distance == Cosine || m.Distance == MSE, "distance", m.Distance, "cosine or mse"),
		parameter.Check(m.Batch >= 0, "batch", m.Batch, "at least 0"),
	)...)
}

// bytes returns the memory of matching without the pair network: X′ with its gradients, and the rows of the training
// nodes. For each class, the relay GCN stores ÂX at its training nodes and their neighbours as a sparse matrix, its
// transpose, and about four matrices of hidden units. Dense rows are stored for only one class at a time.
func (m Matching) bytes(g *graph.Graph, nodes int) float64 {
	d := g.Features()
	own := 40 * float64(nodes) * float64(d)
	if m.Relay == SGC {
		return own + learn.EmbeddingBytes(len(g.Split.Train), d, m.Hops)
	}
	each, _ := learn.Reached(g)
	rows := 0
	for _, n := range each {
		rows += n
	}
	return own + 16*float64(rows)*float64(d+m.Hidden) + learn.EmbeddingBytes(slices.Max(each), d, 1)
}

// run condenses g by gradient matching. A nil structure means A′ = I.
func (m Matching) run(
	ctx context.Context, g *graph.Graph, method condense.Checker, choice learn.Choice, s *learn.Structure, nodes int,
	seed uint64,
) (*condense.Condensed, error) {
	plan := learn.Plan{Method: method, Nodes: nodes, Seed: seed, Epochs: m.Epochs, Choice: choice}
	return learn.Run(ctx, g, plan, func(start *learn.Start) (learn.Learner, error) {
		relay, err := newRelay(ctx, start, m)
		if err != nil {
			return nil, err
		}
		return &matcher{m, s.Pair(start, m.FeatureRate, seed), relay}, nil
	})
}

// relay is the model whose gradients are matched.
type relay interface {
	// Restart draws new weights.
	Restart(src rand.Source)
	// match returns the objective at the current weights, and its gradients with respect to X′ and A′. a and da are nil
	// for A′ = I. The batch of training nodes is drawn from src.
	match(ctx context.Context, x, a *mat.Dense, src rand.Source) (loss float64, dx, da *mat.Dense, err error)
	// train trains the relay on the condensed graph.
	train(ctx context.Context, x, a *mat.Dense, steps int) error
}

func newRelay(ctx context.Context, s *learn.Start, m Matching) (relay, error) {
	if m.Relay == GCN {
		return newConvolution(ctx, s, m)
	}
	return newLinear(ctx, s, m)
}

// matcher is the Learner of gradient matching.
type matcher struct {
	Matching
	*learn.Pair
	relay relay
}

// Epoch draws a relay and matches gradients at Outer of its states.
func (l *matcher) Epoch(ctx context.Context, epoch int, src rand.Source) (loss float64, err error) {
	l.relay.Restart(src)
	a := l.A()
	for outer := range l.Outer {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		value, dx, da, err := l.relay.match(ctx, l.X, a, src)
		if err != nil {
			return 0, err
		}
		loss += value / float64(l.Outer)
		l.Step(epoch, dx, da)
		if outer == l.Outer-1 {
			break
		}
		a = l.A()
		if err := l.relay.train(ctx, l.X, a, l.Inner); err != nil {
			return 0, err
		}
	}
	return loss, nil
}

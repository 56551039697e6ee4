// Package gradient holds the rivals that match gradients: GCond, GCond-X, DosCond, MSGC and SGDD.
//
// They learn X′, and A′ = PGE(X′), so that a relay model has the same parameter gradient on the condensed graph as on
// the original one:
//
//	min Σ_θ Σ_c n′_c/max n′ · D(∇_θ ℓ_c(A, X), ∇_θ ℓ_c(A′, X′)),
//
// with ℓ_c the mean cross entropy of the nodes of class c, and D a sum over the columns of each weight matrix of
// 1 − cosine, or the squared distance. In an epoch a relay with new weights θ is trained on the condensed graph, and
// each of its states is matched.
//
// The relay is linear (SGC) or a GCN with two layers. For SGC the parameter gradient is a closed form, so that the
// gradient of the objective is one of first order. For GCN it is of second order.
//
// docs/rivals.md says what the papers leave open, and where the authors' programs do otherwise.
package gradient

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival"
	"github.com/graph-condensation/cgc/rival/learn"
)

// Names of relays and distances.
const (
	SGC    = "sgc"
	GCN    = "gcn"
	Cosine = "cosine"
	MSE    = "mse"
)

// Matching are the parameters of matching.
type Matching struct {
	// Epochs is the number of relays that are drawn, at least 1.
	Epochs int `json:"epochs"`
	// Outer is the number of states of a relay that are matched, at least 1. Inner is the number of steps that train the
	// relay from one state to the next, at least 0.
	Outer int `json:"outer"`
	Inner int `json:"inner"`
	// FeatureRate is the step size of Adam on X′, above 0. RelayRate is that on the relay.
	FeatureRate float64 `json:"lr_feat"`
	RelayRate   float64 `json:"lr_model"`
	// Relay is SGC or GCN. Hops is the number of propagations of SGC, at least 0. Hidden is the number of hidden units of
	// GCN, at least 1.
	Relay  string `json:"relay"`
	Hops   int    `json:"hops"`
	Hidden int    `json:"hidden"`
	// Distance is Cosine or MSE.
	Distance string `json:"distance"`
	// Batch is the number of training nodes of a class that a step of SGC sees, drawn anew for each; 0 for all.
	Batch int `json:"batch"`
	learn.Choice
}

// GCond is the method of Jin et al., Graph condensation for graph neural networks (ICLR 2022).
type GCond struct {
	Matching
	learn.Structure
}

// GCondX is GCond with A′ = I.
type GCondX struct {
	Matching
	// Memory bounds the memory for the training nodes.
	Memory rival.Memory `json:"memory"`
}

// DosCond is the method of Jin et al., Condensing graphs via one-step gradient matching (KDD 2022), for nodes: relays
// are matched at their initial weights only, and each step trains X′ and A′.
type DosCond struct {
	Matching
	learn.Structure
}

// NewGCond returns GCond with the settings of its authors' program for Cora.
func NewGCond() GCond {
	return GCond{
		Matching: Matching{
			Epochs: 600, Outer: 20, Inner: 15, FeatureRate: 1e-4, RelayRate: 0.01, Relay: SGC, Hops: 2, Hidden: 256,
			Distance: Cosine, Batch: 256, Choice: learn.Choice{JudgeEvery: 25, JudgeEpochs: 200},
		},
		Structure: learn.Structure{
			AdjacencyRate: 1e-4, PairHidden: 128, Threshold: 0.05, StartWeight: 0.5, StructureEpochs: 10, FeatureEpochs: 40,
		},
	}
}

// NewGCondX returns GCondX with the settings of GCond.
func NewGCondX() GCondX { return GCondX{Matching: NewGCond().Matching} }

// NewDosCond returns DosCond with relays GCN and rates 10⁻³, as its authors' program has for Cora, and the cosine.
func NewDosCond() DosCond {
	m := DosCond{NewGCond().Matching, NewGCond().Structure}
	m.Epochs, m.Outer, m.Inner, m.FeatureRate, m.Relay = 1000, 3, 0, 1e-3, GCN
	m.AdjacencyRate, m.StructureEpochs, m.FeatureEpochs = 1e-3, 0, 0
	return m
}

// Name returns "gcond".
func (GCond) Name() string { return "gcond" }

// Name returns "gcond-x".
func (GCondX) Name() string { return "gcond-x" }

// Name returns "doscond".
func (DosCond) Name() string { return "doscond" }

// Condense learns X′ and A′.
func (m GCond) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, &m.Structure, nodes, seed)
}

// Condense learns X′.
func (m GCondX) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, nil, nodes, seed)
}

// Condense learns X′ and A′.
func (m DosCond) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, &m.Structure, nodes, seed)
}

// Check returns what is wrong with the parameters, with g, or with nodes for them.
func (m GCond) Check(g *graph.Graph, nodes int) error {
	return m.check(g, m, &m.Structure, m.Memory, nodes)
}

// Check returns what is wrong with the parameters, with g, or with nodes for them.
func (m GCondX) Check(g *graph.Graph, nodes int) error { return m.check(g, m, nil, m.Memory, nodes) }

// Check returns what is wrong with the parameters, with g, or with nodes for them.
func (m DosCond) Check(g *graph.Graph, nodes int) error {
	return m.check(g, m, &m.Structure, m.Memory, nodes)
}

// check returns everything that is wrong; a nil structure means A′ = I. What is needed beside the structure is counted
// where the parameters are right.
func (m Matching) check(
	g *graph.Graph, method condense.Method, s *learn.Structure, memory rival.Memory, nodes int,
) error {
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	errs := []error{
		learn.Want(m.Epochs >= 1, "epochs", m.Epochs, "at least 1"),
		learn.Want(m.Outer >= 1, "outer", m.Outer, "at least 1"),
		learn.Want(m.Inner >= 0, "inner", m.Inner, "at least 0"),
		learn.Want(m.FeatureRate > 0, "lr feat", m.FeatureRate, "above 0"),
		learn.Want(m.RelayRate > 0, "lr model", m.RelayRate, "above 0"),
		learn.Want(m.Relay == SGC || m.Relay == GCN, "relay", m.Relay, "sgc or gcn"),
		learn.Want(m.Hops >= 0, "hops", m.Hops, "at least 0"),
		learn.Want(m.Hidden >= 1, "hidden", m.Hidden, "at least 1"),
		learn.Want(m.Distance == Cosine || m.Distance == MSE, "distance", m.Distance, "cosine or mse"),
		learn.Want(m.Batch >= 0, "batch", m.Batch, "at least 0"),
		m.Choice.Check(),
	}
	pairs := 0.0
	if s != nil {
		errs = append(errs, s.Check(method.Name(), nodes))
		pairs = learn.PairBytes(nodes, s.PairHidden)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return memory.Fits(learn.Training(method.Name(), g), pairs+m.bytes(g, nodes))
}

// bytes returns what matching takes beside the pair network: X′ with what a step makes of it, and the rows of the
// training nodes. The relay GCN keeps, for each class, ÂX at its training nodes and their neighbours, the transpose of
// that, and four matrices of hidden units. Both ÂX are sparse matrices. One class at a time has dense rows too.
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

// run checks everything and condenses by matching. A nil structure means A′ = I.
func (m Matching) run(
	ctx context.Context, g *graph.Graph, method condense.Checker, s *learn.Structure, nodes int, seed uint64,
) (_ *condense.Condensed, err error) {
	defer memory.Recover(&err)
	if err := method.Check(g, nodes); err != nil {
		return nil, err
	}
	plan := learn.Plan{Method: method, Nodes: nodes, Seed: seed, Epochs: m.Epochs, Choice: m.Choice}
	if s != nil {
		plan.Threshold = s.Threshold
	}
	return learn.Run(ctx, g, plan, func(start *learn.Start) (learn.Learner, error) {
		relay, err := newRelay(ctx, start, m)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return &matcher{m, learn.NewPair(start, m.FeatureRate, learn.Structure{}, nil), relay}, nil
		}
		return &matcher{m, learn.NewPair(start, m.FeatureRate, *s, s.Pairs(start, seed)), relay}, nil
	})
}

// relay is the model whose gradients are matched.
type relay interface {
	// restart draws new weights.
	restart(src rand.Source)
	// match returns the objective at the weights, and its gradients by X′ and A′. a and da are nil for A′ = I. src draws
	// the batch of training nodes.
	match(ctx context.Context, x, a *mat.Dense, src rand.Source) (loss float64, dx, da *mat.Dense, err error)
	// train does steps on the condensed graph.
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

// Epoch draws a relay and matches Outer of its states.
func (l *matcher) Epoch(ctx context.Context, epoch int, src rand.Source) (loss float64, err error) {
	l.relay.restart(src)
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

package gradient

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// sgdd matches gradients as gcond does. A′ is computed by a network of pairs of positions, a learnt graphon, combined
// in each layer with a network of pairs of rows of X′. The loss also contains the optimal transport distance to the
// original graph. Source: Yang et al., Does graph distillation see like vision dataset counterpart? (NeurIPS 2023).
//
// The loss includes Smoothness·tr(YᵀL′Y), with one-hot labels Y and L′ = I − D^-½A′D^-½. In epochs that train A′, it
// also includes Transport times the distance of plan.
//
// Departures from the authors' program (RingBDStack/SGDD, SGDD_agent.py and models/IGNR.py):
//   - Their distance uses A′ and Â instead of Laplacians, and drops the smallest singular value if it is below 0.009.
//     Here it uses Laplacians, as in the COPT program that theirs includes, so that square roots are real.
//   - They use the plan from before the Sinkhorn steps. Here the plan from after them is used.
//   - Their distance is to the graph itself, or to the subgraph of 5000 random nodes; here it is to the subgraph of
//     Sample nodes. At their weight of 10⁻¹⁰, which is the default here too, the distance hardly matters.
//   - Their result, and the A′ on which they train the relay, come from batch normalisation with running means. Here
//     the means of the current pairs are used throughout.
//   - Real gradients use full neighbourhoods, and X′ begins with features of the node's own class, as in gcond.
//   - Smoothness is 0.5, the default of the program. The command in its README has 0.1.
//   - The program trains the GNN that it reports on A′ itself, without self-loops and normalisation.
type sgdd struct {
	Matching
	learn.Choice
	learn.Structure
	// Graphon is the weight of the network of positions in the last layer, from 0 to 1. The rest is the weight of the
	// network of rows.
	Graphon float64 `json:"graphon"`
	// Smoothness is the weight of the smoothness of labels over A′. Transport is the weight of the transport distance.
	// Both are at least 0. Sample is the number of original nodes to which the distance is measured, at least 2: random
	// training nodes and their neighbourhoods.
	Smoothness float64 `json:"smoothness"`
	Transport  float64 `json:"transport"`
	Sample     int     `json:"sample"`
}

// newSGDD returns SGDD with the settings of its authors' program, with a sample of 200 nodes.
func newSGDD() sgdd {
	m := sgdd{
		Matching: newGCond().Matching, Choice: newGCond().Choice, Structure: newGCond().Structure,
		Graphon: 0.5, Smoothness: 0.5, Transport: 1e-10, Sample: 200,
	}
	m.Epochs = 2000
	m.Threshold = 0
	return m
}

// Name returns "sgdd".
func (sgdd) Name() string { return "sgdd" }

// Check validates the parameters, g, nodes and the memory limit.
func (m sgdd) Check(g *graph.Graph, nodes int) error {
	both := m.Structure
	both.PairHidden = max(m.PairHidden, 4*m.PairHidden) // 14 matrices, not 4; a negative value is reported unchanged
	err := errors.Join(
		m.check(g, m, &both, m.Memory, nodes, m.Choice.Check()),
		parameter.Check(m.Graphon >= 0 && m.Graphon <= 1, "graphon", m.Graphon, "0 to 1"),
		parameter.Check(m.Smoothness >= 0, "smoothness", m.Smoothness, "at least 0"),
		parameter.Check(m.Transport >= 0, "transport", m.Transport, "at least 0"),
		parameter.Check(m.Sample >= 2, "sample", m.Sample, "at least 2"),
	)
	if err != nil || m.Transport == 0 {
		return err
	}
	// Counted: the plan with its Sinkhorn steps and their gradients, and the Laplacian of the sample with its inverse.
	sample := float64(min(m.Sample, g.Nodes()))
	return m.Memory.Fits(rival.Training(m.Name(), g), learn.PairBytes(nodes, both.PairHidden)+m.bytes(g, nodes)+
		4*sample*(60*float64(nodes)+8*sample))
}

// pointStream and planStream are random streams of the seed.
const (
	pointStream = 1<<40 + 3
	planStream  = 1<<40 + 4
)

// Condense implements condense.Method.
func (m sgdd) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	plan := learn.Plan{Method: m, Nodes: nodes, Seed: seed, Epochs: m.Epochs, Choice: m.Choice}
	return learn.Run(ctx, g, plan, func(start *learn.Start) (learn.Learner, error) {
		inner, err := newRelay(ctx, start, m.Matching)
		if err != nil {
			return nil, err
		}
		points := learn.NewPairs(nodes, 1, m.PairHidden, rand.NewPCG(seed, pointStream)).Parameters()
		points[lastBias].Data[0] += float32(math.Log(m.StartWeight / (1 - m.StartWeight)))
		maker := newGraphon(nodes, m.Graphon, m.Pairs(start, seed).Parameters(), points)
		if m.Transport > 0 {
			if maker.plan, err = newPlan(ctx, g, m.Sample, nodes, rand.NewPCG(seed, planStream)); err != nil {
				return nil, err
			}
		}
		r := newStructural(start, inner, m, maker.plan)
		pair := learn.NewPair(start, m.FeatureRate, m.Structure, maker)
		return &sgddLearner{matcher{m.Matching, pair, r}, r}, nil
	})
}

// sgddLearner is the Learner of SGDD.
type sgddLearner struct {
	matcher
	structural *structural
}

// Epoch runs an epoch of gradient matching.
func (l *sgddLearner) Epoch(ctx context.Context, epoch int, src rand.Source) (loss float64, err error) {
	l.structural.learning, _ = l.Turns(epoch)
	return l.matcher.Epoch(ctx, epoch, src)
}

// structural is a relay whose loss also has the terms that depend only on A′.
type structural struct {
	relay
	smoothness, transport float64
	learning              bool       // whether A′ is trained, so that the transport distance counts
	same                  *mat.Dense // 1 for pairs of nodes of one class, else 0
	plan                  *plan      // nil for none
	tape                  *autodiff.Tape
	along                 mat.Dense
}

func newStructural(s *learn.Start, inner relay, m sgdd, p *plan) *structural {
	o := &structural{
		relay: inner, smoothness: m.Smoothness, transport: m.Transport, plan: p, tape: autodiff.NewTape(),
		same: mat.NewDense(len(s.Y), len(s.Y)),
	}
	for i, y := range s.Y {
		for j := s.First[y]; j < s.First[y+1]; j++ {
			o.same.Row(i)[j] = 1
		}
	}
	return o
}

// match adds the terms to the objective of the relay.
func (o *structural) match(ctx context.Context, x, a *mat.Dense, src rand.Source) (
	loss float64, dx, da *mat.Dense, err error,
) {
	if loss, dx, da, err = o.relay.match(ctx, x, a, src); err != nil {
		return loss, dx, da, err
	}
	term, through, err := o.terms(ctx, a)
	if err != nil {
		return 0, nil, nil, err
	}
	kernel.Add(through.Data, through.Data, da.Data)
	return loss + term, dx, through, nil
}

// terms returns the weighted sum of the terms and its gradient with respect to A′. The terms depend on A′ through S =
// D^-½A′D^-½, where L′ = I − S.
func (o *structural) terms(ctx context.Context, a *mat.Dense) (loss float64, da *mat.Dense, err error) {
	t := o.tape
	t.Reset()
	va := t.Var(a)
	s := normalise(va)
	loss = o.smoothness * float64(a.Rows)
	o.along.Reshape(a.Dims())
	for i, same := range o.same.Data {
		loss -= o.smoothness * float64(same*s.Value.Data[i])
		o.along.Data[i] = -float32(o.smoothness) * same
	}
	if o.learning && o.plan != nil {
		distance, dm, err := o.plan.distance(ctx, laplacian(s.Value), o.transport)
		if err != nil {
			return 0, nil, err
		}
		loss += o.transport * distance
		kernel.Axpy(float32(-o.transport), dm.Data, o.along.Data)
	}
	return loss, t.Grad(learn.Along(s, &o.along), va)[0].Value, nil
}

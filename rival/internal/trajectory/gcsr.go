package trajectory

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// gcsr matches training trajectories of linear GNNs. A′ has the coefficients B that express each condensed node as a
// linear combination of condensed nodes. Source: Liu et al., Graph data condensation via self-expressive graph
// structure reconstruction (KDD 2024).
//
// A′ is a function of X′ (express). Experts and students are linear networks with two layers on ÂᴷX and Â′ᴷX′,
// respectively.
//
// Departures from the authors' program (zclzcl0223/GCSR, condense.py and buffer.py), besides the number of experts:
//   - P starts from training labels within Hops hops (LabelMixtures). In the program it starts from the classes of
//     both ends of all edges, which include those of test nodes.
//   - Its A′ has a diagonal, to which normalisation adds I. Here the diagonal is 0 before I is added.
//   - Its experts continue with a tenth of the learning rate and a restarted Adam after 50 of their 100 epochs. The
//     last starts and targets, up to epoch 61, are later than that. Here the rate is constant.
//   - Its networks propagate the biases too: their logits are Â²((XW₁ + b₁)W₂ + b₂).
//   - It trains the GNN that it reports on the last iterate. Here validation nodes choose the iterate (package learn).
type gcsr struct {
	Matching
	// Hops is K, the number of propagations in the linear GNNs, at least 0. InitHops is the number of propagations of
	// the initial X′.
	Hops     int `json:"hops"`
	InitHops int `json:"init_hops"`
	// Alpha is the weight of ‖B − P‖² in the objective of B, where P starts as a prior of the classes. Beta is the
	// weight of ‖B − Q‖², where Q starts as I. Both are above 0.
	Alpha float64 `json:"alpha"`
	Beta  float64 `json:"beta"`
	// Tau and Gamma are the shares of P and of Q that an epoch keeps, from 0 to 1. The rest comes from the current A′.
	Tau   float64 `json:"tau"`
	Gamma float64 `json:"gamma"`
	// Threshold is the minimum weight of an edge in the result, at least 0.
	Threshold float64 `json:"threshold"`
}

// newGCSR returns GCSR with the settings of its authors' program for 70 nodes of Cora, except for 20 experts instead of
// 100.
func newGCSR() gcsr {
	return gcsr{
		Matching: Matching{
			Epochs: 7000, FeatureRate: 1e-6, Steps: 5, StudentRate: 0.01,
			Experts: Experts{
				Experts: 20, Optimizer: Adam, ExpertRate: 1e-3, ExpertDecay: 5e-4, ExpertEpochs: 2, MaxStart: 59, Interval: 1,
				Hidden: 256,
			},
			Choice: learn.Choice{JudgeEvery: 200, JudgeEpochs: 200},
		},
		Hops: 2, InitHops: 2, Alpha: 1, Beta: 1, Tau: 0.9, Gamma: 0.5,
	}
}

// Name returns "gcsr".
func (gcsr) Name() string { return "gcsr" }

// Check validates the parameters, g, nodes and the memory limit.
func (m gcsr) Check(g *graph.Graph, nodes int) error {
	what := m.Name() + " on " + digits.Group(nodes*nodes) + " pairs of condensed nodes"
	return errors.Join(m.check(m.Name(), g, nodes),
		parameter.Check(m.Hops >= 0, "hops", m.Hops, "at least 0"),
		parameter.Check(m.InitHops >= 0, "init hops", m.InitHops, "at least 0"),
		parameter.Check(m.Alpha > 0, "alpha", m.Alpha, "above 0"),
		parameter.Check(m.Beta > 0, "beta", m.Beta, "above 0"),
		parameter.Check(m.Tau >= 0 && m.Tau <= 1, "tau", m.Tau, "0 to 1"),
		parameter.Check(m.Gamma >= 0 && m.Gamma <= 1, "gamma", m.Gamma, "0 to 1"),
		parameter.Check(m.Threshold >= 0, "threshold", m.Threshold, "at least 0"),
		m.Memory.Fits(what, 100*float64(nodes)*float64(nodes)))
}

// Condense implements condense.Method.
func (m gcsr) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, nodes, seed, func(s *learn.Start, student *student) (learn.Learner, error) {
		train, first := s.Labelled()
		layers, err := s.Linear(ctx, train, m.Hops)
		if err != nil {
			return nil, err
		}
		if err := m.train(ctx, &pupil{layers, nil}, student.store, seed, m.Name()+" experts"); err != nil {
			return nil, err
		}
		if err := s.Propagate(ctx, m.InitHops, rand.New(rand.NewPCG(seed, beginStream))); err != nil {
			return nil, err
		}
		mixtures, err := s.LabelMixtures(ctx, m.Hops, train)
		if err != nil {
			return nil, err
		}
		l := &expressive{
			student: student, gcsr: m, y: autodiff.OneHot(s.Y, len(s.Budget)), propagation: learn.Propagation{Hops: m.Hops},
			structure: express{alpha: m.Alpha, beta: m.Beta}, p: prior(mixtures, first, s.Y), q: learn.Identity(nodes),
		}
		l.unroll.relu = false
		return l, nil
	})
}

// beginStream is the random stream that chooses the nodes of the initial X′.
const beginStream = 1<<40 + 2

// prior returns P. P_ij is the probability that a node near a training node of class y_i has class y_j, averaged with
// P_ji. Rows first[c] to first[c+1]−1 of mixtures belong to class c.
func prior(mixtures *mat.Dense, first []int, y []int32) *mat.Dense {
	classes := mixtures.Cols
	between := mat.NewDense(classes, classes)
	for c := range classes {
		for i := first[c]; i < first[c+1]; i++ {
			for k, v := range mixtures.Row(i) {
				between.Row(c)[k] += v / float32(first[c+1]-first[c])
			}
		}
	}
	p := mat.NewDense(len(y), len(y))
	for i, a := range y {
		for j, b := range y {
			p.Row(i)[j] = (between.Row(int(a))[b] + between.Row(int(b))[a]) / 2
		}
	}
	return p
}

// expressive is the Learner of GCSR.
type expressive struct {
	*student
	gcsr        gcsr
	y           *mat.Dense
	p, q        *mat.Dense
	structure   express
	propagation learn.Propagation
}

// objective returns the matching distance, its gradient with respect to X′, and A′.
func (l *expressive) objective(ctx context.Context) (loss float64, dx, a *mat.Dense, err error) {
	if a, err = l.structure.forward(ctx, l.x, l.p, l.q); err != nil {
		return 0, nil, nil, err
	}
	z := l.propagation.Forward(l.x, a)
	loss, dz, _, _, err := l.unroll.match(ctx, z, l.y, l.start, l.target, l.StudentRate)
	if err != nil {
		return 0, nil, nil, err
	}
	through, da := l.propagation.Backward(a, dz)
	if dx, err = l.structure.backward(ctx, l.x, da); err != nil {
		return 0, nil, nil, err
	}
	kernel.Add(dx.Data, dx.Data, through.Data)
	return loss, dx, a, nil
}

// Epoch trains one student along the trajectory of one expert, and moves P and Q towards A′.
func (l *expressive) Epoch(ctx context.Context, _ int, src rand.Source) (loss float64, err error) {
	random := rand.New(src)
	l.draw(l.store, random, random.IntN(l.starts()), l.start, l.target)
	loss, dx, a, err := l.objective(ctx)
	if err != nil {
		return 0, err
	}
	l.features.Step(dx)
	for i, w := range a.Data {
		l.p.Data[i] += float32(1-l.gcsr.Tau) * (w - l.p.Data[i])
		l.q.Data[i] += float32(1-l.gcsr.Gamma) * (w - l.q.Data[i])
	}
	return loss, nil
}

// Result implements learn.Learner.
func (l *expressive) Result() learn.Iterate {
	a, err := l.structure.forward(context.Background(), l.x, l.p, l.q)
	if err != nil { // X′ is not finite, which the caller reports
		a = mat.NewDense(l.x.Rows, l.x.Rows)
	}
	return learn.Iterate{X: l.x, A: a, Threshold: l.gcsr.Threshold}
}

// State implements learn.Learner.
func (l *expressive) State() []*mat.Dense { return append(l.features.State(), l.p, l.q) }

// Package distribution condenses a graph by matching distributions: GCDM, GCDM-X and SimGC. They learn X′ and, except
// for GCDM-X, A′ = PGE(X′), so that the embeddings of each class have similar moments on the condensed and the original
// graph.
//
// GCDM has no program of its authors. Departures from public ones (superallen13/GCondenser, gcdm.py;
// Emory-Melody/GraphSlim, gcdm.py):
//   - Each match draws an encoder, which is never trained. Both draw an encoder per epoch and match it five times.
//     GCondenser takes 10 steps after each match but the last, which train the encoder to lower the same distance.
//   - Hidden units are propagated once more before their means are taken.
//   - Distances of class means are squared and weighted by n′_c, and summed over the units. GCondenser takes the mean
//     over the units and weights all classes equally. GraphSlim sums the absolute differences of random pairs of nodes,
//     and has no A′.
//
// docs/notes/2026-11-baselines.md explains what the papers leave open and where cgc departs from their programs.
package distribution

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// Methods returns the methods of the package with their default parameters.
func Methods() []condense.Method {
	return []condense.Method{newGCDM(), gcdmX{Means: newGCDM().Means}, newSimGC()}
}

// SGC and GCN are the names of the encoders.
const (
	SGC = "sgc"
	GCN = "gcn"
)

// Means holds the parameters of mean matching.
type Means struct {
	// Epochs is the number of epochs, at least 1. Outer is the number of encoders per epoch, at least 1: each is drawn at
	// random and matched once.
	Epochs int `json:"epochs"`
	Outer  int `json:"outer"`
	// FeatureRate is Adam's learning rate for X′, above 0.
	FeatureRate float64 `json:"lr_feat"`
	// Relay is the encoder: gcn for Â·ReLU(ÂXW + b), sgc for Â²XW + b. Hidden is its number of units, at least 1.
	Relay  string `json:"relay"`
	Hidden int    `json:"hidden"`
	learn.Choice
}

// gcdm matches the mean embedding of each class under random encoders. A network computes A′ from pairs of rows of X′.
// Source: Liu et al., Graph condensation via receptive field distribution matching (2022).
type gcdm struct {
	Means
	learn.Structure
}

// gcdmX matches mean embeddings as gcdm does, without edges: A′ = I. Source: as gcdm.
type gcdmX struct {
	Means
	// Memory limits the memory for the rows of the training nodes and for X′.
	Memory rival.Memory `json:"memory"`
}

// newGCDM returns GCDM with the settings of public programs for Cora.
func newGCDM() gcdm {
	return gcdm{
		Means: Means{
			Epochs: 600, Outer: 5, FeatureRate: 1e-4, Relay: GCN, Hidden: 256,
			Choice: learn.Choice{JudgeEvery: 25, JudgeEpochs: 200},
		},
		Structure: learn.Structure{
			AdjacencyRate: 1e-4, PairHidden: 128, Threshold: 0.05, StartWeight: 0.02, StructureEpochs: 10, FeatureEpochs: 20,
		},
	}
}

// Name returns "gcdm".
func (gcdm) Name() string { return "gcdm" }

// Name returns "gcdm-x".
func (gcdmX) Name() string { return "gcdm-x" }

// Check validates the parameters, g, nodes and the memory limit.
func (m gcdm) Check(g *graph.Graph, nodes int) error {
	return m.check(g, m, &m.Structure, m.Memory, nodes)
}

// Check validates the parameters, g, nodes and the memory limit.
func (m gcdmX) Check(g *graph.Graph, nodes int) error { return m.check(g, m, nil, m.Memory, nodes) }

// bytes returns the memory of matching without the pair network: X′ with its gradients, and the rows of the training
// nodes. With the encoder GCN, these are the rows of ÂX at the training nodes and their neighbours, both dense and
// sparse, and their hidden units.
func (m Means) bytes(g *graph.Graph, nodes int) float64 {
	d := g.Features()
	own := 40 * float64(nodes) * float64(d)
	if m.Relay == SGC {
		return own + learn.EmbeddingBytes(len(g.Split.Train), d, 2)
	}
	_, near := learn.Reached(g)
	return own + learn.EmbeddingBytes(near, d, 1) + float64(near)*float64(8*d+4*m.Hidden)
}

// check returns an error for each parameter that is out of range. If there is none, it checks the memory that a run
// needs. A nil structure means A′ = I.
func (m Means) check(g *graph.Graph, method condense.Method, s *learn.Structure, memory rival.Memory, nodes int) error {
	return learn.Check(method, g, nodes, s, memory, func() float64 { return m.bytes(g, nodes) },
		parameter.Check(m.Epochs >= 1, "epochs", m.Epochs, "at least 1"),
		parameter.Check(m.Outer >= 1, "outer", m.Outer, "at least 1"),
		parameter.Check(m.FeatureRate > 0, "lr feat", m.FeatureRate, "above 0"),
		parameter.Check(m.Relay == SGC || m.Relay == GCN, "relay", m.Relay, "sgc or gcn"),
		parameter.Check(m.Hidden >= 1, "hidden", m.Hidden, "at least 1"),
		m.Choice.Check(),
	)
}

// Condense implements condense.Method.
func (m gcdm) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, &m.Structure, nodes, seed)
}

// Condense implements condense.Method.
func (m gcdmX) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, nil, nodes, seed)
}

// run condenses g by mean matching. A nil structure means A′ = I.
func (m Means) run(
	ctx context.Context, g *graph.Graph, method condense.Checker, s *learn.Structure, nodes int, seed uint64,
) (*condense.Condensed, error) {
	plan := learn.Plan{Method: method, Nodes: nodes, Seed: seed, Epochs: m.Epochs, Choice: m.Choice}
	return learn.Run(ctx, g, plan, func(start *learn.Start) (learn.Learner, error) {
		e, err := newMeans(ctx, start, m)
		if err != nil {
			return nil, err
		}
		return &meansLearner{Pair: s.Pair(start, m.FeatureRate, seed), means: e}, nil
	})
}

// meansLearner is the Learner of GCDM and GCDM-X.
type meansLearner struct {
	*learn.Pair
	means *means
}

// Epoch matches Outer encoders.
func (l *meansLearner) Epoch(ctx context.Context, epoch int, src rand.Source) (loss float64, err error) {
	for range l.means.Outer {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		var a *mat.Dense
		parallel.For(2, 1, func(lo, hi int) { // the two are independent of each other
			if lo == 0 {
				learn.DrawLayer(l.means.w, l.means.b, src)
				l.means.real()
			}
			if hi == 2 {
				a = l.A()
			}
		})
		_, features := l.Turns(epoch)
		value, dx, da := l.means.match(l.X, a, features)
		loss += value / float64(l.means.Outer)
		l.Step(epoch, dx, da)
	}
	return loss, nil
}

// means matches the class means of an encoder's embeddings:
//
//	Σ_c n′_c/max n′ · ‖mean_{i∈c} h′_i − mean_{i∈c} h_i‖²,  h = Â·ReLU(ÂXW + b) or Â²XW + b.
type means struct {
	Means
	coeff []float32
	// near holds ÂX at the training nodes and their neighbours. Row c of share holds the weights of their hidden units in
	// the mean of class c. With SGC, near holds the class means of Â²X, and share is I.
	near  *mat.CSR
	share *mat.Dense
	own   *mat.Dense // row c is 1/n′_c for the condensed nodes of class c

	w, b   *mat.Dense
	hidden mat.Dense
	mean   mat.Dense
	tape   *autodiff.Tape
}

func newMeans(ctx context.Context, s *learn.Start, m Means) (*means, error) {
	c := len(s.Budget)
	e := &means{
		Means: m, coeff: s.Coefficients(), own: s.Averages(), tape: autodiff.NewTape(),
		w: mat.NewDense(s.X.Cols, m.Hidden), b: mat.NewDense(1, m.Hidden),
	}
	if m.Relay == SGC {
		means, err := s.ClassMeans(ctx, 2)
		if err != nil {
			return nil, err
		}
		e.near, e.share = means.Sparse(), learn.Identity(c)
		return e, nil
	}
	train, first := s.Labelled()
	layers, err := s.Convolution(ctx, train)
	if err != nil {
		return nil, err
	}
	e.near, e.share = layers.S.Matrix, mat.NewDense(c, layers.S.Matrix.Rows)
	for class := range c {
		for i := first[class]; i < first[class+1]; i++ {
			for j, w := range layers.P.Matrix.Row(i) {
				e.share.Row(class)[j] += w / float32(first[class+1]-first[class])
			}
		}
	}
	return e, nil
}

// real sets mean to the class means of the training nodes.
func (e *means) real() {
	mat.MulSparse(&e.hidden, e.near, e.w)
	for i := range e.hidden.Rows {
		row := e.hidden.Row(i)
		kernel.Add(row, row, e.b.Data)
		if e.Relay == GCN {
			kernel.ReLU(row, row)
		}
	}
	mat.Mul(&e.mean, e.share, &e.hidden)
}

// match returns the objective and its gradients with respect to X′ and A′. real must be called first. If a is given and
// features is not set, dx is nil. If a is nil, da is nil.
func (e *means) match(x, a *mat.Dense, features bool) (loss float64, dx, da *mat.Dense) {
	t := e.tape
	t.Reset()
	vx, va := learn.Variables(t, x, a)
	in := gnn.VariableInput(va, vx)
	var z *autodiff.Var
	if e.Relay == SGC {
		z = t.AddRow(t.MatMul(t.MatMul(t.Var(e.own), in.Symmetric(in.Symmetric(vx))), t.Var(e.w)), t.Var(e.b))
	} else { // Â′(X′W) needs fewer operations than (Â′X′)W
		z = t.ReLU(t.AddRow(in.Symmetric(t.MatMul(vx, t.Var(e.w))), t.Var(e.b)))
		z = t.MatMul(t.Var(e.own), in.Symmetric(z))
	}
	difference := t.Sub(z, t.Var(&e.mean))
	weights := &mat.Dense{Rows: 1, Cols: len(e.coeff), Data: e.coeff}
	total := t.MatMul(t.Var(weights), t.RowSums(t.Mul(difference, difference)))
	if a != nil && !features {
		vx = nil
	}
	return learn.Gradients(total, vx, va)
}

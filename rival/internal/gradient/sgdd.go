package gradient

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// sgdd matches gradients as gcond does. A′ is mixed with a learnt graphon, and an additional term preserves the
// spectrum of the original graph. Source: Yang et al., Does graph distillation see like vision dataset counterpart?
// (NeurIPS 2023).
//
// A′ = (1−ε)·PGE(X′) + ε·graphon(u), u_i = (i+½)/N′. The term is
//
//	spectrum · W₂²(eigenvalues of L′, eigenvalues of L),  L = I − D^-½AD^-½ on a sample of nodes.
type sgdd struct {
	Matching
	learn.Choice
	learn.Structure
	// Graphon is ε, the share of the graphon in A′, from 0 to 1.
	Graphon float64 `json:"graphon"`
	// Spectrum is the weight of the spectral term, at least 0. Sample is the number of nodes whose spectrum is preserved,
	// at least 2.
	Spectrum float64 `json:"spectrum"`
	Sample   int     `json:"sample"`
}

// newSGDD returns SGDD with the settings of GCond, a graphon share of 0.5 and a sample of 200 nodes.
func newSGDD() sgdd {
	return sgdd{
		Matching: newGCond().Matching, Choice: newGCond().Choice, Structure: newGCond().Structure,
		Graphon: 0.5, Spectrum: 0.1, Sample: 200,
	}
}

// Name returns "sgdd".
func (sgdd) Name() string { return "sgdd" }

// Check validates the parameters, g, nodes and the memory limit.
func (m sgdd) Check(g *graph.Graph, nodes int) error {
	both := m.Structure
	both.PairHidden = max(m.PairHidden, 2*m.PairHidden) // two networks; a negative value is reported unchanged
	return errors.Join(
		m.check(g, m, &both, m.Memory, nodes, m.Choice.Check()),
		parameter.Check(m.Graphon >= 0 && m.Graphon <= 1, "graphon", m.Graphon, "0 to 1"),
		parameter.Check(m.Spectrum >= 0, "spectrum", m.Spectrum, "at least 0"),
		parameter.Check(m.Sample >= 2, "sample", m.Sample, "at least 2"),
	)
}

// graphonStream and sampleStream are random streams of the seed.
const (
	graphonStream = 1<<40 + 3
	sampleStream  = 1<<40 + 4
)

// Condense condenses g to the given number of nodes.
func (m sgdd) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	plan := learn.Plan{
		Method: m, Nodes: nodes, Seed: seed, Epochs: m.Epochs, Choice: m.Choice, Threshold: m.Threshold,
	}
	return learn.Run(ctx, g, plan, func(start *learn.Start) (learn.Learner, error) {
		inner, err := newRelay(ctx, start, m.Matching)
		if err != nil {
			return nil, err
		}
		maker := &graphon{
			share: float32(m.Graphon), pairs: m.Pairs(start, seed), grid: mat.NewDense(nodes, 2),
			points: learn.NewPairs(nodes, 2, m.PairHidden, rand.NewPCG(seed, graphonStream)),
		}
		for i := range nodes {
			u := (float32(i) + 0.5) / float32(nodes)
			maker.grid.Row(i)[0], maker.grid.Row(i)[1] = u, 1-u
		}
		want, err := spectrumOf(ctx, g, m.Sample, nodes, rand.NewPCG(seed, sampleStream))
		if err != nil {
			return nil, err
		}
		r := &spectral{relay: inner, weight: m.Spectrum, want: want, tape: autodiff.NewTape()}
		return &matcher{m.Matching, learn.NewPair(start, m.FeatureRate, m.Structure, maker), r}, nil
	})
}

// graphon is a learn.Maker: it computes A′ from X′ and from the coordinates u of the nodes.
type graphon struct {
	share         float32 // ε
	pairs, points *learn.Pairs
	grid          *mat.Dense
	a             mat.Dense
	first, second mat.Dense
}

// Forward returns A′.
func (o *graphon) Forward(x *mat.Dense) *mat.Dense {
	a, b := o.pairs.Forward(x), o.points.Forward(o.grid)
	o.a.Reshape(a.Dims())
	for i, v := range a.Data {
		o.a.Data[i] = (1-o.share)*v + o.share*b.Data[i]
	}
	return &o.a
}

// Backward implements learn.Maker.
func (o *graphon) Backward(da *mat.Dense, parameters, features bool) (gradients []*mat.Dense, dx *mat.Dense) {
	o.first.Reshape(da.Dims())
	o.second.Reshape(da.Dims())
	for i, v := range da.Data {
		o.first.Data[i], o.second.Data[i] = (1-o.share)*v, o.share*v
	}
	gradients, dx = o.pairs.Backward(&o.first, parameters, features)
	if parameters {
		more, _ := o.points.Backward(&o.second, true, false)
		gradients = append(slices.Clone(gradients), more...)
	}
	return gradients, dx
}

// Parameters returns the parameters of both networks.
func (o *graphon) Parameters() []*mat.Dense {
	return append(o.pairs.Parameters(), o.points.Parameters()...)
}

// spectrumOf returns count quantiles of the eigenvalues of L on a subgraph of sample nodes. The nodes are random
// training nodes and their neighbourhoods, added hop by hop.
func spectrumOf(ctx context.Context, g *graph.Graph, sample, count int, src rand.Source) ([]float64, error) {
	random := rand.New(src)
	chosen := map[int32]bool{}
	var nodes []int32
	add := func(v int32) {
		if !chosen[v] && len(nodes) < sample {
			chosen[v] = true
			nodes = append(nodes, v)
		}
	}
	for _, at := range random.Perm(len(g.Split.Train)) {
		if len(nodes) >= sample {
			break
		}
		from := len(nodes)
		add(g.Split.Train[at])
		for i := from; i < len(nodes) && len(nodes) < sample; i++ {
			for u := range g.Adj.Row(int(nodes[i])) {
				add(int32(u))
			}
		}
	}
	slices.Sort(nodes)
	induced := g.Induced(nodes)
	values, _, err := spectrum(ctx, induced.Adj.Dense())
	if err != nil {
		return nil, err
	}
	want := memory.Make[float64](count)
	for j := range want {
		want[j] = values[min(len(values)-1, int((float64(j)+0.5)/float64(count)*float64(len(values))))]
	}
	return want, nil
}

// spectrum returns the eigenvalues of L = I − D^-½AD^-½ in descending order, and their eigenvectors as rows.
func spectrum(ctx context.Context, a *mat.Dense) (values []float64, vectors []float64, err error) {
	n := a.Rows
	scale := make([]float64, n)
	for i := range n {
		degree := float64(isolated)
		for _, w := range a.Row(i) {
			degree += float64(w)
		}
		scale[i] = 1 / math.Sqrt(degree)
	}
	l := factor.NewSymmetric(n)
	for i := range n {
		for j, w := range a.Row(i) {
			l.Row(i)[j] = -scale[i] * float64(w) * scale[j]
		}
		l.Row(i)[i]++
	}
	if values, vectors, err = l.Eigen(ctx); err != nil {
		return nil, nil, fmt.Errorf("spectrum of A′ of sgdd: %w", err)
	}
	return values, vectors, nil
}

// isolated is added to degrees, so that no degree is 0.
const isolated = 1e-3

// spectral is a relay with the spectral term, which depends only on the sorted eigenvalues. With λ = diag(UᵀLU), the
// gradient of the term with respect to L is U·diag(∂/∂λ)·Uᵀ. There is no division by differences of eigenvalues, so the
// gradient is finite even if eigenvalues repeat.
type spectral struct {
	relay
	weight float64
	want   []float64 // in descending order
	tape   *autodiff.Tape
	sum    mat.Dense
}

// match adds the spectral term to the objective of the relay.
func (o *spectral) match(ctx context.Context, x, a *mat.Dense, src rand.Source) (
	loss float64, dx, da *mat.Dense, err error,
) {
	if loss, dx, da, err = o.relay.match(ctx, x, a, src); err != nil || o.weight == 0 {
		return loss, dx, da, err
	}
	term, through, err := o.term(ctx, a)
	if err != nil {
		return 0, nil, nil, err
	}
	o.sum.Reshape(da.Dims())
	for i, v := range da.Data {
		o.sum.Data[i] = v + float32(o.weight)*through.Data[i]
	}
	return loss + o.weight*term, dx, &o.sum, nil
}

// term returns Σ_j (λ_j − want_j)²/N′ and its gradient with respect to A′.
func (o *spectral) term(ctx context.Context, a *mat.Dense) (loss float64, da *mat.Dense, err error) {
	values, vectors, err := spectrum(ctx, a)
	if err != nil {
		return 0, nil, err
	}
	n := a.Rows
	slope := make([]float64, n)
	for j, v := range values {
		diff := v - o.want[j]
		loss += diff * diff / float64(n)
		slope[j] = 2 * diff / float64(n)
	}
	dl := mat.NewDense(n, n)
	for i := range n {
		for k := range n {
			var sum float64
			for j, s := range slope {
				sum += vectors[j*n+i] * s * vectors[j*n+k]
			}
			dl.Row(i)[k] = float32(-sum) // negative because L contains −D^-½AD^-½
		}
	}
	t := o.tape
	t.Reset()
	va := t.Var(a)
	degrees := t.Add(t.RowSums(va), t.Var(learn.Filled(n, 1, isolated)))
	root := t.RepeatColumn(t.Power(degrees, -0.5), n)
	normalised := t.Mul(t.Mul(root, va), t.Transpose(root))
	return loss, t.Grad(learn.Along(normalised, dl), va)[0].Value, nil
}

package kernel

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/kernelridge"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// regression is the Learner of both methods.
type regression struct {
	Parameters
	structure structure
	train     *side
	targets   *mat.Dense // Y, one-hot
	unit      float32    // Start.Unit: the kernel uses features multiplied by it
	x, labels *mat.Dense // X′ and Y′
	a, mean   *mat.Dense // A′ and M′; nil for I

	adam *adam.Optimizer // for X′, and for Y′ if it is learnt
	tape *autodiff.Tape
}

func newRegression(ctx context.Context, start *learn.Start, p Parameters, degree float64) (*regression, error) {
	g := start.Graph
	r := &regression{
		Parameters: p, structure: structure{p.Hops, p.Layers}, unit: start.Unit, x: start.X,
		labels: autodiff.OneHot(start.Y, g.Classes), targets: autodiff.OneHot(g.Labels(g.Split.Train), g.Classes),
		tape: autodiff.NewTape(),
	}
	learnt := []*mat.Dense{r.x}
	if p.LearnLabels {
		learnt = append(learnt, r.labels)
	}
	r.adam = adam.New(p.FeatureRate, learnt...)
	var err error
	if r.train, err = r.structure.of(ctx, g, g.Split.Train); err != nil {
		return nil, err
	}
	if degree > 0 {
		r.a, r.mean = nearest(r.x, degree), new(mat.Dense)
		if err := graph.Mean(r.a.Sparse()).Apply(ctx, r.mean, learn.Identity(r.x.Rows)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Epoch performs one step. It uses no random numbers.
func (r *regression) Epoch(ctx context.Context, _ int, _ rand.Source) (loss float64, err error) {
	loss, dx, dy, err := r.gradient(ctx)
	if err != nil {
		return 0, err
	}
	r.adam.Step(dx, dy)
	return loss, ctx.Err()
}

// Result returns X′, A′, and Y′ as distributions if it is learnt.
func (r *regression) Result() learn.Iterate {
	now := learn.Iterate{X: r.x, A: r.a}
	if r.LearnLabels {
		now.Soft = distributions(r.labels)
	}
	return now
}

// State implements learn.Learner.
func (r *regression) State() []*mat.Dense { return r.adam.State() }

// nearest returns A′ with edges between the closest pairs of rows. Their number is determined by the mean degree. Ties
// are broken in favour of the first rows.
func nearest(x *mat.Dense, degree float64) *mat.Dense {
	type pair struct {
		distance float64
		i, j     int
	}
	var pairs []pair
	for i := range x.Rows {
		for j := range i {
			sum := 0.0
			other := x.Row(j)
			for k, v := range x.Row(i) {
				d := float64(v) - float64(other[k])
				sum += d * d
			}
			pairs = append(pairs, pair{sum, i, j})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.distance, b.distance) })
	count := min(len(pairs), int(math.Round(degree*float64(x.Rows)/2)))
	a := mat.NewDense(x.Rows, x.Rows)
	for _, p := range pairs[:count] {
		a.Row(p.i)[p.j], a.Row(p.j)[p.i] = 1, 1
	}
	return a
}

// gradient returns the loss and its gradients with respect to X′ and Y′.
//
// With B = K_ss + ρI, ρ = ridge·tr(K_ss)/N′, α = B⁻¹Y′ and R = ∂loss/∂(K_ts·α),
//
//	∂K_ts = Rαᵀ,  ∂Y′ = B⁻¹K_tsᵀR = β,  ∂B = −βαᵀ,  ∂K_ss = ∂B + ridge·tr(∂B)/N′·I.
//
// The tape carries the gradient on to X′: it differentiates ⟨∂K_ts, K_ts⟩ + ⟨∂K_ss, K_ss⟩ with the first factors held
// constant.
func (r *regression) gradient(ctx context.Context) (loss float64, dx, dy *mat.Dense, err error) {
	t := r.tape
	t.Reset()
	x := t.Var(r.x)
	c := condensed{x: t.Scale(r.unit, x)}
	if r.mean != nil {
		c.m = t.Var(r.mean)
	}
	cross, own := r.structure.between(t, r.train, c)
	regression := kernelridge.Regression{Kernel: symmetric(own.Value), Y: r.labels}
	alpha, err := regression.Solve(ctx, r.Ridge)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("the kernel of the condensed nodes: %w", err)
	}
	var residual mat.Dense
	mat.Mul(&residual, cross.Value, alpha)
	scale := 1 / float64(len(residual.Data))
	for i, v := range residual.Data {
		d := float64(v) - float64(r.targets.Data[i])
		loss += d * d * scale
		residual.Data[i] = float32(2 * d * scale)
	}
	var pull mat.Dense
	mat.MulTA(&pull, cross.Value, &residual)
	regression.Y = &pull
	beta, err := regression.Solve(ctx, r.Ridge)
	if err != nil {
		return 0, nil, nil, err
	}
	toCross, toOwn := new(mat.Dense), new(mat.Dense)
	mat.MulTB(toCross, &residual, alpha)
	mat.MulTB(toOwn, beta, alpha)
	trace := 0.0
	for i := range toOwn.Rows {
		trace -= float64(toOwn.Row(i)[i])
	}
	for i := range toOwn.Rows {
		row := toOwn.Row(i)
		for j := range row {
			row[j] = -row[j]
		}
		row[i] += float32(r.Ridge * trace / float64(toOwn.Rows))
	}
	along := t.Add(learn.Along(cross, toCross), learn.Along(own, toOwn))
	return loss, t.Grad(along, x)[0].Value, beta, nil
}

// distributions returns y with negative numbers set to 0 and each row divided by its sum. A row without positive
// numbers becomes uniform.
func distributions(y *mat.Dense) *mat.Dense {
	d := mat.NewDense(y.Rows, y.Cols)
	for i := range y.Rows {
		sum := float32(0)
		for _, v := range y.Row(i) {
			sum += max(0, v)
		}
		for j, v := range y.Row(i) {
			d.Row(i)[j] = 1 / float32(y.Cols)
			if sum > 0 {
				d.Row(i)[j] = max(0, v) / sum
			}
		}
	}
	return d
}

// symmetric returns (k + kᵀ)/2 in float64.
func symmetric(k *mat.Dense) *factor.Symmetric {
	s := factor.NewSymmetric(k.Rows)
	for i := range k.Rows {
		for j, v := range k.Row(i) {
			s.Data[i*k.Rows+j] = (float64(v) + float64(k.Row(j)[i])) / 2
		}
	}
	return s
}

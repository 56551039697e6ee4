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
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// regression is the Learner of all methods.
type regression struct {
	Descent
	// kernel puts the kernel between the training nodes and the condensed nodes, and the kernel among the condensed nodes,
	// on the tape of X′.
	kernel    func(x *autodiff.Var) (cross, own *autodiff.Var)
	targets   *mat.Dense     // Y, one-hot
	scaling   *graph.Scaling // of the features of the graph; nil if they are not scaled
	x, labels *mat.Dense     // X′ in the space of the kernel, and Y′
	a         *mat.Dense     // A′; nil for I

	adam *adam.Optimizer // for X′ and Y′
	tape *autodiff.Tape
}

// draw returns a regression without a kernel. X′ and Y′ start from uniform random numbers in [0, 1), and Y′ is 1 larger
// in the class of each condensed node. draw sets start.Unit to 1.
func (d Descent) draw(start *learn.Start, random *rand.Rand) *regression {
	g := start.Graph
	r := &regression{
		Descent: d, x: mat.NewDense(start.X.Dims()), labels: autodiff.OneHot(start.Y, g.Classes),
		targets: autodiff.OneHot(g.Labels(g.Split.Train), g.Classes), tape: autodiff.NewTape(),
	}
	for _, m := range []*mat.Dense{r.x, r.labels} {
		for i := range m.Data {
			m.Data[i] += random.Float32()
		}
	}
	r.adam = adam.New(d.FeatureRate, r.x, r.labels)
	start.Unit = 1
	return r
}

// side replaces the graph of start with one with standardised features, and returns its training nodes with propagated
// features.
func (p Parameters) side(ctx context.Context, start *learn.Start) (*side, *graph.Scaling, error) {
	g := start.Graph
	scaling, err := graph.FitScaling(g.X, memory.Range(0, g.Nodes()))
	if err != nil {
		return nil, nil, err
	}
	if start.Graph, err = g.Scaled(ctx, scaling); err != nil {
		return nil, nil, err
	}
	h, err := start.Embeddings(ctx, p.Filter, g.Split.Train)
	if err != nil {
		return nil, nil, err
	}
	train, err := p.of(ctx, h[p.Filter], g.Induced(g.Split.Train).Adj)
	return train, &scaling, err
}

// regression is the beginning of sntk with a mean degree of A′; 0 means A′ = I.
func (p Parameters) regression(degree float64) beginning {
	return func(ctx context.Context, start *learn.Start, random *rand.Rand) (r *regression, err error) {
		r = p.draw(start, random)
		train, scaling, err := p.side(ctx, start)
		if err != nil {
			return nil, err
		}
		r.scaling = scaling
		var mean *mat.Dense // M′
		if degree > 0 {
			r.a, mean = nearest(r.x, degree), new(mat.Dense)
			if err := p.operator(r.a.Sparse()).Apply(ctx, mean, learn.Identity(r.x.Rows)); err != nil {
				return nil, err
			}
		}
		r.kernel = func(x *autodiff.Var) (cross, own *autodiff.Var) {
			c := condensed{x: x}
			if mean != nil {
				c.m = x.Tape().Var(mean)
			}
			return p.between(x.Tape(), train, c)
		}
		return r, nil
	}
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

// Result returns X′ in the units of the graph, A′, and the softmax of Y′. The loss turns predictions into class
// probabilities in the same way.
func (r *regression) Result() learn.Iterate {
	now := learn.Iterate{X: r.x.Clone(), A: r.a, Soft: softmax(r.labels)}
	if r.scaling == nil {
		return now
	}
	for i := range now.X.Rows {
		for j, v := range now.X.Row(i) {
			now.X.Row(i)[j] = v*r.scaling.Std[j] + r.scaling.Mean[j]
		}
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
	cross, own := r.kernel(x)
	among := factor.SymmetricPart(own.Value)
	shift := r.Ridge * among.Trace() / float64(among.N)
	for i := range among.N {
		among.Data[i*among.N+i] += shift
	}
	system, err := among.Cholesky(ctx)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("the kernel of the condensed nodes: %w", err)
	}
	alpha, err := system.SolveDense(ctx, r.labels)
	if err != nil {
		return 0, nil, nil, err
	}
	var logits mat.Dense
	mat.Mul(&logits, cross.Value, alpha)
	loss, residual := squares(softmax(&logits), r.targets)
	var pull mat.Dense
	mat.MulTA(&pull, cross.Value, residual)
	beta, err := system.SolveDense(ctx, &pull)
	if err != nil {
		return 0, nil, nil, err
	}
	toCross, toOwn := new(mat.Dense), new(mat.Dense)
	mat.MulTB(toCross, residual, alpha)
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

// squares returns the mean of (p − y)² over all entries, where p is the softmax of logits, and turns p into the
// gradient with respect to the logits.
func squares(p, y *mat.Dense) (loss float64, gradient *mat.Dense) {
	scale := 1 / float64(len(p.Data))
	for i := range p.Rows {
		row, target := p.Row(i), y.Row(i)
		along := 0.0
		for j, v := range row {
			d := float64(v) - float64(target[j])
			loss += d * d * scale
			along += float64(v) * 2 * d * scale
		}
		for j, v := range row {
			row[j] = v * float32(2*(float64(v)-float64(target[j]))*scale-along)
		}
	}
	return loss, p
}

func softmax(x *mat.Dense) *mat.Dense {
	p := x.Clone()
	for i := range p.Rows {
		kernel.Softmax(p.Row(i))
	}
	return p
}

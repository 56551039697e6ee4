package kernel

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/kernelridge"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
	"github.com/graph-condensation/cgc/rival"
)

// search is a condensation under way.
type search struct {
	Parameters
	structure Structure
	train     *Side
	targets   *mat.Dense // Y, one-hot
	judge     *Side      // nil without validation nodes
	classes   []int32    // of the judge's nodes

	x      *mat.Dense // X′
	labels *mat.Dense // Y′
	y      []int32    // the class of each condensed node
	adj    *mat.CSR   // A′; nil for I
	mean   *mat.Dense // M′; nil for I
	kept   *mat.Dense // X′ of the iterate that is kept
	soft   *mat.Dense // Y′ of that iterate, as distributions; nil unless it is learnt
	tape   *autodiff.Tape
}

// start computes the sides of the kernel, and draws the first iterate.
func (p Parameters) start(
	ctx context.Context, task *rival.Task, degree float64, random *rand.Rand,
) (s *search, err error) {
	g := task.Graph
	s = &search{Parameters: p, structure: Structure{p.Hops, p.Layers}, y: task.Labels(), tape: autodiff.NewTape()}
	if s.train, err = s.structure.Of(ctx, g, g.Split.Train); err != nil {
		return nil, err
	}
	s.targets = autodiff.OneHot(g.Labels(g.Split.Train), g.Classes)
	if val := judged(g); len(val) > 0 {
		if s.judge, err = s.structure.Of(ctx, g, val); err != nil {
			return nil, err
		}
		s.classes = g.Labels(val)
	}
	if err := s.draw(ctx, task, random); err != nil {
		return nil, err
	}
	s.labels = autodiff.OneHot(s.y, g.Classes)
	if degree > 0 {
		s.adj = nearest(s.x, degree)
		operator := graph.Mean(s.adj)
		s.mean = new(mat.Dense)
		if err := operator.Apply(ctx, s.mean, identity(task.Nodes)); err != nil {
			return nil, err
		}
	}
	s.kept = s.x.Clone()
	return s, nil
}

// draw sets X′ to the features of random training nodes of each class, plain or propagated, or to random numbers.
func (s *search) draw(ctx context.Context, task *rival.Task, random *rand.Rand) error {
	g := task.Graph
	s.x = mat.NewDense(task.Nodes, g.Features())
	if s.Init == uniform {
		for i := range s.x.Data {
			s.x.Data[i] = random.Float32()
		}
		return nil
	}
	classes := make([][]int32, g.Classes)
	for _, v := range g.Split.Train {
		classes[g.Y[v]] = append(classes[g.Y[v]], v)
	}
	var nodes []int32
	for c, k := range task.Budget {
		for _, at := range random.Perm(len(classes[c]))[:k] {
			nodes = append(nodes, classes[c][at])
		}
	}
	if s.Init == sampled {
		return mat.Rows(s.x, g.X, nodes)
	}
	hops := propagate.Propagation{Rule: propagate.SGC, Hops: s.Hops}
	in := propagate.Input{Adj: g.Adj, X: g.X, Rows: nodes, Mapped: g.Mapped}
	h, err := propagate.Run(ctx, blocked.Engine{}, hops, in)
	if err != nil {
		return err
	}
	for i := range nodes {
		copy(s.x.Row(i), h[s.Hops].Row(i))
	}
	return nil
}

// nearest returns the edges between the pairs of rows that are closest, as many as make the mean degree; of equal
// distances those of the first rows.
func nearest(x *mat.Dense, degree float64) *mat.CSR {
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
	rows := make([][]int32, x.Rows)
	for _, p := range pairs[:count] {
		rows[p.i], rows[p.j] = append(rows[p.i], int32(p.j)), append(rows[p.j], int32(p.i))
	}
	a := &mat.CSR{Rows: x.Rows, Cols: x.Rows, Indptr: make([]int64, 1, x.Rows+1)}
	for _, row := range rows {
		slices.Sort(row)
		a.Indices = append(a.Indices, row...)
		a.Indptr = append(a.Indptr, int64(len(a.Indices)))
	}
	return a
}

// learn takes the steps of Adam and keeps the best iterate.
func (s *search) learn(ctx context.Context) (account Account, err error) {
	x, y := newAdam(s.x), newAdam(s.labels)
	best := -1.0
	for step := 0; ; step++ {
		if err := ctx.Err(); err != nil {
			return account, err
		}
		last := step == s.Steps
		if step%s.Every == 0 || last {
			progress.Report(ctx, progress.Event{Stage: learnStep, Done: int64(step), Total: int64(s.Steps)})
		}
		loss, gradients, predict, err := s.gradient(ctx)
		if err != nil {
			return account, err
		}
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return account, fmt.Errorf("kernel: the loss is %v at step %d of %d, want a finite number: "+
				"scale the features, or lower the rate",
				loss, step, s.Steps)
		}
		if step == 0 {
			account.Loss[0] = loss
		}
		if step%s.Every == 0 || last {
			right := 0.0
			if s.judge != nil {
				right = s.right(predict)
			}
			if right > best || s.judge == nil {
				best = right
				account.Loss[1], account.Step, account.Validation = loss, step, right
				copy(s.kept.Data, s.x.Data)
				if s.LearnLabels {
					s.soft = distributions(s.labels)
				}
			}
		}
		if last {
			return account, nil
		}
		x.step(s.x, gradients[0], s.Rate)
		if s.LearnLabels {
			y.step(s.labels, gradients[1], s.Rate)
		}
	}
}

// on puts the condensed graph on the tape.
func (s *search) on() Condensed {
	c := Condensed{X: s.tape.Var(s.x)}
	if s.mean != nil {
		c.M = s.tape.Var(s.mean)
	}
	return c
}

// gradient returns the loss, its gradients in X′ and Y′, and the coefficients (K_ss + ρI)⁻¹Y′ of the prediction.
//
// With B = K_ss + ρI, ρ = ridge·tr(K_ss)/N′, α = B⁻¹Y′ and R = ∂loss/∂(K_ts·α),
//
//	∂K_ts = Rαᵀ,  ∂Y′ = B⁻¹K_tsᵀR = β,  ∂B = −βαᵀ,  ∂K_ss = ∂B + ridge·tr(∂B)/N′·I.
//
// The tape takes them on to X′: it differentiates ⟨∂K_ts, K_ts⟩ + ⟨∂K_ss, K_ss⟩ with the first factors constant.
func (s *search) gradient(ctx context.Context) (loss float64, gradients [2]*mat.Dense, alpha *mat.Dense, err error) {
	t := s.tape
	t.Reset()
	c := s.on()
	cross, own := s.structure.Between(t, s.train, c)
	regression := kernelridge.Regression{Kernel: symmetric(own.Value), Y: s.labels}
	if alpha, err = regression.Solve(ctx, s.Ridge); err != nil {
		return 0, gradients, nil, fmt.Errorf("kernel: the kernel of the condensed nodes: %w", err)
	}
	var residual mat.Dense
	mat.Mul(&residual, cross.Value, alpha)
	scale := 1 / float64(len(residual.Data))
	for i, v := range residual.Data {
		d := float64(v) - float64(s.targets.Data[i])
		loss += d * d * scale
		residual.Data[i] = float32(2 * d * scale)
	}
	var pull mat.Dense
	mat.MulTA(&pull, cross.Value, &residual)
	regression.Y = &pull
	beta, err := regression.Solve(ctx, s.Ridge)
	if err != nil {
		return 0, gradients, nil, err
	}
	gradients[1] = beta
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
		row[i] += float32(s.Ridge * trace / float64(toOwn.Rows))
	}
	along := t.Add(t.Sum(t.Mul(cross, t.Var(toCross))), t.Sum(t.Mul(own, t.Var(toOwn))))
	gradients[0] = t.Grad(along, c.X)[0].Value
	return loss, gradients, alpha, nil
}

// distributions returns y with negative numbers cut off and rows that sum to 1. A row without a positive number becomes
// uniform.
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

// right returns the share of the judge's nodes that the regression predicts, in percent.
func (s *search) right(alpha *mat.Dense) float64 {
	values := autodiff.NewValueTape()
	c := Condensed{X: values.Var(s.x)}
	if s.mean != nil {
		c.M = values.Var(s.mean)
	}
	cross, _ := s.structure.Between(values, s.judge, c)
	var predicted mat.Dense
	mat.Mul(&predicted, cross.Value, alpha)
	count := 0
	for i, y := range s.classes {
		row := predicted.Row(i)
		best := 0
		for j, v := range row {
			if v > row[best] {
				best = j
			}
		}
		if int32(best) == y {
			count++
		}
	}
	return 100 * float64(count) / float64(len(s.classes))
}

// symmetric returns k in float64, with the mean of both triangles.
func symmetric(k *mat.Dense) *mat.Symmetric {
	s := mat.NewSymmetric(k.Rows)
	for i := range k.Rows {
		for j, v := range k.Row(i) {
			s.Data[i*k.Rows+j] = (float64(v) + float64(k.Row(j)[i])) / 2
		}
	}
	return s
}

// adam holds the moments of Adam (Kingma and Ba 2015) with the usual 0.9, 0.999 and 10⁻⁸.
type adam struct {
	first, second []float64
	steps         int
}

func newAdam(of *mat.Dense) *adam {
	return &adam{first: memory.Make[float64](len(of.Data)), second: memory.Make[float64](len(of.Data))}
}

// step moves x against its gradient.
func (a *adam) step(x, gradient *mat.Dense, rate float64) {
	const b1, b2, small = 0.9, 0.999, 1e-8
	a.steps++
	c1, c2 := 1-math.Pow(b1, float64(a.steps)), 1-math.Pow(b2, float64(a.steps))
	for i, v := range gradient.Data {
		g := float64(v)
		a.first[i] = b1*a.first[i] + (1-b1)*g
		a.second[i] = b2*a.second[i] + (1-b2)*g*g
		x.Data[i] -= float32(rate * (a.first[i] / c1) / (math.Sqrt(a.second[i]/c2) + small))
	}
}

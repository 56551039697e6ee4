// Package judge predicts in milliseconds how well GNNs trained on a condensed graph do. It fits two surrogates, kernel
// machines that behave like GNNs, and tests them on the validation nodes of the original graph.
package judge

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/ntk"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Verdict is the result for one condensed graph, or the mean over several.
type Verdict struct {
	// Accuracy is the validation accuracy in percent.
	Accuracy float64 `json:"accuracy"`
	// Entropy is the mean cross entropy on the validation nodes, in nats, of a softmax with the best of a few scales.
	Entropy float64 `json:"entropy"`
	// Hits holds 100 times the weight of each used validation node that is predicted correctly, and 0 for each other one.
	// Its mean is Accuracy.
	Hits []float64 `json:"-"`
	// Each holds what each used validation node adds to the score. Its mean is the score of one GNN, or the mean of
	// several scores. Its deviation estimates the error of the score, to first order in the entropy.
	Each []float64 `json:"-"`
}

// Score ranks candidates. It is the mean of the accuracy and of 100·exp(−entropy), the geometric mean of the
// probabilities of the true classes in percent.
func (v Verdict) Score() float64 { return (v.Accuracy + 100*math.Exp(-v.Entropy)) / 2 }

// Mean returns the mean of verdicts on graphs that were condensed from the same graph, at least one.
func Mean(verdicts ...Verdict) (mean Verdict) {
	n := float64(len(verdicts))
	mean.Each, mean.Hits = make([]float64, len(verdicts[0].Each)), make([]float64, len(verdicts[0].Hits))
	for _, v := range verdicts {
		mean.Accuracy += v.Accuracy
		mean.Entropy += v.Entropy / n
		for i, part := range v.Each {
			mean.Each[i] += part / n
			mean.Hits[i] += v.Hits[i] / n
		}
	}
	mean.Accuracy /= n
	return mean
}

// Judge judges graphs that are condensed from one graph. It fits two surrogates and averages their verdicts. It is safe
// for concurrent use.
//
// The logits are K′a for the condensed nodes and Ka for the validation nodes. K′ is the kernel between condensed nodes,
// and K that between validation nodes and condensed nodes. With M = ÂX on the original graph and M′ = Â′X′:
//
//	linear: K = Â·(MM′ᵀ)·Â′,  wide: K = Â·k·Â′,  k the kernel of ntk.Kernel between rows of M and of M′.
//
// The first is SGC. The second is a GCN of infinite width: its training by gradient descent is descent with a fixed
// kernel (Jacot et al. 2018; on graphs, Du et al. 2019). a comes from descent on the cross entropy with the labels,
// one-hot or soft (fit). Which of the two predicts trained GCNs better depends on the graph. The mean does well on all
// measured graphs (docs/notes/2026-11-choice.md).
type Judge struct {
	labels   []int32
	operator graph.Operator
	rows     []int32    // the validation nodes that are used
	position []int32    // the row of each node in features
	features *mat.Dense // M of these nodes and their neighbours
	norms    []float32  // the lengths of its rows
	twice    *mat.Dense // ÂM of rows
	linear   bool       // without the wide GCN
	testing  sync.Mutex // one GCN at a time: its hidden layer is large
}

// mostNear bounds the validation nodes and neighbours for which features are kept and kernels computed. mostRows bounds
// the validation nodes. If there are more, only a sample of the validation nodes is used.
const (
	mostNear = 20_000
	mostRows = 4096
	// mostWide bounds the numbers in K of the wide GCN before propagation. With more, it would take most of the time of a
	// choice, and only SGC is fitted.
	mostWide = 4_000_000
)

// Near returns an upper bound on the number of nodes for which a judge of g keeps features. If g has no validation
// nodes, it holds for any that g may get.
func Near(g *graph.Graph) int {
	near := min(g.Nodes(), mostNear)
	if len(g.Split.Val) == 0 {
		return near
	}
	within := len(g.Split.Val)
	for _, v := range g.Split.Val {
		within += int(g.Adj.Indptr[v+1] - g.Adj.Indptr[v])
	}
	return min(near, within)
}

// MostNodes bounds the condensed nodes of graphs to judge: the judge multiplies by kernels of this size.
const MostNodes = 2048

// New returns the judge for g. Only labels of validation nodes are read. If inductive is set, g is first reduced to its
// validation nodes. linear leaves the wide GCN out. If there are more than 4,096 validation nodes, or more than 20,000
// with their neighbours, src draws a sample. Errors come from reading the features, or from ctx.
func New(ctx context.Context, g *graph.Graph, inductive, linear bool, src rand.Source) (*Judge, error) {
	rows := g.Split.Val
	if inductive {
		g = g.Induced(rows)
		rows = memory.Range(0, g.Nodes())
	}
	rows, near := sampleField(g.Adj, rows, mostRows, mostNear, src)
	j := &Judge{
		labels: g.Labels(rows), operator: graph.Symmetric(g.Adj), rows: rows, linear: linear,
		features: new(mat.Dense), twice: new(mat.Dense), position: make([]int32, g.Nodes()),
	}
	for p, i := range near {
		j.position[i] = int32(p)
	}
	if err := j.operator.ApplyRows(ctx, j.features, g.X, near, nil); err != nil {
		return nil, err
	}
	j.norms = ntk.Norms(j.features)
	return j, j.operator.ApplyRows(ctx, j.twice, j.features, rows, j.position)
}

// Nodes returns the number of validation nodes that are used.
func (j *Judge) Nodes() int { return len(j.labels) }

// sampleField returns rows, and their union with their neighbours, both ascending. If there are more than most rows, or
// the union has more than limit nodes, sampleField draws a random subset that fits, or one row.
func sampleField(a *mat.CSR, rows []int32, most, limit int, src rand.Source) (sample, near []int32) {
	in := make([]bool, a.Rows)
	enter := func(i int32) {
		if !in[i] {
			in[i] = true
			near = append(near, i)
		}
	}
	for _, at := range rand.New(src).Perm(len(rows)) {
		i := rows[at]
		neighbours := a.Indices[a.Indptr[i]:a.Indptr[i+1]]
		if len(sample) == most {
			break
		}
		if len(near)+1+len(neighbours) > limit && len(sample) > 0 {
			continue
		}
		sample = append(sample, i)
		enter(i)
		for _, k := range neighbours {
			enter(k)
		}
	}
	slices.Sort(sample)
	slices.Sort(near)
	return sample, near
}

// Of returns the verdict on a condensed graph. weighted weights condensed nodes by the number of their source nodes, as
// the command does in training by default. shares, if it is not nil, has the share of each class among all nodes of the
// original graph: the validation nodes of a class then get its share of the total weight. The cost is products with N′
// columns, and 200 products of N′×N′ and N′×Classes matrices. The wide GCN is left out if its K would have more than
// 4 million numbers.
func (j *Judge) Of(ctx context.Context, small *condense.Condensed, weighted bool, shares []float64) (Verdict, error) {
	operator, weights := small.Operator(), j.weights(shares)
	var once, twice, own, other mat.Dense // M′, Â′M′, K′ and Kᵀ
	if err := operator.Apply(ctx, &once, small.X); err != nil {
		return Verdict{}, err
	}
	if err := operator.Apply(ctx, &twice, &once); err != nil {
		return Verdict{}, err
	}
	mat.MulTB(&own, &twice, &twice)
	mat.MulTB(&other, &twice, j.twice)
	y, p := small.Soft, lossShares(small, weighted)
	if y == nil {
		y = autodiff.OneHot(small.Y, small.Classes)
	}
	first, err := j.fit(ctx, &own, &other, y, p, weights)
	if err != nil || j.linear || j.features.Rows*small.Nodes() > mostWide {
		return first, err
	}
	if err := j.wide(ctx, operator, &once, &own, &other); err != nil {
		return Verdict{}, err
	}
	second, err := j.fit(ctx, &own, &other, y, p, weights)
	if err != nil {
		return Verdict{}, err
	}
	return Mean(first, second), nil
}

// wide sets own and other to K′ and Kᵀ of the wide GCN.
func (j *Judge) wide(ctx context.Context, operator graph.Operator, m, own, other *mat.Dense) error {
	var inner, half, cross, asked mat.Dense
	norms := ntk.Norms(m)
	mat.MulTB(&inner, m, m)
	ntk.Kernel(&inner, norms, norms)
	mat.MulTB(&cross, j.features, m)
	ntk.Kernel(&cross, j.norms, norms)
	if err := operator.Apply(ctx, &half, &inner); err != nil {
		return err
	}
	if err := operator.Apply(ctx, own, half.T()); err != nil {
		return err
	}
	if err := j.operator.ApplyRows(ctx, &asked, &cross, j.rows, j.position); err != nil {
		return err
	}
	return operator.Apply(ctx, other, asked.T())
}

// weights returns the weights of the validation nodes, with mean 1.
func (j *Judge) weights(shares []float64) []float64 {
	weights := slices.Repeat([]float64{1}, len(j.labels))
	if shares == nil {
		return weights
	}
	counts, sum := make([]float64, len(shares)), 0.0
	for _, y := range j.labels {
		counts[y]++
	}
	for i, y := range j.labels {
		weights[i] = shares[y] / counts[y]
		sum += weights[i]
	}
	for i := range weights {
		weights[i] *= float64(len(weights)) / sum
	}
	return weights
}

// steps are the numbers of steps of gradient descent after which a surrogate is tested.
var steps = []int{10, 30, 100}

// fit returns the best verdict on a surrogate with the kernels own, K′, and other, Kᵀ. If features are all 0, or if
// their products overflow, no logit is finite, and all classes are equally likely.
//
// It lowers Σ_i p_i·H(y_i, softmax(f_i)) over the logits f = K′a, with H the cross entropy and p_i the share of
// condensed node i in the loss, by gradient descent on functions, a ← a − η·p∘(softmax(K′a) − y), with Nesterov's
// momentum. The gradient is Lipschitz with at most ‖P^½K′P^½‖/2, so η is 2/‖P^½K′P^½‖ with the Frobenius norm. The only
// regularisation is to stop early: the best verdict after one of steps counts.
func (j *Judge) fit(
	ctx context.Context, own, other, y *mat.Dense, p []float32, weights []float64,
) (best Verdict, err error) {
	var squares float64
	for i := range own.Rows {
		for k, v := range own.Row(i) {
			squares += float64(p[i]) * float64(p[k]) * float64(v) * float64(v)
		}
	}
	eta := float32(2 / math.Sqrt(squares))
	a, before, ahead := mat.NewDense(y.Rows, y.Cols), mat.NewDense(y.Rows, y.Cols), mat.NewDense(y.Rows, y.Cols)
	f, logits, fitted := new(mat.Dense), new(mat.Dense), false
	for step := 1; step <= steps[len(steps)-1]; step++ {
		mat.Mul(f, own, ahead)
		a, before = before, a
		momentum := float32(step) / float32(step+3)
		for i := range f.Rows {
			kernel.Softmax(f.Row(i))
			now, last, next := a.Row(i), before.Row(i), ahead.Row(i)
			for c, probability := range f.Row(i) {
				now[c] = next[c] - eta*p[i]*(probability-y.Row(i)[c])
				next[c] = now[c] + momentum*(now[c]-last[c])
			}
		}
		if err := ctx.Err(); err != nil {
			return best, err
		}
		if slices.Contains(steps, step) {
			mat.MulTA(logits, other, a)
			v := verdict(logits, j.labels, weights)
			if v.Entropy <= math.MaxFloat64 && (!fitted || v.Score() > best.Score()) { // no NaN
				best, fitted = v, true
			}
		}
	}
	if !fitted {
		best = verdict(mat.NewDense(len(j.labels), y.Cols), j.labels, weights)
	}
	return best, nil
}

// lossShares returns the share of each condensed node in the loss.
func lossShares(small *condense.Condensed, weighted bool) []float32 {
	shares := slices.Repeat([]float32{1}, small.Nodes())
	if weighted {
		copy(shares, small.Weights())
	}
	var sum float64
	for _, w := range shares {
		sum += float64(w)
	}
	for i := range shares {
		shares[i] /= float32(sum)
	}
	return shares
}

// scales are the candidate factors by which logits are multiplied before the softmax. Logits are too small without a
// factor if descent stops early.
var scales = []float64{0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32}

// verdict compares logits with the labels of their rows, which have the given weights.
func verdict(logits *mat.Dense, labels []int32, weights []float64) Verdict {
	n := float64(len(labels))
	entropies := func(scale float64) (mean float64, each []float64) {
		each = make([]float64, len(labels))
		parallel.For(len(labels), 256, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				one := mat.Dense{Rows: 1, Cols: logits.Cols, Data: logits.Row(i)}
				each[i] = gnn.CrossEntropy(&one, labels[i:i+1], scale)
			}
		})
		for i, h := range each {
			mean += weights[i] * h / n
		}
		return mean, each
	}
	var v Verdict
	var entropy []float64
	for _, scale := range scales {
		mean, each := entropies(scale)
		if entropy != nil && !(mean < v.Entropy) { // the entropy is a convex function of the scale
			break
		}
		v.Entropy, entropy = mean, each
	}
	v.Each, v.Hits = make([]float64, len(labels)), make([]float64, len(labels))
	likely, right, all := math.Exp(-v.Entropy), 0.0, 0.0
	for i, y := range labels {
		all += weights[i]
		v.Each[i] = weights[i] * 50 * likely * (1 - (entropy[i] - v.Entropy)) // exp(−h) to first order around the mean
		if kernel.ArgMax(logits.Row(i)) == int(y) {
			v.Hits[i] = 100 * weights[i]
			v.Each[i] += v.Hits[i] / 2
			right += weights[i]
		}
	}
	v.Accuracy = 100 * right / all
	return v
}

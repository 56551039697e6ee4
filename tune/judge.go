package tune

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Verdict is what a judge finds of a condensed graph, or the mean of several.
type Verdict struct {
	// Accuracy is the share of validation nodes whose class is found, in percent.
	Accuracy float64 `json:"accuracy"`
	// Entropy is the mean cross entropy on them, in nats, of a softmax with the best of a few scales.
	Entropy float64 `json:"entropy"`
}

// Score is what candidates are ranked by: the mean of the accuracy and of 100·exp(−entropy), the geometric mean of the probability of the true class, in percent.
func (v Verdict) Score() float64 { return (v.Accuracy + 100*math.Exp(-v.Entropy)) / 2 }

// judge tells in milliseconds how well GNNs would do on the validation nodes of a graph if they were trained on a condensed one. It fits two of them in closed form,
// and takes the mean. Both are kernel ridge regressions on the condensed nodes' labels, one-hot or soft: the logits of the validation nodes are K(K′ + λD⁻¹)⁻¹Y′, where K′ is the kernel between the condensed
// nodes, K that between validation nodes and condensed nodes, and D holds the condensed nodes' weights in the loss, of mean 1. With M = ÂX on the original graph and M′ = Â′X′,
//
//	linear: K = Â·(MM′ᵀ)·Â′,  wide: K = Â·k·Â′,  k_ij = ‖m_i‖‖m′_j‖ (sin θ + 2(π−θ) cos θ)/π,
//
// where θ is the angle between m_i and m′_j. The first is SGC. The second is a GCN in the limit of infinitely many hidden units, in which training by gradient descent is regression with a
// fixed kernel (Jacot et al. 2018; on graphs, Du et al. 2019): the sum of the arc-cosine kernels of both layers (Cho and Saul 2009). Which of them predicts trained GCNs better
// depends on the graph; the mean does well on all that were measured (docs/design/tune.md).
type judge struct {
	labels   []int32
	operator graph.Operator
	rows     []int32    // the validation nodes that are asked for
	position []int32    // of each node in features
	features *mat.Dense // M of these nodes and their neighbours
	norms    []float32
	linear   bool // without the wide one
}

// judgeField bounds the number of validation nodes and neighbours at which features are kept and kernels computed. Where there are more, a sample of the validation nodes is asked for.
const judgeField = 20_000

// newJudge returns the judge for g, in the setting of training. Labels are read at its validation nodes alone. linear leaves the wide GCN out.
func newJudge(ctx context.Context, g *graph.Graph, inductive, linear bool, src rand.Source) (*judge, error) {
	rows := g.Split.Val
	if inductive {
		g = g.Induced(rows)
		rows = make([]int32, g.Nodes())
		for i := range rows {
			rows[i] = int32(i)
		}
	}
	rows, near := sampleField(g.Adj, rows, judgeField, src)
	j := &judge{labels: g.Labels(rows), operator: graph.Symmetric(g.Adj), rows: rows, linear: linear, features: new(mat.Dense), position: make([]int32, g.Nodes())}
	for p, i := range near {
		j.position[i] = int32(p)
	}
	if err := j.operator.ApplyRows(ctx, j.features, g.X, near, nil); err != nil {
		return nil, err
	}
	j.norms = norms(j.features)
	return j, nil
}

// sampleField returns rows, or as many of them, drawn at random, as have at most limit nodes among them and their neighbours, and these nodes; both ascending.
func sampleField(a *mat.CSR, rows []int32, limit int, src rand.Source) (sample, near []int32) {
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

// norms returns the length of each row.
func norms(x *mat.Dense) []float32 {
	n := make([]float32, x.Rows)
	for i := range n {
		var sum float64
		for _, v := range x.Row(i) {
			sum += float64(v) * float64(v)
		}
		n[i] = float32(math.Sqrt(sum))
	}
	return n
}

// wide turns the products ⟨m_i, m′_j⟩ in k into the kernel of the wide GCN, given the lengths of both.
func wide(k *mat.Dense, a, b []float32) {
	parallel.For(k.Rows, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := k.Row(i)
			for j, dot := range row {
				size := float64(a[i]) * float64(b[j])
				if size == 0 {
					row[j] = 0
					continue
				}
				cos := max(-1, min(1, float64(dot)/size))
				row[j] = float32(size * (math.Sqrt(1-cos*cos) + 2*(math.Pi-math.Acos(cos))*cos) / math.Pi)
			}
		}
	})
}

// of returns what the judge finds of a condensed graph.
func (j *judge) of(ctx context.Context, small *cgc.Condensed, weighted bool) (Verdict, error) {
	operator := small.Operator()
	var m, inner, cross mat.Dense
	if err := operator.Apply(ctx, &m, small.X); err != nil {
		return Verdict{}, err
	}
	mat.MulTB(&inner, &m, &m)
	mat.MulTB(&cross, j.features, &m)
	first, err := j.fit(ctx, small, operator, &inner, &cross, weighted)
	if err != nil || j.linear {
		return first, err
	}
	sizes := norms(&m)
	wide(&inner, sizes, sizes)
	wide(&cross, j.norms, sizes)
	second, err := j.fit(ctx, small, operator, &inner, &cross, weighted)
	return Verdict{(first.Accuracy + second.Accuracy) / 2, (first.Entropy + second.Entropy) / 2}, err
}

// ridges are the λ that are tried, as shares of the mean of K′'s diagonal.
var ridges = []float64{0.03, 0.3, 3}

// fit returns the verdict on the regression with the given kernels before the second layer's propagation: inner is N′×N′, cross has a row for each of j.features. Both are left alone.
func (j *judge) fit(ctx context.Context, small *cgc.Condensed, operator graph.Operator, inner, cross *mat.Dense, weighted bool) (best Verdict, err error) {
	n, classes := small.Nodes(), small.Classes
	var half, own, asked, other mat.Dense
	if err := operator.Apply(ctx, &half, inner); err != nil {
		return best, err
	}
	if err := operator.Apply(ctx, &own, half.T()); err != nil {
		return best, err
	}
	if err := j.operator.ApplyRows(ctx, &asked, cross, j.rows, j.position); err != nil {
		return best, err
	}
	if err := operator.Apply(ctx, &other, asked.T()); err != nil {
		return best, err
	}
	y := make([]float64, n*classes)
	kernel := mat.NewSymmetric(n)
	var diagonal, total float64
	weights := experiment.Sample(small).Weights
	for i, c := range small.Y {
		if small.Soft == nil {
			y[i*classes+int(c)] = 1
		} else {
			for k, p := range small.Soft.Row(i) {
				y[i*classes+k] = float64(p)
			}
		}
		for k := range n {
			kernel.Data[i*n+k] = (float64(own.Data[i*n+k]) + float64(own.Data[k*n+i])) / 2 // Â′ is symmetric but for rounding
		}
		diagonal += kernel.Data[i*n+i] / float64(n)
		if !weighted {
			weights[i] = 1
		}
		total += float64(weights[i])
	}
	solution, logits := mat.NewDense(n, classes), new(mat.Dense)
	fitted := false
	for _, ridge := range ridges {
		shifted := mat.NewSymmetric(n)
		copy(shifted.Data, kernel.Data)
		for i, w := range weights {
			shifted.Data[i*n+i] += ridge * diagonal * total / (float64(n) * float64(w))
		}
		factor, err := shifted.Cholesky(ctx)
		if err != nil {
			continue // features that are all zero
		}
		solved, err := factor.Solve(ctx, y, classes)
		if err != nil {
			return best, err
		}
		for i, v := range solved {
			solution.Data[i] = float32(v)
		}
		mat.MulTA(logits, &other, solution)
		if v := verdict(logits, j.labels); !fitted || v.Score() > best.Score() {
			best, fitted = v, true
		}
	}
	if !fitted {
		best = verdict(mat.NewDense(len(j.labels), classes), j.labels)
	}
	return best, ctx.Err()
}

// scales are the factors of logits that are tried for the softmax: those of a regression are too small for one.
var scales = []float64{1, 2, 4, 8, 16, 32}

// verdict judges logits by the labels of their rows.
func verdict(logits *mat.Dense, labels []int32) Verdict {
	v := Verdict{Accuracy: gnn.Accuracy(logits, labels), Entropy: math.Inf(1)}
	for _, scale := range scales {
		v.Entropy = min(v.Entropy, gnn.CrossEntropy(logits, labels, scale))
	}
	return v
}

package deepcgc

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/assess"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// pool holds the nodes that are clustered, first the training nodes, and their classes.
type pool struct {
	nodes, y []int32
	trained  int // the number of training nodes
}

// pool returns the training nodes and the nodes in no split whose predictions are among the most certain. h holds the
// embeddings of all nodes.
func (m deepCGC) pool(ctx context.Context, g *graph.Graph, h []*mat.Dense) (pool, error) {
	p := pool{nodes: slices.Clone(g.Split.Train), y: g.Labels(g.Split.Train), trained: len(g.Split.Train)}
	taken := make([]bool, g.Nodes())
	for _, v := range slices.Concat(g.Split.Train, g.Split.Val, g.Split.Test) {
		taken[v] = true
	}
	most := min(int(m.PseudoLabels*float64(p.trained)), g.Nodes())
	if most == 0 || !slices.Contains(taken, false) {
		return p, nil
	}
	train := make([]mat.View, len(h))
	for k := range h {
		train[k] = h[k].Select(p.nodes)
	}
	fitted, err := assess.Fit(ctx, train, p.y, g.Classes)
	if err != nil {
		return p, err
	}
	present, logits := g.Counts(p.nodes), new(mat.Dense)
	mat.Mul(logits, h[m.Hops], fitted.Classifier.W)
	class, certain := make([]int32, g.Nodes()), make([]float32, g.Nodes())
	for v := range class {
		row := logits.Row(v)
		for c, n := range present {
			if n == 0 { // a class without training nodes has no condensed nodes
				row[c] = float32(math.Inf(-1))
			}
		}
		kernel.Softmax(row)
		class[v] = int32(kernel.ArgMax(row))
		certain[v] = row[class[v]]
	}
	order := memory.Range(0, g.Nodes())
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(certain[b], certain[a]) })
	slices.Sort(order[:most])
	for _, v := range order[:most] {
		if !taken[v] {
			p.nodes, p.y = append(p.nodes, v), append(p.y, class[v])
		}
	}
	return p, nil
}

// blockRows is the number of nodes whose predictions are compared at once.
const blockRows = 8192

// learner is the state of steps 3 and 4.
type learner struct {
	deepCGC
	pool
	budget []int
	first  []int // group j of class c is first[c]+j

	all, own halves // the embeddings of all nodes and of the pool
	network  []*mat.Dense
	centres  halves        // W
	groups   []int32       // of the nodes of the pool
	members  *learn.Sparse // M, which averages over the pool nodes of each group
	class    []int32       // of each group
}

// learner returns the initial state. h holds the embeddings of all nodes.
func (m deepCGC) learner(h *mat.Dense, p pool, budget []int, src rand.Source) *learner {
	l := &learner{deepCGC: m, pool: p, budget: budget, first: []int{0}, all: split(h.View().Rows())}
	for half := range l.all {
		l.own[half] = new(mat.Dense)
		l.all[half].Gather(l.own[half], p.nodes)
	}
	for i := range m.Layers {
		to, from := l.all[i%2].Cols, l.all[1-i%2].Cols
		l.network = append(l.network, coupling(from, to, m.Hidden, src)...)
	}
	for _, n := range budget {
		l.first = append(l.first, l.first[len(l.first)-1]+n)
	}
	k := l.first[len(budget)]
	for half := range l.centres {
		l.centres[half] = learn.Uniform(mat.NewDense(k, l.all[half].Cols), h.Cols, src)
	}
	return l
}

// averages returns M for k groups. groups[i] is the group of pool node i.
func averages(groups []int32, k int) *learn.Sparse {
	of := make([][]int32, k)
	for i, j := range groups {
		of[j] = append(of[j], int32(i))
	}
	m := &mat.CSR{Rows: k, Cols: len(groups), Indptr: make([]int64, 1, k+1)}
	for _, nodes := range of {
		m.Indices = append(m.Indices, nodes...)
		m.Data = append(m.Data, slices.Repeat([]float32{1 / float32(len(nodes))}, len(nodes))...)
		m.Indptr = append(m.Indptr, int64(len(m.Indices)))
	}
	return &learn.Sparse{Matrix: m}
}

// sources returns M with the n nodes of the graph as columns.
func (l *learner) sources(n int) *mat.CSR {
	m := l.members.Matrix
	out := &mat.CSR{Rows: m.Rows, Cols: n, Indptr: m.Indptr, Data: m.Data}
	for j := range m.Rows {
		at := len(out.Indices)
		for i := range m.Row(j) {
			out.Indices = append(out.Indices, l.nodes[i])
		}
		slices.Sort(out.Indices[at:]) // all weights of a row are equal
	}
	return out
}

// latent returns f(x) of an embedding matrix.
func (l *learner) latent(t *autodiff.Tape, x halves) pair {
	return flow(learn.Put(t, l.network), x.put(t), false)
}

// cluster forms the groups by k-means on Z.
func (l *learner) cluster(ctx context.Context, src rand.Source) error {
	var z *mat.Dense
	t := autodiff.NewTape()
	if err := t.Within(ctx, func() error {
		z = l.latent(t.Values(), l.own).values().join()
		return nil
	}); err != nil {
		return err
	}
	plan := partition.Plan{Budgets: l.budget, Partitioner: partition.KMeans{Restarts: 1}, Temperature: math.Inf(1)}
	found, err := plan.Aggregate(ctx, z.View().Rows(), l.y, nil, src)
	if err != nil {
		return err
	}
	l.groups = make([]int32, len(l.nodes))
	for j := range found.Members.Rows {
		for i := range found.Members.Row(j) {
			l.groups[i] = int32(j)
		}
	}
	l.members, l.class = &learn.Sparse{Matrix: found.Members}, found.Y
	return nil
}

// run is the loop over epochs.
func (l *learner) run(ctx context.Context, src rand.Source) error {
	parameters := append(slices.Clone(l.network), l.centres[0], l.centres[1])
	steps, noise := adam.New(l.Rate, parameters...), rand.New(src)
	steps.Decay = l.Decay
	t, count := autodiff.NewTape(), progress.NewCounter(0, l.Epochs)
	for epoch := range l.Epochs {
		err := t.Within(ctx, func() error {
			if epoch >= l.Warmup && (epoch-l.Warmup)%l.UpdateEvery == 0 {
				l.regroup(t.Values())
			}
			loss, gradients := l.gradients(t, noise)
			if err := learn.FiniteLoss(learnStep, epoch+1, loss); err != nil {
				return err
			}
			steps.Step(gradients...)
			if epoch > 0 {
				for half, c := range l.prototypes(t.Values()) {
					copy(l.centres[half].Data, c.Data)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		count.Add(ctx, learnStep)
	}
	return ctx.Err()
}

// prototypes returns C = MZ.
func (l *learner) prototypes(t *autodiff.Tape) halves {
	return l.latent(t, l.own).each(func(z *autodiff.Var) *autodiff.Var { return t.Linear(l.members, z) }).values()
}

// embeddings returns H′ = f⁻¹(C).
func (l *learner) embeddings() *mat.Dense {
	t := autodiff.NewTape().Values()
	return flow(learn.Put(t, l.network), l.prototypes(t).put(t), true).values().join()
}

// gradients returns the objective, without its constant terms, and its gradients with respect to the network and to W.
// They are valid until the next use of t.
func (l *learner) gradients(t *autodiff.Tape, noise *rand.Rand) (loss float64, gradients []*mat.Dense) {
	t.Reset()
	network, w := learn.Put(t, l.network), l.centres.put(t)
	z := flow(network, l.own.put(t), false)
	train := memory.Range(0, l.trained)
	k := len(l.class)
	labelled := z.each(func(z *autodiff.Var) *autodiff.Var { return t.Rows(z, train) })
	logits := t.Scale(float32(1/l.Temperature), labelled.unit().times(w.unit()))
	total := t.CrossEntropy(logits, t.Var(autodiff.OneHot(l.groups[:l.trained], k)))
	c := z.each(func(z *autodiff.Var) *autodiff.Var { return t.Linear(l.members, z) }).unit()
	apart := t.Sub(c.times(c), t.Var(learn.Identity(k)))
	total = t.Add(total, t.Scale(float32(l.Separation/float64(k*k)), t.Sum(t.Mul(apart, apart))))
	loss = float64(total.Value.Data[0])
	for _, g := range t.Grad(total, append(network, w[0], w[1])...) {
		gradients = append(gradients, g.Value.Clone())
	}
	if l.Consistency == 0 {
		return loss, gradients
	}
	var kept halves // whether a column of H̃ is kept: 1 or 0
	for half, h := range l.all {
		kept[half] = mat.NewDense(1, h.Cols)
		for j := range kept[half].Data {
			if noise.Float64() >= l.Noise {
				kept[half].Data[j] = 1
			}
		}
	}
	for lo := 0; lo < l.all[0].Rows; lo += blockRows {
		t.Reset()
		network, w := learn.Put(t, l.network), l.centres.put(t)
		hi := min(lo+blockRows, l.all[0].Rows)
		divergence := l.divergence(network, w, l.all.rows(lo, hi), kept)
		loss += float64(divergence.Value.Data[0])
		for i, g := range t.Grad(divergence, append(network, w[0], w[1])...) {
			kernel.Axpy(1, g.Value.Data, gradients[i].Data)
		}
	}
	return loss, gradients
}

// divergence returns the part of the objective's second term that is due to the nodes with embeddings x. It uses the
// cross entropy, which differs from the divergence by a constant.
func (l *learner) divergence(network []*autodiff.Var, w pair, x, kept halves) *autodiff.Var {
	t := w[0].Tape()
	values := t.Values()
	cosines := l.latent(values, x).unit().times(l.centres.put(values).unit())
	target := values.Exp(values.LogSoftmax(cosines)).Value
	noisy := halves{x[0].Clone(), x[1].Clone()}
	for half, h := range noisy {
		for i := range h.Rows {
			kernel.Mul(h.Row(i), h.Row(i), kept[half].Data)
		}
	}
	share := l.Consistency / float64(l.all[0].Rows*target.Cols)
	predicted := flow(network, noisy.put(t), false).unit().times(w.unit())
	return t.Scale(float32(share*float64(target.Rows)), t.CrossEntropy(predicted, t.Var(target)))
}

// regroup assigns the nodes of each class to its groups anew (step 4).
func (l *learner) regroup(t *autodiff.Tape) {
	cosines := l.latent(t, l.own).unit().times(l.centres.put(t).unit()).Value
	of := make([][]int32, len(l.budget))
	for i, c := range l.y {
		of[c] = append(of[c], int32(i))
	}
	for c, nodes := range of {
		first, k := l.first[c], l.budget[c]
		rows := make([][]float64, len(nodes))
		for i, v := range nodes {
			rows[i] = make([]float64, k)
			for j := range k {
				rows[i][j] = math.Exp(float64(cosines.Row(int(v))[first+j]) / l.Epsilon)
			}
		}
		groups, size := balanced(rows, k), make([]int, k)
		for _, j := range groups {
			size[j]++
		}
		if slices.Contains(size, 0) {
			continue
		}
		for i, v := range nodes {
			l.groups[v] = int32(first + groups[i])
		}
	}
	l.members = averages(l.groups, len(l.class))
}

// balanced returns the column of the largest entry of each row after three rounds of Sinkhorn's algorithm, which scales
// the columns and then the rows to equal sums. It changes the rows. Each row has k numbers above 0.
func balanced(rows [][]float64, k int) []int {
	const rounds = 3
	for range rounds {
		sums := make([]float64, k)
		for _, row := range rows {
			for j, v := range row {
				sums[j] += v
			}
		}
		for _, row := range rows {
			sum := 0.0
			for j := range row {
				row[j] /= sums[j]
				sum += row[j]
			}
			for j := range row {
				row[j] /= sum
			}
		}
	}
	groups := make([]int, len(rows))
	for i, row := range rows {
		for j, v := range row {
			if v > row[groups[i]] {
				groups[i] = j
			}
		}
	}
	return groups
}

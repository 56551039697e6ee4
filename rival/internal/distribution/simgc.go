package distribution

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// simGC matches the means and standard deviations of the propagated features of each class. The loss also contains the
// cross entropy of a two-layer teacher, trained on the original graph, on the condensed nodes. Source: Xiao et al.,
// Simple graph condensation (2024).
//
// With A′ = PGE(X′) without weights below Threshold, and Z_k = Â′ᵏX′, it minimises
//
//	CE(teacher(Z_K), y′) + α·Σ_c n′_c/N′·(MSE of means + MSE of deviations of [Z_0, …, Z_K] over the nodes of class c)
//	− β·Σ_ij A′_ij·s_ij/Σ_ij A′_ij,  s_ij = mean over the features f of exp(−½(x′_if − x′_jf)²).
//
// Classes with a single condensed node have no term for deviations. X′ starts from standard normal numbers. The
// features are not divided by Start.Unit, because the program does not scale them: it sets a transformation that
// divides rows by their sums, but reads the data without it (utils.py). α = 10 is for such features. On Cora, where
// rows sum to 18, α would have to be 18² times as large for rows that sum to 1.
//
// Departures from the authors' program (BangHonor/SimGC, SimGC_transductive.py):
//   - On every graph, the teacher and the learning rates are those of the program for Cora and Citeseer. On other
//     graphs, the program's teacher has three layers of 256 units with batch normalisation and dropout of ½ (on arxiv,
//     it is an SGC without ReLU), and the learning rates for X′ and A′ are ten times as large.
//   - Features of arxiv are standardised by the program; here this is left to the user.
//   - A GCN with ReLU and 256 units chooses the iterate. On Cora and Citeseer, theirs has 2048 units and no ReLU. Their
//     program validates every 100 steps and reports the student with the best validation accuracy in 3000 steps.
type simGC struct {
	// Epochs is the number of steps, at least 1.
	Epochs int `json:"epochs"`
	// FeatureRate is Adam's learning rate for X′, above 0.
	FeatureRate float64 `json:"lr_feat"`
	// Hops is K, the number of propagations, at least 0.
	Hops int `json:"hops"`
	// FeatureWeight is α, the weight of the loss term that matches means and deviations. Smoothness is β, the weight of
	// the similarity of nodes that A′ connects. Both are at least 0.
	FeatureWeight float64 `json:"feature_weight"`
	Smoothness    float64 `json:"smoothness"`
	// TeacherHidden is the number of hidden units of the teacher, at least 1. TeacherEpochs is the number of Adam steps
	// that train it, at least 1, and TeacherRate is their learning rate, above 0.
	TeacherHidden int     `json:"teacher_hidden"`
	TeacherEpochs int     `json:"teacher_epochs"`
	TeacherRate   float64 `json:"lr_teacher"`
	learn.Choice
	learn.Structure
}

// newSimGC returns SimGC with the settings of its authors' program for Cora.
func newSimGC() simGC {
	return simGC{
		Epochs: 1500, FeatureRate: 0.005, Hops: 2, FeatureWeight: 10, Smoothness: 0.1,
		TeacherHidden: 2048, TeacherEpochs: 1000, TeacherRate: 0.001,
		Choice: learn.Choice{JudgeEvery: 50, JudgeEpochs: 200},
		Structure: learn.Structure{
			AdjacencyRate: 0.001, PairHidden: 128, Threshold: 0.01, StartWeight: 0.5, StructureEpochs: 10, FeatureEpochs: 40,
		},
	}
}

// Name returns "simgc".
func (simGC) Name() string { return "simgc" }

// Check validates the parameters, g, nodes and the memory limit.
func (m simGC) Check(g *graph.Graph, nodes int) error {
	// Counted: embeddings of the labelled nodes; the teacher's inputs as sparse matrices, its weights with their moments
	// and the best weights; hidden units; X′ with its propagations and gradients.
	bytes := func() float64 {
		d, hidden := float64(g.Features()), float64(m.TeacherHidden)
		labelled := len(g.Split.Train) + len(g.Split.Val)
		return learn.EmbeddingBytes(labelled, g.Features(), m.Hops) + 20*hidden*(d+float64(g.Classes)) +
			16*float64(labelled)*d + 16*hidden*float64(labelled+nodes) + 40*float64(nodes)*d*float64(m.Hops+1)
	}
	return learn.Check(m, g, nodes, &m.Structure, m.Memory, bytes,
		parameter.Check(m.Epochs >= 1, "epochs", m.Epochs, "at least 1"),
		parameter.Check(m.FeatureRate > 0, "lr feat", m.FeatureRate, "above 0"),
		parameter.Check(m.Hops >= 0, "hops", m.Hops, "at least 0"),
		parameter.Check(m.FeatureWeight >= 0, "feature weight", m.FeatureWeight, "at least 0"),
		parameter.Check(m.Smoothness >= 0, "smoothness", m.Smoothness, "at least 0"),
		parameter.Check(m.TeacherHidden >= 1, "teacher hidden", m.TeacherHidden, "at least 1"),
		parameter.Check(m.TeacherEpochs >= 1, "teacher epochs", m.TeacherEpochs, "at least 1"),
		parameter.Check(m.TeacherRate > 0, "lr teacher", m.TeacherRate, "above 0"),
		m.Choice.Check(),
	)
}

// Condense implements condense.Method.
func (m simGC) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	plan := learn.Plan{Method: m, Nodes: nodes, Seed: seed, Epochs: m.Epochs, Choice: m.Choice}
	return learn.Run(ctx, g, plan, func(start *learn.Start) (learn.Learner, error) {
		start.Unit = 1
		o, err := newMoments(ctx, start, m, rand.NewPCG(seed, teacherStream))
		if err != nil {
			return nil, err
		}
		noise := rand.New(rand.NewPCG(seed, noiseStream))
		for i := range start.X.Data {
			start.X.Data[i] = float32(noise.NormFloat64())
		}
		return &simLearner{m.Pair(start, m.FeatureRate, seed), o}, nil
	})
}

// teacherStream is the random stream of the teacher's weights. noiseStream is the stream of the initial X′.
const (
	teacherStream = 1<<40 + 1
	noiseStream   = 1<<40 + 5
)

// simLearner is the Learner of SimGC.
type simLearner struct {
	*learn.Pair
	moments *moments
}

// Epoch performs one step. It uses no random numbers.
func (l *simLearner) Epoch(ctx context.Context, epoch int, _ rand.Source) (loss float64, err error) {
	loss, dx, da := l.moments.match(l.X, l.A())
	l.Step(epoch, dx, da)
	return loss, ctx.Err()
}

// moments is the objective of SimGC.
type moments struct {
	simGC
	tape               *autodiff.Tape
	means, spread      *mat.Dense // of the training nodes of each class: classes × (K+1)·d
	share, spreadShare *mat.Dense // n′_c/N′, 1 × classes; spreadShare has 0 for a class of one node
	y                  *mat.Dense // one-hot labels
	own                *mat.Dense // learn.Start.Averages
	labels             []int32
	teacher            learn.Weights
	variance, ratio    *mat.Dense // constants used in the deviations
	kept, likeness     mat.Dense  // A′ without weights below the threshold, and s
}

func newMoments(ctx context.Context, s *learn.Start, m simGC, src rand.Source) (*moments, error) {
	nodes, first := s.Labelled()
	h, err := s.Embeddings(ctx, m.Hops, nodes)
	if err != nil {
		return nil, err
	}
	c, d := len(s.Budget), s.X.Cols
	o := &moments{
		simGC: m, tape: autodiff.NewTape(), y: autodiff.OneHot(s.Y, c), own: s.Averages(), labels: s.Y,
		means: mat.NewDense(c, (m.Hops+1)*d), spread: mat.NewDense(c, (m.Hops+1)*d),
		share: mat.NewDense(1, c), spreadShare: mat.NewDense(1, c),
		variance: learn.Filled(c, (m.Hops+1)*d, tiny), ratio: mat.NewDense(c, c),
	}
	for class, n := range s.Budget {
		lo, hi := first[class], first[class+1]
		o.share.Data[class] = float32(n) / float32(len(s.Y))
		if n > 1 {
			o.spreadShare.Data[class] = o.share.Data[class]
			o.ratio.Row(class)[class] = float32(n) / float32(n-1)
		}
		for k, rows := range h {
			for j := range d {
				var sum, squares float64
				for i := lo; i < hi; i++ {
					sum += float64(rows.Row(i)[j])
				}
				mean := sum / float64(max(1, hi-lo))
				for i := lo; i < hi; i++ {
					diff := float64(rows.Row(i)[j]) - mean
					squares += diff * diff
				}
				o.means.Row(class)[k*d+j] = float32(mean)
				o.spread.Row(class)[k*d+j] = float32(math.Sqrt(squares / float64(max(1, hi-lo-1))))
			}
		}
	}
	train := &learn.TwoLayers{
		ReLU: true, S: &learn.Sparse{Matrix: h[m.Hops].Sparse()}, Y: autodiff.OneHot(s.Graph.Labels(nodes), c),
	}
	o.teacher, err = m.teach(ctx, s, train, src)
	return o, err
}

// lesson is the number of steps of the teacher between two validations.
const lesson = 50

// teach trains a teacher on train. It returns the weights with the best validation accuracy, or the last ones if there
// are no validation nodes.
func (m simGC) teach(ctx context.Context, s *learn.Start, train *learn.TwoLayers, src rand.Source) (
	best learn.Weights, err error,
) {
	validation, err := s.Linear(ctx, s.Graph.Split.Val, m.Hops)
	if err != nil {
		return best, err
	}
	validation.ReLU = true
	labels := s.Graph.Labels(s.Graph.Split.Val)
	weights := learn.NewWeights(s.X.Cols, m.TeacherHidden, len(s.Budget)).Draw(src)
	tape, steps := autodiff.NewTape(), adam.New(m.TeacherRate, weights.All()...)
	accuracy := -1.0
	best = weights
	for step := range m.TeacherEpochs {
		if err := ctx.Err(); err != nil {
			return best, err
		}
		tape.Reset()
		theta, _, logits := train.Forward(tape, weights)
		steps.Step(learn.Values(tape.Grad(tape.CrossEntropy(logits, tape.Var(train.Y)), theta...))...)
		if len(labels) == 0 || step%lesson != 0 && step != m.TeacherEpochs-1 {
			continue
		}
		tape.Reset()
		_, _, logits = validation.Forward(tape, weights)
		if now := gnn.Accuracy(logits.Value, labels); now > accuracy {
			accuracy, best = now, weights.Clone()
		}
	}
	return best, nil
}

// tiny is added to variances, because the square root has no derivative at 0. A feature that is constant in a class has
// variance 0.
const tiny = 1e-10

// match returns the objective and its gradients with respect to X′ and A′. The gradient of a weight below the threshold
// is 0.
func (o *moments) match(x, a *mat.Dense) (loss float64, dx, da *mat.Dense) {
	o.kept.Reshape(a.Dims())
	for i, w := range a.Data {
		if w < float32(o.Threshold) {
			w = 0
		}
		o.kept.Data[i] = w
	}
	t := o.tape
	t.Reset()
	vx, va := learn.Variables(t, x, &o.kept)
	in := gnn.VariableInput(va, vx)
	z, all := vx, vx
	for range o.Hops {
		z = in.Symmetric(z)
		all = t.Concat(all, z)
	}
	total := t.CrossEntropy(learn.Logits(z, learn.Put(t, o.teacher.All())), t.Var(o.y))
	total = t.Add(total, t.Scale(float32(o.FeatureWeight), o.distance(all)))
	loss, dx, da = learn.Gradients(total, vx, va)
	loss += o.smooth(x, dx, da)
	for i, w := range o.kept.Data {
		if w == 0 {
			da.Data[i] = 0
		}
	}
	return loss, dx, da
}

// distance returns Σ_c n′_c/N′·(MSE of means + MSE of deviations).
func (o *moments) distance(z *autodiff.Var) *autodiff.Var {
	t := o.tape
	own := t.Var(o.own)
	means := t.MatMul(own, z)
	centred := t.Sub(z, t.Rows(means, o.labels))
	variances := t.MatMul(t.Var(o.ratio), t.MatMul(own, t.Mul(centred, centred)))
	spread := t.Power(t.Add(variances, t.Var(o.variance)), 0.5)
	first, second := t.Sub(means, t.Var(o.means)), t.Sub(spread, t.Var(o.spread))
	return t.Scale(1/float32(z.Value.Cols), t.Add(
		t.MatMul(t.Var(o.share), t.RowSums(t.Mul(first, first))),
		t.MatMul(t.Var(o.spreadShare), t.RowSums(t.Mul(second, second)))))
}

// smooth returns −β·Σ_ij A_ij·s_ij/Σ_ij A_ij for A = kept, or 0 if A is 0. It adds the gradients to dx and, for the
// edges, to da. A tape would store several rows of d numbers for each edge.
func (o *moments) smooth(x, dx, da *mat.Dense) float64 {
	n, d := x.Dims()
	var weight, sum float64
	for _, w := range o.kept.Data {
		weight += float64(w)
	}
	if weight == 0 {
		return 0
	}
	scale := o.Smoothness / weight
	o.likeness.Reshape(n, n)
	parallel.For(n, 1, func(lo, hi int) {
		diff, near := make([]float32, d), make([]float32, d)
		for i := lo; i < hi; i++ {
			for j, w := range o.kept.Row(i) {
				if w == 0 {
					continue
				}
				copy(diff, x.Row(i))
				kernel.Axpy(-1, x.Row(j), diff)
				kernel.Mul(near, diff, diff)
				kernel.Scale(near, -0.5, near)
				o.likeness.Row(i)[j] = kernel.ExpShifted(near, near, 0) / float32(d)
				kernel.Mul(near, near, diff)
				kernel.Axpy(float32(2*scale/float64(d))*w, near, dx.Row(i)) // for both (i, j) and (j, i)
			}
		}
	})
	for i, w := range o.kept.Data {
		if w != 0 {
			sum += float64(w) * float64(o.likeness.Data[i])
		}
	}
	for i, w := range o.kept.Data {
		if w != 0 {
			da.Data[i] -= float32(scale * (float64(o.likeness.Data[i]) - sum/weight))
		}
	}
	return -scale * sum
}

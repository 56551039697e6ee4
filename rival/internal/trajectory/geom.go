package trajectory

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// geom extends sfgc. GCNs on the original graph see easy nodes first. GCNs on X′ start at their states in a range of
// epochs, which expands. Soft labels are learnt. Source: Zhang et al., Navigating complexity: Toward lossless graph
// condensation via expanding window matching (ICML 2024).
//
// The loss includes the final predictions of an expert:
//
//	min ‖θ_S − θ*‖/‖θ_0 − θ*‖ + β·KL(Y′ ‖ f_end(X′)).
//
// Departures from the authors' program (NUS-HPC-AI-Lab/GEOM, geomtt_transduct2.py), besides the number of experts and
// the difficulty of nodes (easyFirst):
//   - The share of the nodes that experts see grows geometrically on every graph. In the program it does so on Cora; on
//     Reddit it grows linearly, and on the other graphs like a square root.
//   - Its Y′ are the exponentials of learnt numbers, whose sum need not be 1. Here Y′ is their softmax.
//   - Its k-center uses the hidden units of a trained GCN, not ÂᴷX.
type geom struct {
	Matching
	// LearnRate is the learning rate for the students' step size, at least 0: gradient descent with momentum 0.5.
	LearnRate float64 `json:"lr_lr"`
	// LabelRate is the learning rate for the logits of Y′, at least 0: gradient descent with momentum 0.9.
	LabelRate float64 `json:"lr_y"`
	// Beta is β, the weight of the KL divergence in the loss, at least 0.
	Beta float64 `json:"beta"`
	// Lambda is the share of the training nodes that experts see at the start, above 0 and at most 1. In epoch e, the
	// share is Lambda^(1−e/Span); from epoch Span on, experts see all training nodes. Span is at least 1. TeacherEpochs
	// is the number of epochs of the expert whose predictions are in the KL divergence, at least 0. Experts are trained
	// at least up to the last target.
	Lambda        float64 `json:"lambda"`
	Span          int     `json:"span"`
	TeacherEpochs int     `json:"teacher_epochs"`
	// Window is the length of the range of epochs of an expert at which students start, at least 1. The range begins
	// with the first epoch, and grows by one epoch with each student, up to MaxStart.
	Window int `json:"window"`
	// Init chooses the initial X′, as in sfgc.
	Init string `json:"init"`
}

// newGEOM returns GEOM with the settings of its authors' program for 70 nodes of Cora, except for 20 experts instead of
// 200.
func newGEOM() geom {
	m := geom{
		Matching: newSFGC().Matching, LearnRate: 1e-6, LabelRate: 5e-5, Beta: 0.01, Lambda: 0.75, Span: 1500,
		TeacherEpochs: 3000, Window: 50, Init: KCenter,
	}
	m.Epochs, m.Steps, m.ExpertEpochs, m.MaxStart, m.JudgeEvery = 200, 2500, 1400, 190, 10
	return m
}

// Name returns "geom".
func (geom) Name() string { return "geom" }

// Check validates the parameters, g, nodes and the memory limit.
func (m geom) Check(g *graph.Graph, nodes int) error {
	m.end = m.TeacherEpochs
	return errors.Join(m.check(m.Name(), g, nodes),
		parameter.Check(m.LearnRate >= 0, "lr lr", m.LearnRate, "at least 0"),
		parameter.Check(m.LabelRate >= 0, "lr y", m.LabelRate, "at least 0"),
		parameter.Check(m.Beta >= 0, "beta", m.Beta, "at least 0"),
		parameter.Check(m.Lambda > 0 && m.Lambda <= 1, "lambda", m.Lambda, "above 0 and at most 1"),
		parameter.Check(m.Span >= 1, "span", m.Span, "at least 1"),
		parameter.Check(m.TeacherEpochs >= 0, "teacher epochs", m.TeacherEpochs, "at least 0"),
		parameter.Check(m.Window >= 1, "window", m.Window, "at least 1"),
		checkInit(m.Init))
}

// Condense implements condense.Method.
func (m geom) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	m.end = m.TeacherEpochs
	return m.run(ctx, g, m, nodes, seed, func(s *learn.Start, student *student) (learn.Learner, error) {
		train, err := easyFirst(ctx, s)
		if err != nil {
			return nil, err
		}
		seen := func(epoch int) int { return m.seen(epoch, len(train)) }
		if err := m.convolutions(ctx, m.Name(), s, m.Init, train, seen, student.store, seed); err != nil {
			return nil, err
		}
		student.unroll.root = true
		l := &window{
			free: newFree(student, mat.NewDense(nodes, len(s.Budget)), m.LearnRate), geom: m,
			end: learn.NewWeights(s.X.Cols, m.Hidden, len(s.Budget)), tape: autodiff.NewTape(),
		}
		l.label(s.Y)
		return l, nil
	})
}

// easyHops is the number of label propagations that are used to measure how hard a node is.
const easyHops = 2

// easyFirst returns the training nodes by ascending entropy of the classes around them (LabelMixtures).
func easyFirst(ctx context.Context, s *learn.Start) ([]int32, error) {
	train, _ := s.Labelled()
	mixtures, err := s.LabelMixtures(ctx, easyHops, train)
	if err != nil {
		return nil, err
	}
	entropy := map[int32]float64{}
	for i, node := range train {
		for _, v := range mixtures.Row(i) {
			if v > 0 {
				entropy[node] -= float64(v) * math.Log(float64(v))
			}
		}
	}
	slices.SortStableFunc(train, func(a, b int32) int { return cmp.Compare(entropy[a], entropy[b]) })
	return train, nil
}

// seen returns the number of training nodes, out of n, that an expert sees in an epoch. It is at least 1.
func (m geom) seen(epoch, n int) int {
	share := math.Pow(m.Lambda, 1-float64(epoch)/float64(m.Span))
	return max(1, int(min(1, share)*float64(n)))
}

// open draws the index of a start from the window that is open in an epoch of the condensation.
func (m geom) open(random *rand.Rand, epoch int) (place int) {
	bound := min(m.Window+epoch-1, m.MaxStart+m.Interval)
	return min(random.IntN(bound)/m.Interval, m.starts()-1)
}

// window is the Learner of GEOM.
type window struct {
	*free
	geom     geom
	logits   *mat.Dense // Y′ = softmax(logits)
	velocity *mat.Dense
	end      learn.Weights // the final weights of the expert
	tape     *autodiff.Tape
}

// label sets the initial Y′ to the final predictions of the first expert on X′. If a node's own class is not the most
// likely, its logit is raised to the maximum.
func (l *window) label(labels []int32) {
	l.store.get(l.snapshots()-1, l.end)
	_, logits := l.ask()
	l.logits, l.velocity = l.tape.LogSoftmax(logits).Value.Clone(), mat.NewDense(l.y.Dims())
	for i, c := range labels {
		row := l.logits.Row(i)
		row[c] = max(row[c], slices.Max(row))
	}
	l.soften()
}

// tiny is added to a probability before taking its logarithm.
const tiny = 1e-30

// ask returns X′ and the logits of the fully trained expert on X′ with A′ = I. It resets the tape.
func (l *window) ask() (x, logits *autodiff.Var) {
	t := l.tape
	t.Reset()
	x = t.Var(l.x)
	return x, learn.Logits(x, learn.Put(t, l.end.All()))
}

// soften sets y to the softmax of the logits.
func (l *window) soften() {
	copy(l.y.Data, l.logits.Data)
	for i := range l.y.Rows {
		kernel.Softmax(l.y.Row(i))
	}
}

// know returns KL(Y′ ‖ f_end(X′)), averaged over the nodes, and adds β times its gradients to dx and dy.
func (l *window) know(dx, dy *mat.Dense) (divergence float64) {
	x, logits := l.ask()
	t := l.tape
	y := t.Var(l.y)
	least := learn.Filled(l.y.Rows, l.y.Cols, tiny)
	entropy := t.Scale(1/float32(l.y.Rows), t.Sum(t.Mul(y, t.Log(t.Add(y, t.Var(least))))))
	total := t.Add(entropy, t.CrossEntropy(logits, y))
	for i, g := range t.Grad(total, x, y) {
		kernel.Axpy(float32(l.geom.Beta), g.Value.Data, [2]*mat.Dense{dx, dy}[i].Data)
	}
	return float64(total.Value.Data[0])
}

// Epoch trains one student along the trajectory of one expert.
func (l *window) Epoch(ctx context.Context, epoch int, src rand.Source) (loss float64, err error) {
	random := rand.New(src)
	l.soften()
	expert, loss, dx, dy, err := l.match(ctx, random, l.geom.open(random, epoch))
	if err != nil {
		return 0, err
	}
	if l.geom.Beta > 0 {
		l.store.get((expert+1)*l.snapshots()-1, l.end)
		loss += l.geom.Beta * l.know(dx, dy)
	}
	l.features.Step(dx)
	l.relabel(dy)
	return loss, nil
}

// relabel updates the logits of Y′ by one step.
func (l *window) relabel(dy *mat.Dense) {
	const momentum = 0.9
	for i := range dy.Rows {
		y, d, v, logits := l.y.Row(i), dy.Row(i), l.velocity.Row(i), l.logits.Row(i)
		along := kernel.Dot(y, d)
		for k := range y {
			v[k] = momentum*v[k] + y[k]*(d[k]-along)
			logits[k] -= float32(l.geom.LabelRate) * v[k]
		}
	}
}

// Result implements learn.Learner.
func (l *window) Result() learn.Iterate {
	l.soften()
	return learn.Iterate{X: l.x, Soft: l.y}
}

// State implements learn.Learner.
func (l *window) State() []*mat.Dense { return append(l.free.State(), l.logits, l.velocity) }

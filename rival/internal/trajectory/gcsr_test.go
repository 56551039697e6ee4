package trajectory

import (
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// TestExpressSolves checks that changing any entry of B increases the objective that B minimises.
func TestExpressSolves(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	const n = 6
	x, p, q := mattest.Normal(n, 4, random), mattest.Normal(n, n, random), mattest.Normal(n, n, random)
	e := express{alpha: 0.7, beta: 1.3}
	mattest.Must(e.forward(t.Context(), x, p, q))
	objective := func() (sum float64) {
		for j := range n { // column j of B expresses node j
			for k := range x.Cols {
				rest := float64(x.Row(j)[k])
				for i := range n {
					rest -= float64(x.Row(i)[k]) * e.b[i*n+j]
				}
				sum += rest * rest
			}
		}
		for i, b := range e.b {
			dp, dq := b-float64(p.Data[i]), b-float64(q.Data[i])
			sum += e.alpha*dp*dp + e.beta*dq*dq
		}
		return sum
	}
	least := objective()
	for i := range e.b {
		for _, step := range []float64{1e-2, -1e-2} {
			e.b[i] += step
			if got := objective(); got <= least {
				t.Errorf("entry %d: the objective falls from %v to %v", i, least, got)
			}
			e.b[i] -= step
		}
	}
}

// TestGCSRDifferences compares the gradient through the student, Â′ᴷX′ and the linear system with central differences.
func TestGCSRDifferences(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 3))
	const n, d, h, c = 6, 5, 4, 3
	problem := newProblem(n, d, h, c, random)
	for _, hops := range []int{1, 2} {
		p, q := learntest.Symmetric(n, random), learntest.Symmetric(n, random)
		for i := range n { // P and Q have a diagonal
			p.Row(i)[i], q.Row(i)[i] = random.Float32(), random.Float32()
		}
		l := &expressive{
			student: &student{
				Matching: Matching{StudentRate: 0.2}, x: problem.z, unroll: unroll{steps: 5, stretch: 1},
				start: problem.start, target: problem.target,
			},
			y: problem.y, p: p, q: q,
			structure: express{alpha: 1, beta: 0.5}, propagation: learn.Propagation{Hops: hops},
		}
		learntest.Differences(t, "gcsr", l.x, nil, 2e-3, 2e-2, func() (float64, *mat.Dense, *mat.Dense) {
			loss, dx, _, err := l.objective(t.Context())
			mattest.OK(t, err)
			return loss, dx, nil
		}) // the tolerance covers the step² error, and rounding divided by the step
	}
}

// TestPrior checks that P connects only nodes of the same class if no edge connects two classes.
func TestPrior(t *testing.T) {
	b := graph.Builder{Name: "two", X: mat.NewDense(8, 2), Y: []int32{0, 0, 0, 0, 1, 1, 1, 1}, Classes: 2}
	for _, e := range [][2]int{{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6}, {6, 7}} {
		b.AddEdge(e[0], e[1])
	}
	b.Split.Train = []int32{0, 1, 4, 5, 7}
	g := mattest.First(b.Graph(t.Context()))
	s := mattest.Must(learn.Begin(t.Context(), g, 3, 0))
	train, first := s.Labelled()
	mixtures := mattest.Must(s.LabelMixtures(t.Context(), 2, train))
	p := prior(mixtures, first, []int32{0, 1, 1})
	want := &mat.Dense{Rows: 3, Cols: 3, Data: []float32{1, 0, 0, 0, 1, 1, 0, 1, 1}}
	learntest.Close(t, "P", p, want, 1e-6)
}

// TestKnowledgeIsAutodiff compares know with KL(Y′ ‖ f_end(X′)) without a lower bound on probabilities. It also
// compares its gradients with respect to X′ and Y′.
func TestKnowledgeIsAutodiff(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 3))
	const n, d, h, c = 5, 4, 6, 3
	problem := newProblem(n, d, h, c, random)
	l := &window{
		free: &free{student: &student{x: problem.z}, y: problem.y.Clone()}, geom: geom{Beta: 0.3}, end: problem.start,
		tape: autodiff.NewTape(),
	}
	dx, dy := mat.NewDense(n, d), mat.NewDense(n, c)
	got := l.know(dx, dy)
	tape := autodiff.NewTape()
	x, y := tape.Var(problem.z), tape.Var(problem.y)
	hidden := tape.ReLU(tape.AddRow(tape.MatMul(x, tape.Var(l.end.W1)), tape.Var(l.end.B1)))
	logits := tape.AddRow(tape.MatMul(hidden, tape.Var(l.end.W2)), tape.Var(l.end.B2))
	entropy := tape.Scale(1/float32(n), tape.Sum(tape.Mul(y, tape.Log(y))))
	divergence := tape.Add(entropy, tape.CrossEntropy(logits, y))
	mattest.Near(t, got, float64(divergence.Value.Data[0]), 1e-5, "KL is")
	g := tape.Grad(tape.Scale(0.3, divergence), x, y)
	learntest.Close(t, "dX", dx, g[0].Value, 1e-5)
	learntest.Close(t, "dY", centred(dy), centred(g[1].Value), 1e-5)
}

// TestCurriculum checks that experts see the nodes with the purest neighbourhoods first, and that the window of starts
// expands.
func TestCurriculum(t *testing.T) {
	b := graph.Builder{Name: "mixed", X: mat.NewDense(6, 2), Y: []int32{0, 0, 0, 1, 1, 1}, Classes: 2}
	for _, e := range [][2]int{{0, 1}, {2, 3}, {4, 5}} { // 2 and 3 have different classes
		b.AddEdge(e[0], e[1])
	}
	b.Split.Train = []int32{2, 0, 1, 3, 4, 5}
	g := mattest.First(b.Graph(t.Context()))
	s := mattest.Must(learn.Begin(t.Context(), g, 2, 0))
	order := mattest.Must(easyFirst(t.Context(), s))
	if order[4]+order[5] != 5 || order[4] != 2 && order[4] != 3 {
		t.Errorf("the order is %v, want nodes 2 and 3 last", order)
	}
	m := newGEOM()
	for epoch, want := range map[int]int{0: 105, 750: 121, 1500: 140, 3000: 140} {
		mattest.Equal(t, m.seen(epoch, 140), want, "nodes of 140 that epoch %d sees:", epoch)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for epoch, want := range map[int]int{1: 4, 51: 9, 500: 19} {
		most := 0
		for range 1000 {
			most = max(most, m.open(random, epoch))
		}
		mattest.Equal(t, most, want, "epoch %d starts up to place", epoch)
	}
}

// TestRelabelDifferences checks that the first step on the logits of Y′ follows the gradient through the softmax.
func TestRelabelDifferences(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 3))
	const n, c, step = 4, 3, 1e-2
	l := &window{
		free: &free{y: mat.NewDense(n, c)}, geom: geom{LabelRate: 1}, logits: mattest.Normal(n, c, random),
		velocity: mat.NewDense(n, c),
	}
	dy, old := mattest.Normal(n, c, random), l.logits.Clone()
	l.soften()
	l.relabel(dy)
	got := old.Clone()
	for i, v := range l.logits.Data {
		got.Data[i] -= v
	}
	copy(l.logits.Data, old.Data)
	learntest.Differences(t, "step", l.logits, nil, step, 1e-3, func() (float64, *mat.Dense, *mat.Dense) {
		l.soften()
		return inner(l.y, dy), got, nil
	}) // the tolerance covers the step² error and rounding
}

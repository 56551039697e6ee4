package deepcgc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// brief returns DeepCGC with a small network.
func brief() deepCGC {
	m := New().(deepCGC)
	m.Layers, m.Hidden, m.Epochs, m.Warmup = 3, 5, 6, 2
	return m
}

// begun returns a learner of g with 9 condensed nodes, after its first partition.
func begun(t *testing.T, m deepCGC, g *graph.Graph) *learner {
	t.Helper()
	h := mattest.Must(m.propagate(t.Context(), g))
	p := mattest.Must(m.pool(t.Context(), g, h))
	l := m.learner(h[m.Hops], p, []int{3, 3, 3}, rand.NewPCG(1, 2))
	mattest.OK(t, l.cluster(t.Context(), rand.NewPCG(3, 4)))
	return l
}

// TestInverse checks f⁻¹(f(x)) = x, with an odd number of columns.
func TestInverse(t *testing.T) {
	random, src := rand.New(rand.NewPCG(1, 1)), rand.NewPCG(2, 2)
	x := mattest.Normal(6, 7, random)
	var network []*mat.Dense
	for i := range 3 {
		network = append(network, coupling(4-(1-i%2), 4-i%2, 5, src)...)
	}
	tape := autodiff.NewTape().Values()
	h := split(x.View().Rows())
	z := flow(learn.Put(tape, network), h.put(tape), false).values()
	if slices.Equal(z.join().Data, x.Data) {
		t.Error("f is the identity")
	}
	learntest.Close(t, "f⁻¹(f(x))", flow(learn.Put(tape, network), z.put(tape), true).values().join(), x, 1e-6)
}

// TestGradients compares the gradients of the objective with central differences along the gradient and along random
// directions. In the divergence, only the predictions for H̃ have a gradient.
func TestGradients(t *testing.T) {
	m := brief()
	m.Consistency, m.Temperature = 0, 0.1 // large gradients
	l := begun(t, m, learntest.Begin(t).Graph)
	parameters := append(slices.Clone(l.network), l.centres[0], l.centres[1])
	for k, p := range parameters {
		slopes(t, fmt.Sprintf("parameter %d", k), p, func() (float64, *mat.Dense) {
			loss, gradients := l.gradients(autodiff.NewTape(), nil)
			return loss, gradients[k]
		})
	}
	l.Consistency = 2000
	kept := halves{learn.Filled(1, l.all[0].Cols, 1), learn.Filled(1, l.all[1].Cols, 1)}
	kept[0].Data[0], kept[1].Data[1] = 0, 0
	moved := make([]*mat.Dense, len(parameters))
	for k, p := range parameters {
		moved[k] = p.Clone()
		for i, v := range p.Data {
			moved[k].Data[i] = 1.1*v + 0.01
		}
	}
	for k, p := range moved {
		slopes(t, fmt.Sprintf("parameter %d, divergence", k), p, func() (float64, *mat.Dense) {
			vars := learn.Put(autodiff.NewTape(), moved)
			at := len(l.network)
			divergence := l.divergence(vars[:at], pair(vars[at:]), l.all.rows(0, 20), kept)
			value, gradient, _ := learn.Gradients(divergence, vars[k], nil)
			return value, gradient
		})
	}
}

// TestObjective checks that the objective and its gradients are sums over its terms.
func TestObjective(t *testing.T) {
	m := brief()
	m.Noise = 0
	l := begun(t, m, learntest.Begin(t).Graph)
	l.Consistency = 0
	rest, want := l.gradients(autodiff.NewTape(), nil)
	l.Consistency = 2000
	got, gradients := l.gradients(autodiff.NewTape(), rand.New(rand.NewPCG(1, 1)))
	tape := autodiff.NewTape()
	vars := learn.Put(tape, append(slices.Clone(l.network), l.centres[0], l.centres[1]))
	at, all := len(l.network), halves{learn.Filled(1, l.all[0].Cols, 1), learn.Filled(1, l.all[1].Cols, 1)}
	divergence := l.divergence(vars[:at], pair(vars[at:]), l.all, all)
	sum := rest + float64(divergence.Value.Data[0])
	mattest.Near(t, got, sum, 1e-5*sum, "the objective (want the sum of its terms) is")
	for k, g := range tape.Grad(divergence, vars...) {
		kernel.Axpy(1, g.Value.Data, want[k].Data)
		learntest.Close(t, fmt.Sprintf("parameter %d", k), gradients[k], want[k], 1e-4)
	}
}

// slopes compares the gradient with respect to p with central differences.
func slopes(t *testing.T, what string, p *mat.Dense, f func() (float64, *mat.Dense)) {
	t.Helper()
	_, g := f()
	g = g.Clone()
	other := g.Clone()
	random := rand.New(rand.NewPCG(7, 8))
	for i := range other.Data {
		other.Data[i] = random.Float32() - 0.5
	}
	norm := func(m *mat.Dense) float64 { return math.Sqrt(float64(kernel.Dot(m.Data, m.Data))) }
	for _, along := range []*mat.Dense{g, other} {
		before, step := slices.Clone(p.Data), 3e-3/norm(along)
		at := func(sign float64) float64 {
			kernel.Axpy(float32(sign*step), along.Data, p.Data)
			value, _ := f()
			copy(p.Data, before)
			return value
		}
		got := (at(1) - at(-1)) / (2 * step)
		want := float64(kernel.Dot(g.Data, along.Data))
		mattest.Near(t, got, want, 0.03*norm(g)*norm(along), "%s: the objective changes by", what)
	}
}

// TestPool checks which nodes join the training nodes: the nodes in no split that are among the most certain ones.
func TestPool(t *testing.T) {
	g := *learntest.Begin(t).Graph
	g.Split = graph.Split{Train: g.Split.Train[:6], Val: []int32{40}, Test: []int32{41, 42}}
	taken := slices.Concat(g.Split.Train, g.Split.Val, g.Split.Test)
	for _, c := range []struct {
		multiple float64
		want     int
	}{{0, 0}, {8, g.Nodes() - len(taken)}, {100, g.Nodes() - len(taken)}} { // 8·6 nodes are all nodes
		m := brief()
		m.PseudoLabels = c.multiple
		p := mattest.Must(m.pool(t.Context(), &g, mattest.Must(m.propagate(t.Context(), &g))))
		added := p.nodes[p.trained:]
		if len(added) != c.want || len(p.y) != len(p.nodes) || !slices.IsSorted(added) {
			t.Errorf("%v times: %d nodes join, want %d", c.multiple, len(added), c.want)
		}
		for _, v := range added {
			if slices.Contains(taken, v) {
				t.Errorf("%v times: node %d of a split joins", c.multiple, v)
			}
		}
	}
}

// TestBalanced checks that rows which all prefer one column are divided between the columns, and that rows with clear
// and balanced preferences get their favourite columns.
func TestBalanced(t *testing.T) {
	for _, c := range []struct {
		rows [][]float64
		want []int
	}{
		{[][]float64{{9, 1}, {1, 9}, {8, 1}, {1, 8}}, []int{0, 1, 0, 1}},
		{[][]float64{{9, 8}, {9, 1}, {9, 7}, {9, 2}}, []int{1, 0, 1, 0}},
	} {
		mattest.Equal(t, balanced(c.rows, 2), c.want, "groups")
	}
}

// TestSingleNodes checks that a group of one node is condensed to its embedding: f⁻¹ undoes f, whatever was learnt.
func TestSingleNodes(t *testing.T) {
	g := learntest.Begin(t).Graph
	m := brief()
	m.PseudoLabels = 0
	small := mattest.Must(m.Condense(t.Context(), g, len(g.Split.Train), 3))
	h := mattest.Must(m.propagate(t.Context(), g))[m.Hops]
	want := new(mat.Dense)
	mat.MulSparse(want, small.Members, h)
	learntest.Close(t, "X′", small.X, want, 1e-5)
}

// TestEdges checks that a threshold below 1 gives edges and changes X′.
func TestEdges(t *testing.T) {
	g := learntest.Begin(t).Graph
	m := brief()
	without := mattest.Must(m.Condense(t.Context(), g, 9, 3))
	m.Threshold = 0.2
	with := mattest.Must(m.Condense(t.Context(), g, 9, 3))
	if without.Adj != nil && without.Adj.NNZ() > 0 || with.Adj == nil || with.Adj.NNZ() == 0 {
		t.Errorf("A′ is %v without a threshold and %v with one", without.Adj, with.Adj)
	}
	if slices.Equal(without.X.Data, with.X.Data) {
		t.Error("X′ does not depend on A′")
	}
}

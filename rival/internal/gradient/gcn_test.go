package gradient

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// planted returns a graph of n nodes in which the class of a node determines two of its features and most of its
// neighbours.
func planted(n, classes int, sparse bool, seed uint64) *graph.Graph {
	random := rand.New(rand.NewPCG(seed, 1))
	b := graph.Builder{Name: "planted", Y: make([]int32, n), Classes: classes}
	x := mat.NewDense(n, 2*classes+3)
	for v := range n {
		c := v % classes
		b.Y[v] = int32(c)
		for j := range x.Row(v) {
			if random.IntN(3) == 0 || j/2 == c {
				x.Row(v)[j] = random.Float32()
			}
		}
		for range 3 {
			if u := random.IntN(n); u != v && (u%classes == c || random.IntN(4) == 0) {
				b.AddEdge(u, v)
			}
		}
		switch {
		case v < n/2:
			b.Split.Train = append(b.Split.Train, int32(v))
		case v < 3*n/4:
			b.Split.Val = append(b.Split.Val, int32(v))
		default:
			b.Split.Test = append(b.Split.Test, int32(v))
		}
	}
	b.X = x
	if sparse {
		b.X = x.Sparse()
	}
	g, _, err := b.Graph(context.Background())
	if err != nil {
		panic(err)
	}
	return g
}

// twice computes the objective of the GCN relay by its definition, differentiating the model of package gnn twice.
func twice(t *testing.T, o *convolution, s *learn.Start, x, a *mat.Dense) (loss float64, dx, da *mat.Dense) {
	t.Helper()
	tape := autodiff.NewTape()
	dense := new(mat.Dense)
	var all []int32
	for v := range s.Graph.Nodes() {
		all = append(all, int32(v))
	}
	if err := mat.Rows(dense, s.Graph.X, all); err != nil {
		t.Fatal(err)
	}
	for i := range dense.Data {
		dense.Data[i] /= s.Unit
	}
	original, err := gnn.NewInput(t.Context(), s.Graph.Adj, dense)
	if err != nil {
		t.Fatal(err)
	}
	var p []*autodiff.Var
	for _, m := range o.parameters {
		p = append(p, tape.Var(m))
	}
	vx := tape.Var(x)
	var va *autodiff.Var
	if a != nil {
		va = tape.Var(a)
	}
	condensed := gnn.VariableInput(va, vx)
	var total *autodiff.Var
	for c, members := range o.members {
		of := func(in *gnn.Input, nodes []int32) []*autodiff.Var {
			y := make([]int32, len(nodes))
			for i := range y {
				y[i] = int32(c)
			}
			logits := tape.Rows(gnn.GCN().Forward(tape, in, p), nodes)
			return tape.Grad(tape.CrossEntropy(logits, tape.Var(autodiff.OneHot(y, o.classes))), p...)
		}
		g, h := of(original, s.Train[c]), of(condensed, members)
		for i := range g {
			var distance *autodiff.Var
			if o.Distance == MSE {
				difference := tape.Sub(h[i], g[i])
				distance = tape.Sum(tape.Mul(difference, difference))
			} else if i%2 == 1 {
				continue // biases are not part of the cosine distance
			} else {
				distance = byCosine(tape, g[i], h[i])
			}
			distance = tape.Scale(o.coeff[c], distance)
			if total == nil {
				total = distance
			} else {
				total = tape.Add(total, distance)
			}
		}
	}
	return outcome(tape, total, vx, va)
}

// TestGCNIsAutodiff compares the low-rank products with full gradients on the tape. It covers sparse and dense
// features, A′ and A′ = I, and few and many neighbours.
func TestGCNIsAutodiff(t *testing.T) {
	for _, distance := range []string{Cosine, MSE} {
		for _, structured := range []bool{false, true} {
			random := rand.New(rand.NewPCG(11, 12))
			g := planted(60, 3, structured, 3)
			s, err := learn.Begin(t.Context(), g, 9, 1)
			if err != nil {
				t.Fatal(err)
			}
			m := NewDosCond().Matching
			m.Distance, m.Hidden = distance, 6
			o, err := newConvolution(t.Context(), s, m)
			if err != nil {
				t.Fatal(err)
			}
			o.real[1].gram = nil // as for a class with many neighbours
			o.restart(random)
			for _, p := range o.parameters {
				for i := range p.Data {
					p.Data[i] += float32(random.NormFloat64()) / 2
				}
			}
			for i := range s.X.Data {
				s.X.Data[i] += random.Float32() / 10
			}
			var a *mat.Dense
			if structured {
				a = learntest.Symmetric(9, random)
			}
			loss, dx, da, err := o.match(t.Context(), s.X, a, nil)
			if err != nil {
				t.Fatal(err)
			}
			dx = dx.Clone()
			want, wantX, wantA := twice(t, o, s, s.X, a)
			if !(math.Abs(loss-want) <= 1e-4*want) {
				t.Errorf("%s: loss %v, want %v", distance, loss, want)
			}
			learntest.Close(t, distance+": dX", dx, wantX, 2e-3)
			if structured {
				// The relay uses Â′ᵀ in place of Â′, so only the sum of an edge's two gradients can be compared.
				learntest.Close(t, distance+": dA", both(da), both(wantA), 2e-3)
			}
		}
	}
}

// both returns a + aᵀ.
func both(a *mat.Dense) *mat.Dense {
	sum := a.T()
	for i, v := range a.Data {
		sum.Data[i] += v
	}
	return sum
}

// TestGCNDifferences compares the second-order gradients with differences of the objective.
func TestGCNDifferences(t *testing.T) {
	for _, distance := range []string{Cosine, MSE} {
		random := rand.New(rand.NewPCG(13, 14))
		s, err := learn.Begin(t.Context(), planted(60, 3, true, 4), 9, 1)
		if err != nil {
			t.Fatal(err)
		}
		m := NewDosCond().Matching
		m.Distance, m.Hidden = distance, 5
		o, err := newConvolution(t.Context(), s, m)
		if err != nil {
			t.Fatal(err)
		}
		o.restart(random)
		for i := range o.parameters[1].Data {
			o.parameters[1].Data[i] = 3 // so that no ReLU changes its state within a step
		}
		differences(t, distance, o, s.X, learntest.Symmetric(9, random))
	}
}

// TestGCNFalls checks that gradient descent decreases the objective.
func TestGCNFalls(t *testing.T) {
	s, err := learn.Begin(t.Context(), planted(60, 3, true, 5), 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := NewDosCond().Matching
	m.Distance, m.Hidden = MSE, 8
	o, err := newConvolution(t.Context(), s, m)
	if err != nil {
		t.Fatal(err)
	}
	o.restart(rand.NewPCG(1, 1))
	halves(t, o, s.X, 200, nil)
}

package gnn_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
)

// circle returns a ring in which each node is connected to the nodes at distances 1, 2 and 5 on both sides. The
// neighbourhood of a few nodes is then small.
func circle(n, features int, weighted bool) *graph.Graph {
	random := rand.New(rand.NewPCG(7, 0))
	adj := circulant(n, 1, 2, 5)
	if weighted {
		for v := range n {
			for _, j := range adj.Indices[adj.Indptr[v]:adj.Indptr[v+1]] {
				adj.Data = append(adj.Data, 0.5+float32((v+int(j))%7)/4)
			}
		}
	}
	const classes = 5
	x := mattest.Normal(n, features, random)
	g := &graph.Graph{Name: "circle", Adj: adj, X: x, Y: make([]int32, n), Classes: classes}
	for v := range n {
		g.Y[v] = int32(random.IntN(classes))
		switch {
		case v%9 == 0:
			g.Split.Train = append(g.Split.Train, int32(v))
		case v < n/4 && v%31 == 1, v > n-20:
			g.Split.Val = append(g.Split.Val, int32(v))
		case v%47 == 2:
			g.Split.Test = append(g.Split.Test, int32(v))
		}
	}
	return g
}

// stored returns g twice: with features in panels of the given storage, and with the same numbers as dense features.
func stored(t *testing.T, g *graph.Graph, width int, s mat.Storage) (read, dense *graph.Graph) {
	t.Helper()
	panels := mattest.Must(paneled.Copy(g.X, width, s))
	x := new(mat.Dense)
	mattest.OK(t, mat.ReadColumns(t.Context(), x, panels, nil, 0, g.Features()))
	a, b := *g, *g
	a.X, b.X = panels, x
	return &a, &b
}

// least returns the smallest limit within which m can be tested on g.
func least(t *testing.T, g *graph.Graph, inductive bool, m gnn.Model) int64 {
	t.Helper()
	target := mattest.Must(gnn.Stream(g, inductive, 1))
	_, err := target.Plan(m, 16)
	large := new(gnn.MemoryError)
	if !errors.As(err, &large) {
		t.Fatalf("%s within 1 byte: %v", m.Name(), err)
	}
	mattest.WantError(t, err, fmt.Sprintf("memory limit is 1 bytes, must be at least %d to test %s", large.Need, m.Name()))
	return large.Need
}

// TestStreamedIsInMemory checks that logits on a graph that is read in order are bit-identical to logits with dense
// features in memory, within any limit that works. It covers edges with and without weights, both settings and all
// storages. The smallest limit, which the error reports, must work and must divide the work into blocks.
func TestStreamedIsInMemory(t *testing.T) {
	for i, st := range []struct {
		width int
		s     mat.Storage
	}{{0, mat.F32}, {4, mat.F32}, {5, mat.F16}, {4, mat.BF16}} {
		for j, weighted := range []bool{false, true} {
			for k, inductive := range []bool{false, true} {
				// Without slow tests, each storage is tested once, and so is each combination of the other properties.
				if !slow.On() && ((i+j)%2 != 0 || (i/2+k)%2 != 0) {
					continue
				}
				read, dense := stored(t, circle(700, 13, weighted), st.width, st.s)
				t.Run(fmt.Sprintf("%v,%d,%s,%v", weighted, st.width, st.s, inductive), func(t *testing.T) {
					eachVariant(t, func(t *testing.T, m gnn.Model) { streamed(t, m, read, dense, inductive) })
				})
			}
		}
	}
}

// streamed compares the logits of m on a graph that is read in order with its logits on the graph with dense features.
func streamed(t *testing.T, m gnn.Model, read, dense *graph.Graph, inductive bool) {
	whole := mattest.Must(gnn.NewTarget(dense, inductive))
	bound := least(t, read, inductive, m)
	var blocks []string
	for _, bound := range []int64{bound, bound + bound/8, 100 * bound} {
		target := mattest.Must(gnn.Stream(read, inductive, bound))
		plan := mattest.Must(target.Plan(m, 16))
		if plan.Memory > bound {
			t.Errorf("%s takes %d bytes within %d", m.Name(), plan.Memory, bound)
		}
		blocks = append(blocks, fmt.Sprint(plan.Passes, plan.Classes))
		for seed := range uint64(2) { // the second inference reuses what the first has kept
			parameters := gnn.Initial(m, dense.Features(), 16, dense.Classes, rand.NewPCG(seed, 3))
			want := mattest.Must(gnn.Logits(t.Context(), whole, m, parameters))
			got := mattest.Must(gnn.Logits(t.Context(), target, m, parameters))
			for k := range want {
				if !slices.Equal(got[k].Data, want[k].Data) {
					t.Fatalf("%s, bound %d, inference %d: other logits than in memory", m.Name(), bound, k)
				}
			}
		}
		target.Close()
	}
	if name, _ := gnn.Structure(m); name != "gat" && !inductive && blocks[0] == blocks[2] {
		t.Errorf("%s is cut up alike within the least bound and a large one: %v", m.Name(), blocks)
	}
}

// TestTrainingWithinABound checks that a memory limit does not change the accuracies.
func TestTrainingWithinABound(t *testing.T) {
	read, dense := stored(t, circle(700, 13, false), 4, mat.F16)
	c := gnn.Config{Hidden: 16, Dropout: 0.5, LearningRate: 0.01, Epochs: 6, Drop: 1, ValidateEvery: 3}
	each(t, func(t *testing.T, m gnn.Model) {
		whole := newTarget(t, dense, false)
		want := train(t, m, whole.Sample(), whole, c)
		target := mattest.Must(gnn.Stream(read, false, least(t, read, false, m)))
		defer target.Close()
		got := train(t, m, whole.Sample(), target, c)
		mattest.Equal(t, got.Accuracies, want.Accuracies, "%s: validation accuracies", m.Name())
		mattest.Equal(t, got.Predicted, want.Predicted, "%s: predicted classes", m.Name())
		mattest.Equal(t, got.Test, want.Test, "%s: test accuracy", m.Name())
	})
}

// TestStreamErrors checks the errors for a model with unknown memory needs and for features that cannot be read.
func TestStreamErrors(t *testing.T) {
	g := circle(2000, 13, false)
	target := mattest.Must(gnn.Stream(g, false, 1<<20))
	mattest.Fails(t, "is not known")(target.Plan(unknown{gnn.GCN()}, 16))
	h := watch(g.X)
	view := *g
	view.X = h
	target = mattest.Must(gnn.Stream(&view, false, 1<<24))
	h.readable.Store(1)
	parameters := gnn.Initial(gnn.GCN(), 13, 16, g.Classes, rand.NewPCG(1, 3))
	_, err := gnn.Logits(t.Context(), target, gnn.GCN(), parameters)
	mattest.WantIs(t, err, errGone)
}

// unknown hides the memory needs of a model.
type unknown struct{ gnn.Model }

// TestLeastHoldsTheGraph checks that the limit in the error works even if a mapped graph fits into it. Models are then
// tested in memory.
func TestLeastHoldsTheGraph(t *testing.T) {
	shape := mattest.Must(synth.Like("arxiv"))
	g := mattest.Must(synth.Make(t.Context(), shape.Scale(0.1), rand.NewPCG(1, 0)))
	g.Mapped = true
	for _, name := range gnn.Names() {
		m := mattest.Must(gnn.Parse(name))
		target := mattest.Must(gnn.TargetWithin(t.Context(), g, false, 4096))
		large := new(gnn.MemoryError)
		if _, err := target.Plan(m, 16); !errors.As(err, &large) || large.Bound != 4096 {
			t.Fatalf("%s: error %v", name, err)
		}
		target = mattest.Must(gnn.TargetWithin(t.Context(), g, false, large.Need))
		_, err := target.Plan(m, 16)
		mattest.OK(t, err)
	}
}

// TestBound checks that a memory limit does not change results, that models keep fewer propagated features under a
// smaller limit, and that the error reports the smallest limit that works. The graph is in memory.
func TestBound(t *testing.T) {
	g := synth.Demo()
	for _, name := range tested() {
		m := mattest.Must(gnn.Parse(name))
		config := gnn.Defaults()
		config.Epochs, config.Hidden = 2, 16
		var results []*gnn.Result
		var memory []int64
		for _, bound := range []int64{0, 1 << 30, 4096} {
			target := mattest.Must(gnn.TargetWithin(t.Context(), g, false, bound))
			memory = append(memory, gnn.MemoryOf(target, m, config.Hidden))
			large := new(gnn.MemoryError)
			if _, err := target.Plan(m, config.Hidden); errors.As(err, &large) != (bound == 4096) {
				t.Errorf("%s, bound %d: error %v", name, bound, err)
			}
			if bound == 4096 { // the smallest limit works, and a smaller one does not
				for _, b := range []int64{large.Need, large.Need * 9 / 10} {
					other := mattest.Must(gnn.TargetWithin(t.Context(), g, false, b))
					if _, err := other.Plan(m, config.Hidden); (err == nil) != (b == large.Need) {
						t.Errorf("%s, least %d, bound %d: error %v", name, large.Need, b, err)
					}
				}
			}
			r := mattest.Must(gnn.Train(t.Context(), m, target.Sample(), target, config, rand.NewPCG(1, 0)))
			results = append(results, r)
		}
		for i, r := range results[1:] {
			mattest.Equal(t, r.Validation, results[0].Validation, "%s, bound %d: validation accuracy", name, i)
			mattest.Equal(t, r.Test, results[0].Test, "%s, bound %d: test accuracy", name, i)
		}
		if memory[0] <= 0 || memory[1] != memory[0] || memory[2] > memory[0] {
			t.Errorf("%s: memory %v without a bound, with a large and with a small one", name, memory)
		}
	}
}

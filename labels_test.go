package cgc_test

// This file tests pseudo-labels and soft labels, which go beyond the paper.

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/selftrain"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// labelled returns a configuration with pseudo-labels and soft labels.
func labelled(n int, multiple float64, change func(*cgc.Config)) cgc.Config {
	return configured(n, func(c *cgc.Config) {
		c.PseudoLabels, c.SoftLabels = multiple, true
		if change != nil {
			change(c)
		}
	})
}

// fewLabels returns smallGraph with a quarter of its training nodes. The other training nodes are taken out of the
// split, and half of them lose their labels.
func fewLabels(n, d, classes int, sparse bool, random *rand.Rand) (*graph.Graph, dense) {
	g, a := smallGraph(n, d, classes, true, sparse, random)
	train := g.Split.Train
	g.Split.Train = train[:len(train)/4]
	for i, v := range train[len(train)/4:] {
		if i%2 == 0 {
			g.Y[v] = graph.Unlabelled
		}
	}
	return g, a
}

// The source nodes of condensed nodes are the training nodes and the nodes for which the ridge classifier has the
// widest margins. A condensed node is the weighted mean of the embeddings of its source nodes. Its soft label is the
// weighted mean of their class distributions, as the classifier predicts them.
func TestPseudoAndSoftLabelsEqualReference(t *testing.T) {
	random := rand.New(rand.NewPCG(50, 0))
	for _, method := range propagate.Rules() {
		for _, standardize := range []bool{false, true} {
			name := fmt.Sprintf("%s, standardize %v", method, standardize)
			g, a := fewLabels(120, 6, 3, !standardize, random)
			config := labelled(9, 2, func(c *cgc.Config) {
				c.Variant, c.Propagation, c.Standardize = cgc.CGCX, method, standardize
			})
			shares := []float64{0, 0, 1}
			if standardize {
				shares = []float64{0.2, 0.3, 0.5}
				config.HopWeights = shares
			}
			small := mustCondense(t, g, config)

			x := g.X
			if standardize {
				scaled := mattest.Must(g.Scaled(t.Context(), *small.Scaling))
				x = scaled.X
			}
			norm, beta := refNormalize(a), 0.0
			switch method {
			case propagate.PPR:
				beta = config.Teleport
			case propagate.SAGE:
				norm = refMean(a)
			}
			hops := refPropagate(norm, fromMatrix(x), 2, beta)
			h, mixture := hops[2], refMix(hops, shares)
			train := g.Split.Train
			ridge := mattest.Must(selftrain.FitRidge(t.Context(), toDense(pickRows(h, train)), g.Labels(train), 3))
			var rest []int32
			for v := range int32(g.Nodes()) {
				if !slices.Contains(train, v) {
					rest = append(rest, v)
				}
			}
			outputs := toDense(refMul(pickRows(h, rest), fromMatrix(ridge.W)))
			rows, guessed, err := selftrain.Confident(outputs, g.Counts(train), 2)
			mattest.OK(t, err)
			label := map[int]int32{}
			for _, v := range train {
				label[int(v)] = g.Y[v]
			}
			for k, r := range rows {
				label[int(rest[r])] = guessed[k]
			}
			if n := accountOf(t, small).Assessed.PseudoLabelled; n != len(rows) || n < len(train) {
				t.Fatalf("%s: %d nodes with pseudo-labels, want %d, and at least %d", name, n, len(rows), len(train))
			}

			mattest.OK(t, small.Members.Validate(t.Context()))
			seen := map[int]bool{}
			var q mat.Dense
			mat.Mul(&q, toDense(mixture), ridge.W)
			ridge.Distribution(&q, &q)
			for j := range small.Nodes() {
				mean, soft := make([]float64, 6), make([]float64, 3)
				for v, w := range small.Members.Row(j) {
					if seen[v] || label[v] != small.Y[j] {
						t.Fatalf("%s: node %d of class %d is in condensed node %d of class %d; seen before: %v",
							name, v, label[v], j, small.Y[j], seen[v])
					}
					seen[v] = true
					for c, e := range mixture[v] {
						mean[c] += float64(w) * e
					}
					for c := range soft {
						soft[c] += float64(w) * float64(q.Row(v)[c])
					}
				}
				x, q := &mat.Dense{Rows: 1, Cols: 6, Data: small.X.Row(j)}, &mat.Dense{Rows: 1, Cols: 3, Data: small.Soft.Row(j)}
				wantClose(t, name+": H′", x, dense{mean}, float32Error)
				wantClose(t, name+": soft labels", q, dense{soft}, 1e-4) // the scale factor of the outputs magnifies their errors
			}
			if len(seen) != len(label) {
				t.Errorf("%s: %d nodes are in groups, want %d", name, len(seen), len(label))
			}
		}
	}
}

// Nothing changes if all nodes outside the training split are unlabelled and in no split.
func TestOtherLabelsDoNotMatter(t *testing.T) {
	g, _ := fewLabels(200, 8, 5, false, rand.New(rand.NewPCG(51, 0)))
	config := labelled(16, 3, func(c *cgc.Config) { c.Augment = 0.5 })
	small := mustCondense(t, g, config)
	if accountOf(t, small).Assessed.PseudoLabelled == 0 {
		t.Fatal("the test wants pseudo-labels")
	}
	gone := *g
	gone.Y = slices.Clone(g.Y)
	for _, v := range slices.Concat(g.Split.Val, g.Split.Test) {
		gone.Y[v] = graph.Unlabelled
	}
	gone.Split = graph.Split{Train: g.Split.Train} // nodes of the split must have labels
	if !bytes.Equal(bytesOf(t, mustCondense(t, &gone, config)), bytesOf(t, small)) {
		t.Error("labels of validation and test nodes change the condensed graph")
	}
}

// One preparation serves several configurations concurrently, even after one was cancelled. Each result has the same
// bytes as a separate run on one thread.
func TestPreparedLabels(t *testing.T) {
	g, _ := fewLabels(200, 8, 5, true, rand.New(rand.NewPCG(52, 0)))
	var configs []cgc.Config
	for _, multiple := range []float64{0, 0.5, 1, 3} {
		for _, soft := range []bool{false, true} {
			configs = append(configs, labelled(16, multiple, func(c *cgc.Config) {
				c.SoftLabels = soft
				if multiple == 1 {
					c.HopWeights, c.Edges = cgc.HopWeights{0.2, 0.3, 0.5}, cgc.RealEdges
				}
			}))
		}
	}
	for _, multiple := range []float64{0.7, 0, 0.7} { // whichever augments first computes the confidences
		configs = append(configs, configured(16, func(c *cgc.Config) {
			c.Augment, c.HopWeights = multiple, cgc.HopWeights{1, 0, 0}
		}))
	}
	p := mattest.Must(cgc.Prepare(t.Context(), g, configs[0]))
	cancelled := mattest.Cancelled(t)
	if _, err := p.With(cancelled, configs[3]); err == nil {
		t.Error("no error from a cancelled context")
	}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	runtime.GOMAXPROCS(1)
	want := make([][]byte, len(configs))
	for i, config := range configs {
		want[i] = bytesOf(t, mustCondense(t, g, config))
	}
	runtime.GOMAXPROCS(7)
	var group sync.WaitGroup
	for range 3 {
		for i, config := range configs {
			group.Go(func() {
				small, err := p.With(t.Context(), config)
				if err != nil {
					t.Error(err)
				} else if !bytes.Equal(bytesOf(t, small), want[i]) {
					t.Errorf("configuration %d: another graph from what is prepared", i)
				}
			})
		}
	}
	group.Wait()
}

// Edge cases of pseudo-labels: more than there are nodes, a graph whose nodes all train, simdm, and the inductive
// setting.
func TestPseudoLabelsAtTheBounds(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(53, 0)))
	count := func(small *cgc.Condensed) int { return accountOf(t, small).Assessed.PseudoLabelled }
	n := count(mustCondense(t, g, labelled(12, 1000, nil)))
	if want := g.Nodes() - len(g.Split.Train); n != want {
		t.Errorf("%d nodes with pseudo-labels, want all %d", n, want)
	}
	whole := *g
	whole.Split = graph.Split{}
	for v := range int32(g.Nodes()) {
		whole.Split.Train = append(whole.Split.Train, v)
	}
	if n := count(mustCondense(t, &whole, labelled(12, 1, nil))); n != 0 {
		t.Errorf("%d nodes with pseudo-labels where all nodes train", n)
	}
	small := mustCondense(t, g, labelled(12, 1, func(c *cgc.Config) { c.Variant = cgc.SimDM }))
	if count(small) != 0 || small.Soft != nil {
		t.Error("simdm has pseudo-labels or soft labels")
	}
	for want, change := range map[string]func(*cgc.Config){
		"pseudo labels 1, must be 0 in the inductive setting": func(c *cgc.Config) { c.PseudoLabels, c.Inductive = 1, true },
		"pseudo labels -1, must be 0 to 1000":                 func(c *cgc.Config) { c.PseudoLabels = -1 },
		"pseudo labels NaN, must be 0 to 1000":                func(c *cgc.Config) { c.PseudoLabels = math.NaN() },
	} {
		mattest.Fails(t, want)(cgc.Condense(t.Context(), g, configured(12, change)))
	}
	config := configured(12, func(c *cgc.Config) { c.SoftLabels, c.Inductive, c.Augment = true, true, 1 })
	small = mustCondense(t, g, config)
	if small.Soft == nil || small.Soft.Rows != 12 {
		t.Error("no soft labels in the inductive setting")
	}
}

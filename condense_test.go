package cgc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate"
)

// configured returns the defaults with n nodes, modified by change.
func configured(n int, change func(*cgc.Config)) cgc.Config {
	c := cgc.Defaults()
	c.Nodes = n
	if change != nil {
		change(&c)
	}
	return c
}

func mustCondense(t *testing.T, g *graph.Graph, c cgc.Config) *cgc.Condensed {
	t.Helper()
	small, err := cgc.Condense(t.Context(), g, c)
	if err != nil {
		t.Fatal(err)
	}
	return small
}

// Without augmentation, the full run equals the paper's formulas, given the groups that were found.
func TestCondenseEqualsReference(t *testing.T) {
	g, a := smallGraph(60, 6, 3, true, false, rand.New(rand.NewPCG(20, 0)))
	for _, method := range cgc.Variants() {
		for _, part := range partition.Names() {
			for _, temperature := range []cgc.Temperature{0.05, 1, cgc.Infinite} {
				name := fmt.Sprintf("%s, %s, temperature %v", method, part, temperature)
				config := configured(12, func(c *cgc.Config) {
					c.Variant, c.Partition, c.Temperature, c.Augment, c.Threshold, c.Degree = method, part, temperature, 0, 0.5, 0
				})
				small := mustCondense(t, g, config)

				y := ints(g.Labels(g.Split.Train))
				var h []dense
				for _, hop := range refPropagate(refNormalize(a), fromMatrix(g.X), 2, 0) {
					h = append(h, pickRows(hop, g.Split.Train))
				}
				r, _ := refJudge(h[2], refClassifier(h, y, 3, 1e-9), y)
				of := groupsOf(t, small, g)
				tau := float64(temperature)
				if method == cgc.SimDM {
					tau = math.Inf(1)
				}
				want := refAggregate(h[2], r, of, small.Nodes(), tau)
				tolerance := float32Error
				if !math.IsInf(tau, 1) {
					tolerance /= tau // an error of r is magnified in softmax(r/τ)
				}
				if method == cgc.CGC {
					adjacency := refAdjacency(want, 0.5)
					wantClose(t, name+": A′", small.Adj.Dense(), adjacency, 0)
					want = refFeatures(adjacency, want, last(2), 1)
				} else if small.Adj != nil {
					t.Errorf("%s: has an adjacency", name)
				}
				wantClose(t, name+": X′", small.X, want, 10*tolerance)
				for j, i := range of {
					if int(small.Y[i]) != y[j] {
						t.Errorf("%s: training node %d of class %d is in condensed node %d of class %d", name, j, y[j], i, small.Y[i])
					}
				}
			}
		}
	}
}

// groupsOf returns the condensed node of each training node. It checks that each has exactly one, and that the
// weights of each condensed node sum to 1.
func groupsOf(t *testing.T, small *cgc.Condensed, g *graph.Graph) []int {
	t.Helper()
	if err := small.Members.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	of := make([]int, len(g.Split.Train))
	for i := range of {
		of[i] = -1
	}
	for j := range small.Nodes() {
		var sum float64
		for node, w := range small.Members.Row(j) {
			sum += float64(w)
			i, in := slices.BinarySearch(g.Split.Train, int32(node))
			if !in {
				t.Fatalf("condensed node %d stands for node %d, which does not train", j, node)
			}
			if of[i] >= 0 {
				t.Fatalf("node %d is in condensed nodes %d and %d", node, of[i], j)
			}
			of[i] = j
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Errorf("weights of condensed node %d sum to %v", j, sum)
		}
	}
	if slices.Contains(of, -1) {
		t.Fatal("a training node is in no group")
	}
	return of
}

// accountOf returns the account of a condensed graph.
func accountOf(t *testing.T, c *cgc.Condensed) cgc.Account {
	t.Helper()
	account, err := cgc.AccountOf(c)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

func bytesOf(t *testing.T, c *cgc.Condensed) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, v := range []any{c.X, c.Adj, c.Y, c.Members, c.Budget, c.Account} {
		if err := json.NewEncoder(&b).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestSameSeedSameBytesForAnyThreads(t *testing.T) {
	g, _ := smallGraph(300, 20, 5, false, true, rand.New(rand.NewPCG(21, 0)))
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, part := range partition.Names() {
		config := configured(30, func(c *cgc.Config) { c.Partition, c.Augment = part, 0.5 })
		var want []byte
		for _, threads := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(threads)
			got := bytesOf(t, mustCondense(t, g, config))
			if want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s: %d threads give another graph than 1", part, threads)
			}
		}
		config.Seed++
		if bytes.Equal(bytesOf(t, mustCondense(t, g, config)), want) {
			t.Errorf("%s: another seed gives the same graph", part)
		}
	}
}

// Isolated, unlabelled nodes at the end do not change the result.
func TestIsolatedNodesDoNotMatter(t *testing.T) {
	g, _ := smallGraph(80, 8, 3, false, false, rand.New(rand.NewPCG(22, 0)))
	more := *g
	more.Adj = &mat.CSR{Rows: 90, Cols: 90, Indptr: slices.Clone(g.Adj.Indptr), Indices: g.Adj.Indices}
	x := mat.NewDense(90, 8)
	copy(x.Data, g.X.(*mat.Dense).Data)
	more.X, more.Y = x, slices.Clone(g.Y)
	for range 10 {
		more.Adj.Indptr = append(more.Adj.Indptr, g.Adj.Indptr[80])
		more.Y = append(more.Y, graph.Unlabelled)
	}
	if err := more.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, b := mustCondense(t, g, configured(12, nil)), mustCondense(t, &more, configured(12, nil))
	if !slices.Equal(a.X.Data, b.X.Data) || !slices.Equal(a.Members.Indices, b.Members.Indices) {
		t.Error("isolated nodes change the condensed graph")
	}
}

// In the inductive setting, condensation sees the training nodes and the edges between them, and nothing else.
func TestInductiveSeesOnlyTheTrainingGraph(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 0))
	g, _ := smallGraph(100, 8, 3, false, false, random)
	config := configured(12, func(c *cgc.Config) { c.Inductive, c.Standardize = true, true })
	want := mustCondense(t, g, config)
	plain := configured(12, func(c *cgc.Config) { c.Inductive, c.Augment = true, 0 })
	groupsOf(t, mustCondense(t, g, plain), g) // members refer to nodes of the full graph

	other := *g
	x := g.X.(*mat.Dense).Clone()
	for v := range int32(g.Nodes()) {
		if _, trains := slices.BinarySearch(g.Split.Train, v); !trains {
			for j := range x.Row(int(v)) {
				x.Row(int(v))[j] = float32(random.NormFloat64())
			}
		}
	}
	other.X = x
	got := mustCondense(t, &other, config)
	if !slices.Equal(got.X.Data, want.X.Data) {
		t.Error("features of other nodes change what the inductive setting condenses")
	}
	config.Inductive = false
	if slices.Equal(mustCondense(t, &other, config).X.Data, want.X.Data) {
		t.Error("features of neighbours do not change what the transductive setting condenses")
	}
}

func TestStandardize(t *testing.T) {
	g, _ := smallGraph(80, 8, 3, false, false, rand.New(rand.NewPCG(24, 0)))
	small := mustCondense(t, g, configured(12, func(c *cgc.Config) { c.Standardize = true }))
	scaled, err := g.Scaled(t.Context(), *small.Scaling)
	if err != nil {
		t.Fatal(err)
	}
	for j := range 8 {
		var sum, square float64
		for _, v := range g.Split.Train {
			x := float64(scaled.X.(*mat.Dense).Row(int(v))[j])
			sum += x
			square += x * x
		}
		n := float64(len(g.Split.Train))
		if math.Abs(sum/n) > float32Error || math.Abs(square/n-1) > float32Error {
			t.Errorf("feature %d has mean %v and variance %v over the training nodes", j, sum/n, square/n)
		}
	}
	plain := mustCondense(t, scaled, configured(12, nil))
	if !slices.Equal(plain.X.Data, small.X.Data) {
		t.Error("condensing scaled features differs from condensing with Standardize")
	}
}

func TestSizes(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(25, 0))) // 50 training nodes
	for _, c := range []struct {
		change func(*cgc.Config)
		want   int
	}{
		{func(c *cgc.Config) { c.Nodes = 3 }, 3},
		{func(c *cgc.Config) { c.Nodes = 50 }, 50},
		{func(c *cgc.Config) { c.Ratio = 0.1 }, 10},
		{func(c *cgc.Config) { c.Ratio, c.Inductive = 0.1, true }, 5},
		{func(c *cgc.Config) { c.LabelRatio = 0.5 }, 25},
		{func(c *cgc.Config) { c.LabelRatio = 1 }, 50},
	} {
		small := mustCondense(t, g, configured(0, c.change))
		if small.Nodes() != c.want || small.X.Rows != c.want {
			t.Errorf("%d nodes, %d rows of features, want %d", small.Nodes(), small.X.Rows, c.want)
		}
		sum := 0
		for _, b := range small.Budget {
			sum += b
		}
		if sum != c.want {
			t.Errorf("budgets %v sum to %d, want %d", small.Budget, sum, c.want)
		}
	}
}

func TestZeroHopsAndMuchAugmentation(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, true, rand.New(rand.NewPCG(26, 0)))
	for _, c := range []func(*cgc.Config){
		func(c *cgc.Config) { c.Hops = 0 },
		func(c *cgc.Config) { c.Augment = 3 },
		func(c *cgc.Config) { c.Hops, c.Propagation = 5, propagate.PPR },
	} {
		small := mustCondense(t, g, configured(10, c))
		if i, j, found, _ := mat.FirstNotFinite(t.Context(), small.X); found {
			t.Errorf("feature %d of condensed node %d is not finite", j, i)
		}
		for j := range small.Nodes() {
			var sum float64
			for _, w := range small.Members.Row(j) {
				sum += float64(w)
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Errorf("weights of condensed node %d sum to %v", j, sum)
			}
		}
	}
}

func TestCondenseStops(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(28, 0)))
	for _, step := range []string{"propagate", "assess", "augment", "partition", "generate"} {
		ctx, cancel := context.WithCancel(t.Context())
		config := configured(10, nil)
		ctx = progress.With(ctx, func(e progress.Event) {
			if e.Stage == step {
				cancel()
			}
		})
		if small, err := cgc.Condense(ctx, g, config); !errors.Is(err, context.Canceled) || small != nil {
			t.Errorf("cancelled at %s: %v, error %v", step, small, err)
		}
		cancel()
	}
}

// TestCondenseCounts checks that the two long steps report progress up to their totals.
func TestCondenseCounts(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(28, 0)))
	last := map[string]progress.Event{}
	ctx := progress.With(t.Context(), func(e progress.Event) {
		if e.Done < last[e.Stage].Done {
			t.Errorf("%v after %v", e, last[e.Stage])
		}
		last[e.Stage] = e
	})
	if _, err := cgc.Condense(ctx, g, configured(10, nil)); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"propagate", "partition"} {
		if e := last[step]; e.Total == 0 || e.Done != e.Total {
			t.Errorf("%s ends with %v", step, e)
		}
	}
}

package cgc_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

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
	return mattest.Must(cgc.Condense(t.Context(), g, c))
}

// groupsOf returns the condensed node of each training node. It checks that each training node has exactly one, unless
// several are allowed, and that the weights of each condensed node sum to 1.
func groupsOf(t *testing.T, small *cgc.Condensed, g *graph.Graph, several bool) []int {
	t.Helper()
	mattest.OK(t, small.Members.Validate(t.Context()))
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
			if of[i] >= 0 && !several {
				t.Fatalf("node %d is in condensed nodes %d and %d", node, of[i], j)
			}
			of[i] = j
		}
		mattest.Near(t, sum, 1, 1e-6, "sum of the weights of condensed node %d", j)
	}
	if slices.Contains(of, -1) {
		t.Fatal("a training node is in no group")
	}
	return of
}

func accountOf(t *testing.T, c *cgc.Condensed) cgc.Account {
	t.Helper()
	return mattest.Must(cgc.AccountOf(c))
}

func bytesOf(t *testing.T, c *cgc.Condensed) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, v := range []any{c.X, c.Adj, c.Y, c.Soft, c.Members, c.Budget, c.Scaling, c.Account} {
		mattest.OK(t, json.NewEncoder(&b).Encode(v))
	}
	return b.Bytes()
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
	mattest.OK(t, more.Validate(t.Context()))
	a, b := mustCondense(t, g, configured(12, nil)), mustCondense(t, &more, configured(12, nil))
	if !slices.Equal(a.X.Data, b.X.Data) || !slices.Equal(a.Members.Indices, b.Members.Indices) {
		t.Error("isolated nodes change the condensed graph")
	}
}

// TestCondenseCounts checks that the two long steps report progress up to their totals.
// TestCausal checks that a causal condensation uses nothing of the nodes after the last training node: without these
// nodes, the result is the same.
func TestCausal(t *testing.T) {
	g := synth.Demo()
	const n = 3000
	g.Split.Train = slices.DeleteFunc(g.Split.Train, func(v int32) bool { return v >= n })
	past := g.Induced(memory.Range(0, n))
	for _, variant := range cgc.Variants() {
		config := configured(21, func(c *cgc.Config) { c.Variant, c.Causal = variant, true })
		all, some := mustCondense(t, g, config), mustCondense(t, past, config)
		if !reflect.DeepEqual(all.X, some.X) || !reflect.DeepEqual(all.Adj, some.Adj) {
			t.Errorf("%s: later nodes change the condensed graph", variant)
		}
		if !all.Causal || all.Setting() != config.Setting() {
			t.Errorf("%s: condensed in %+v, want %+v", variant, all.Setting(), config.Setting())
		}
		config.Causal = false
		if reflect.DeepEqual(mustCondense(t, g, config).X, all.X) {
			t.Errorf("%s: the same without --causal", variant)
		}
	}
}

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

// TestContract checks the paper's methods against the contract of condense.Method.
func TestContract(t *testing.T) {
	configs := map[string]cgc.Config{
		"spectral": configured(0, func(c *cgc.Config) { c.Augment, c.Degree, c.Partition = 0.5, 3, "spectral" }),
	}
	for _, v := range cgc.Variants() {
		if v != cgc.CGC && !slow.On() {
			continue
		}
		configs[string(v)] = configured(0, func(c *cgc.Config) { c.Variant = v })
	}
	for name, config := range configs {
		t.Run(name, func(t *testing.T) { condensetest.Test(t, config, condensetest.Proportional, condensetest.Random) })
	}
}

// Half precision changes the condensed graph slightly and does not share a preparation with float32.
func TestHalfPrecision(t *testing.T) {
	g, _ := fewLabels(400, 60, 3, false, rand.New(rand.NewPCG(64, 0)))
	full, half := configured(12, nil), configured(12, func(c *cgc.Config) { c.Precision = blocked.Half })
	want, got := mustCondense(t, g, full).X.Data, mustCondense(t, g, half).X.Data
	if slices.Equal(got, want) {
		t.Error("half precision changes no number")
	}
	// With so few nodes, the groups stay the same. Two hops and a mean err by at most 3·2⁻¹¹ times magnitudes below 10.
	for k, v := range got {
		if math.Abs(float64(v-want[k])) > 0.02 {
			t.Fatalf("number %d of X′ is %v, and %v in float32", k, v, want[k])
		}
	}
	if full.SharesPreparation(half) || !half.SharesPreparation(half) {
		t.Error("float32 and half share a preparation, or half has none")
	}
}

package awkward_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// trial is a graph with the parameters to condense it.
type trial struct {
	name  string
	graph *graph.Graph
	nodes int // number of condensed nodes
	// set overrides parameters of every method that has them.
	set map[string]any
	// long names the methods that are skipped because they take minutes on the graph.
	long []string
	// same means that another trial already trains the models on the same graph.
	same bool
}

// ordinary returns a builder with 60 nodes of 3 classes and 8 features. Half of the nodes are for training, a quarter
// for validation and a quarter for testing. At least two of three edges join nodes of one class. change edits the
// builder last.
func ordinary(change func(b *graph.Builder, x *mat.Dense)) *graph.Builder {
	const n, d = 60, 8
	random := rand.New(rand.NewPCG(5, 9))
	x := mat.NewDense(n, d)
	b := &graph.Builder{X: x, Y: make([]int32, n), Classes: 3}
	for v := range n {
		b.Y[v] = int32(v % 3)
		for j := range d {
			x.Row(v)[j] = float32(random.NormFloat64())
		}
		x.Row(v)[v%3] += 2
		part := []*[]int32{&b.Split.Train, &b.Split.Val, &b.Split.Train, &b.Split.Test}[v/3%4]
		*part = append(*part, int32(v))
	}
	for v := range n {
		for _, step := range []int{3, 9, 1 + v%7} {
			b.AddEdge(v, (v+step)%n)
		}
	}
	if change != nil {
		change(b, x)
	}
	return b
}

// keepTraining drops from the split the training nodes that keep rejects.
func keepTraining(b *graph.Builder, keep func(v int32) bool) {
	b.Split.Train = slices.DeleteFunc(b.Split.Train, func(v int32) bool { return !keep(v) })
}

func noEdges(b *graph.Builder) { b.Edges = graph.Edges{} }

// multiplied returns a change that multiplies all features by a factor.
func multiplied(by float64) func(b *graph.Builder, x *mat.Dense) {
	return func(_ *graph.Builder, x *mat.Dense) {
		for i, v := range x.Data {
			x.Data[i] = float32(by * float64(v))
		}
	}
}

// weighted returns a change that gives alternate edges the weights even and odd.
func weighted(even, odd float32) func(b *graph.Builder, x *mat.Dense) {
	return func(b *graph.Builder, _ *mat.Dense) {
		b.Edges.Weight = make([]float32, b.Edges.Len())
		for e := range b.Edges.Weight {
			b.Edges.Weight[e] = even
			if e%2 == 1 {
				b.Edges.Weight[e] = odd
			}
		}
	}
}

// built returns the graph of a builder, with the given name.
func built(t *testing.T, name string, b *graph.Builder) *graph.Graph {
	t.Helper()
	b.Name = name
	return mattest.First(b.Graph(t.Context()))
}

// trials returns all combinations of graphs and parameters to test. The largest graph has a node with 10⁶ neighbours.
func trials(t *testing.T) []trial {
	t.Helper()
	type change = func(b *graph.Builder, x *mat.Dense)
	var all []trial
	for _, c := range []struct {
		name   string
		nodes  int
		change change
	}{
		{"nothing awkward", 6, nil},
		{"no edges", 6, func(b *graph.Builder, _ *mat.Dense) { noEdges(b) }},
		{"half of the nodes isolated", 6, func(b *graph.Builder, _ *mat.Dense) {
			noEdges(b)
			for v := range 30 {
				b.AddEdge(v, (v+3)%30)
			}
		}},
		{"in pieces of two", 6, func(b *graph.Builder, _ *mat.Dense) {
			noEdges(b)
			for v := 0; v < 60; v += 2 {
				b.AddEdge(v, v+1)
			}
		}},
		{"every edge there can be", 6, func(b *graph.Builder, _ *mat.Dense) {
			for v := range 60 {
				for u := range v {
					b.AddEdge(u, v)
				}
			}
		}},
		{"one class", 4, func(b *graph.Builder, _ *mat.Dense) { clear(b.Y); b.Classes = 1 }},
		{"one training node", 1, func(b *graph.Builder, _ *mat.Dense) {
			keepTraining(b, func(v int32) bool { return v == 0 })
		}},
		{"a class with one training node", 6, func(b *graph.Builder, _ *mat.Dense) {
			keepTraining(b, func(v int32) bool { return v%3 != 1 || v == 1 })
		}},
		{"labels with gaps", 6, func(b *graph.Builder, _ *mat.Dense) {
			for v := range b.Y {
				b.Y[v] *= 4
			}
			b.Classes = 12
		}},
		{"equal features", 6, func(_ *graph.Builder, x *mat.Dense) {
			for i := range x.Data {
				x.Data[i] = 0.7
			}
		}},
		{"zero features", 6, func(_ *graph.Builder, x *mat.Dense) { clear(x.Data) }},
		{"one feature", 6, func(b *graph.Builder, x *mat.Dense) { b.X = x.Columns(0, 1) }},
		{"features of rank 1", 6, func(_ *graph.Builder, x *mat.Dense) {
			for v := range x.Rows {
				for j := range x.Cols {
					x.Row(v)[j] = float32(v%3-1) * float32(j+1)
				}
			}
		}},
		{"every feature twice", 6, func(_ *graph.Builder, x *mat.Dense) {
			for v := range x.Rows {
				copy(x.Row(v)[4:], x.Row(v)[:4])
			}
		}},
		{"features of 1e-40", 6, multiplied(1e-40)},
		{"features of 1e-30", 6, multiplied(1e-30)},
		{"features of 1e15", 6, multiplied(1e15)},
		{"features of 1e30", 6, multiplied(1e30)},
		{"features near the largest float32", 6, multiplied(6e37)},
		{"features of 1e-30 and 1e30", 6, func(_ *graph.Builder, x *mat.Dense) {
			for i, v := range x.Data {
				x.Data[i] = float32([]float64{1e-30, 1e30}[i%2] * float64(v))
			}
		}},
		{"weights of 1e-45", 6, weighted(math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32)},
		{"weights of 1e-30", 6, weighted(1e-30, 2e-30)},
		{"weights of 1e30", 6, weighted(1e30, 2e30)},
		{"weights of the largest float32", 6, weighted(math.MaxFloat32, math.MaxFloat32)},
		{"weights of 1e-30 and 1e30", 6, weighted(1e-30, 1e30)},
	} {
		all = append(all, trial{name: c.name, graph: built(t, c.name, ordinary(c.change)), nodes: c.nodes})
	}
	return append(append(all, parameterised(t)...), large(t)...)
}

// parameterised returns trials with awkward parameters, mostly for an ordinary graph.
func parameterised(t *testing.T) []trial {
	g := func() *graph.Graph { return built(t, "ordinary", ordinary(nil)) }
	singular := ordinary(func(b *graph.Builder, x *mat.Dense) { // A′ joins all nodes of a class, and Â′ has equal rows
		for v := range x.Rows {
			for j := range x.Row(v) {
				x.Row(v)[j] = 0.01 * float32(v%7)
			}
			x.Row(v)[v%3] = 1
		}
	})
	broken := g()
	x := broken.X.(*mat.Dense).Clone()
	x.Row(9)[2] = float32(math.NaN())
	broken.X, broken.Y = x, append([]int32(nil), broken.Y...)
	broken = &graph.Graph{Name: "NaN", Adj: broken.Adj, X: x, Y: broken.Y, Classes: 3, Split: broken.Split}
	broken.Y[9] = graph.Unlabelled
	for _, part := range []*[]int32{&broken.Split.Test, &broken.Split.Val} {
		*part = slices.DeleteFunc(slices.Clone(*part), func(v int32) bool { return v == 9 })
	}
	return []trial{
		{name: "N′ is the number of training nodes", graph: g(), nodes: 30, same: true},
		{name: "N′ is one more", graph: g(), nodes: 31, same: true},
		{name: "N′ is the number of classes", graph: g(), nodes: 3, same: true},
		{name: "N′ is one less", graph: g(), nodes: 2, same: true},
		{name: "N′ is 0", graph: g(), nodes: 0, same: true},
		{name: "K = 0", graph: g(), nodes: 6, set: map[string]any{"hops": 0}, same: true},
		{name: "K = 50", graph: g(), nodes: 6, set: map[string]any{"hops": 50}, same: true},
		{name: "τ = 1e-6", graph: g(), nodes: 6, set: map[string]any{"temperature": 1e-6, "augment": 1}, same: true},
		{name: "τ = 5e-324", graph: g(), nodes: 6, set: map[string]any{"temperature": 5e-324, "augment": 1}, same: true},
		{name: "τ = 1e300", graph: g(), nodes: 6, set: map[string]any{"temperature": 1e300, "augment": 1}, same: true},
		{
			name: "a singular system for X′", graph: built(t, "singular", singular), nodes: 18,
			set: map[string]any{"threshold": 0.9, "degree": 0, "alpha": 0, "hops": 2},
		},
		{
			name: "a nearly singular system for X′", graph: built(t, "singular", singular), nodes: 18,
			set: map[string]any{"threshold": 0.9, "degree": 0, "alpha": 1e-300, "hops": 2}, same: true,
		},
		{
			name: "α = 1e300", graph: built(t, "singular", singular), nodes: 18,
			set: map[string]any{"threshold": 0.9, "degree": 0, "alpha": 1e300, "hops": 2}, same: true,
		},
		{name: "NaN at a node without a label", graph: broken, nodes: 6},
	}
}

// large returns trials with graphs that are large in one dimension.
func large(t *testing.T) []trial {
	t.Helper()
	wide := ordinary(func(b *graph.Builder, _ *mat.Dense) {
		random := rand.New(rand.NewPCG(1, 1))
		x := mat.NewDense(60, 100_000)
		for v := range x.Rows {
			for range 50 {
				x.Row(v)[random.IntN(x.Cols)] = 1
			}
			x.Row(v)[v%3] = 1
		}
		b.X = x.Sparse()
	})
	return []trial{
		{name: "100000 features", graph: built(t, "wide", wide), nodes: 6, set: fewest},
		{name: "a node with 1000000 neighbours", graph: star(t, 1_000_000), nodes: 6, set: fewest, long: takeLong},
	}
}

// takeLong names the methods that take minutes on a star with a million leaves.
var takeLong = []string{"sntk", "sntk-x", "vn-classwise", "a-cm-classwise"}

// star returns a graph in which all nodes are neighbours of the first node.
func star(t *testing.T, leaves int) *graph.Graph {
	b := &graph.Builder{Name: "star", X: mat.NewDense(leaves+1, 4), Y: make([]int32, leaves+1), Classes: 2}
	for v := range leaves + 1 {
		row := b.X.(*mat.Dense).Row(v)
		b.Y[v] = int32(v % 2)
		row[v%2], row[2+v%2] = 1, float32(v%5)
		if v > 0 {
			b.AddEdge(0, v)
		}
		switch {
		case v < 40:
			b.Split.Train = append(b.Split.Train, int32(v))
		case v < 60:
			b.Split.Val = append(b.Split.Val, int32(v))
		case v < 80:
			b.Split.Test = append(b.Split.Test, int32(v))
		}
	}
	return mattest.First(b.Graph(t.Context()))
}

package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// dense returns the features of a graph, which must be dense.
func dense(g *graph.Graph) *mat.Dense { return g.X.(*mat.Dense) }

func scaled(t *testing.T, g *graph.Graph, s graph.Scaling) *graph.Graph {
	t.Helper()
	return mattest.Must(g.Scaled(t.Context(), s))
}

// path returns the path 0–1–2–3 with weights 1, 2, 4 and one-hot features, all nodes in the split.
func path() *graph.Graph {
	adj := mat.NewDense(4, 4)
	for i, w := range []float32{1, 2, 4} {
		adj.Row(i)[i+1], adj.Row(i + 1)[i] = w, w
	}
	x := mat.NewDense(4, 4)
	for i := range 4 {
		x.Row(i)[i] = 1
	}
	return &graph.Graph{
		Name: "path", Adj: adj.Sparse(), X: x, Y: []int32{0, 1, 0, 1}, Classes: 2,
		Split: graph.Split{Train: []int32{0, 1}, Val: []int32{2}, Test: []int32{3}},
	}
}

func TestValidateNamesTheFault(t *testing.T) {
	mattest.OK(t, path().Validate(t.Context()))
	for want, change := range map[string]func(*graph.Graph){
		"(1, 2) has weight 3, and 2 the other way round": func(g *graph.Graph) { g.Adj.Data[2] = 3 },
		"(0, 2) has no counterpart":                      func(g *graph.Graph) { g.Adj.Indices[0] = 2 },
		"(0, 0) is a self-loop":                          func(g *graph.Graph) { g.Adj.Indices[0] = 0 },
		"weight of edge (0, 1) is not a finite number":   func(g *graph.Graph) { g.Adj.Data[0], g.Adj.Data[1] = inf, inf },
		"weight 0 of an edge":                            func(g *graph.Graph) { g.Adj.Data[0], g.Adj.Data[1] = 0, 0 },
		"features have 3 rows for 4 nodes":               func(g *graph.Graph) { g.X = mat.NewDense(3, 4) },
		"there are no features":                          func(g *graph.Graph) { g.X = mat.NewDense(4, 0) },
		"feature 2 of node 1 is not a finite number":     func(g *graph.Graph) { dense(g).Row(1)[2] = float32(math.NaN()) },
		"3 labels for 4 nodes":                           func(g *graph.Graph) { g.Y = g.Y[:3] },
		"label 2 of node 3, must be 0 to 1":              func(g *graph.Graph) { g.Y[3] = 2 },
		"label -2 of node 3, must be 0 to 1":             func(g *graph.Graph) { g.Y[3] = -2 },
		"65537 classes, must be 0 to 65536":              func(g *graph.Graph) { g.Classes = graph.MaxClasses + 1 },
		"-1 classes, must be 0 to 65536":                 func(g *graph.Graph) { g.Classes = -1 },
		"node 4 of split test: must be 0 to 3":           func(g *graph.Graph) { g.Split.Test = []int32{4} },
		"node 1 of split val: it is in train too":        func(g *graph.Graph) { g.Split.Val = []int32{1} },
		"node 0 of split train: nodes must ascend":       func(g *graph.Graph) { g.Split.Train = []int32{1, 0} },
		"node 3 of split test: it has no label":          func(g *graph.Graph) { g.Y[3] = graph.Unlabelled },
		"adjacency is 4×5, must be square":               func(g *graph.Graph) { g.Adj.Cols = 5 },
		"there is no adjacency":                          func(g *graph.Graph) { g.Adj = nil },
		"there are no features (nil)":                    func(g *graph.Graph) { g.X = nil },
		"15 numbers for 4×4 features":                    func(g *graph.Graph) { dense(g).Data = dense(g).Data[1:] },
		"features: column 4 in row 2, must be 0 to 3":    func(g *graph.Graph) { g.X = outOfRange() },
		"adjacency: row pointers run from 0 to 6, m":     func(g *graph.Graph) { g.Adj.Indices = g.Adj.Indices[:5] },
	} {
		g := path()
		change(g)
		mattest.WantError(t, g.Validate(t.Context()), want)
	}
}

// outOfRange returns sparse features with a column out of range.
func outOfRange() *mat.CSR {
	return &mat.CSR{Rows: 4, Cols: 4, Indptr: []int64{0, 1, 2, 3, 4}, Indices: []int32{0, 1, 4, 3}}
}

// TestValidateFindsTheFirstAsymmetry breaks the symmetry of graphs in up to three places. It checks that the error
// names the first fault by rows and columns, for any number of threads.
func TestValidateFindsTheFirstAsymmetry(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const n = 5000 // several chunks of rows
	random := rand.New(rand.NewPCG(3, 3))
	for trial := range 8 {
		edges := map[[2]int32]float32{}
		for range 3 * n {
			i, j := random.Int32N(n), random.Int32N(n)
			if i != j {
				w := float32(1 + random.IntN(3))
				edges[[2]int32{i, j}], edges[[2]int32{j, i}] = w, w
			}
		}
		keys := ordered(edges)
		for range trial % 4 {
			at := keys[random.IntN(len(keys))]
			switch random.IntN(3) {
			case 0:
				delete(edges, at)
			case 1:
				edges[at] += 0.5
			case 2:
				edges[[2]int32{at[0], at[0]}] = 1
			}
		}
		want := ""
		a := matrix(n, edges)
		for _, at := range ordered(edges) {
			i, j := at[0], at[1]
			if w, ok := edges[[2]int32{j, i}]; want == "" && (!ok || w != edges[at] || i == j) {
				want = fmt.Sprintf("adjacency entry (%d, %d) ", i, j)
			}
		}
		for _, threads := range []int{1, 7} {
			runtime.GOMAXPROCS(threads)
			for _, weighted := range []bool{true, false} {
				adj := *a
				g := &graph.Graph{Adj: &adj, X: mat.NewDense(n, 1), Y: make([]int32, n), Classes: 1}
				if !weighted {
					if g.Adj.Data = nil; trial%4 > 0 {
						continue // a changed weight does not affect the pattern
					}
				}
				switch err := g.Validate(t.Context()); {
				case want == "" && err != nil:
					t.Fatalf("trial %d: a symmetric graph: %v", trial, err)
				case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
					t.Fatalf("trial %d: error %v, want one of %q", trial, err, want)
				}
			}
		}
	}
}

var inf = float32(math.Inf(1))

func apply(t *testing.T, o graph.Operator, x mat.Matrix) *mat.Dense {
	t.Helper()
	var dst mat.Dense
	mattest.OK(t, o.Apply(t.Context(), &dst, x))
	return &dst
}

// The operators have the values of their formulas for degrees 2, 4, 7 and 5 with self-loops. On one-hot features, P·X
// is P.
func TestOperatorsOnAPath(t *testing.T) {
	g := path()
	degree := []float64{2, 4, 7, 5}
	symmetric, mean := apply(t, graph.Symmetric(g.Adj), g.X), apply(t, graph.Mean(g.Adj), g.X)
	transposed := apply(t, graph.Mean(g.Adj).T(), g.X)
	a := g.Adj.Dense()
	for i := range 4 {
		a.Row(i)[i] = 1
		for j, v := range a.Row(i) {
			for _, c := range []struct {
				name      string
				got       float32
				of, under float64
			}{
				{"Â", symmetric.Row(i)[j], float64(v), math.Sqrt(degree[i] * degree[j])},
				{"mean", mean.Row(i)[j], float64(v), degree[i]},
				{"transposed mean", transposed.Row(j)[i], float64(v), degree[i]},
			} {
				// float32 rounds each factor and product: some 10⁻⁷.
				mattest.Near(t, float64(c.got), c.of/c.under, 1e-6, "%s of %d and %d is", c.name, i, j)
			}
		}
	}
}

// The operator gives the same product for dense and for sparse features, up to rounding. A product for some rows has
// the rows of the full product, whether the features are in the order of the nodes or not.
func TestOperatorForms(t *testing.T) {
	g := random(t)
	x, o := dense(g), graph.Symmetric(g.Adj)
	n, d := x.Dims()
	want := apply(t, o, x)
	fromSparse := apply(t, o, x.Sparse())
	for i, v := range want.Data {
		if math.Abs(float64(v-fromSparse.Data[i])) > 1e-6 { // the order of the factors differs
			t.Fatalf("element %d: dense %v, sparse %v", i, v, fromSparse.Data[i])
		}
	}

	rows := []int32{599, 3, 3, 256}
	var some mat.Dense
	mattest.OK(t, o.ApplyRows(t.Context(), &some, x, rows, nil))
	// The same rows from features in reverse order.
	reversed, position := mat.NewDense(n, d), make([]int32, n)
	for i := range n {
		position[i] = int32(n - 1 - i)
		copy(reversed.Row(n-1-i), x.Row(i))
	}
	var moved mat.Dense
	mattest.OK(t, o.ApplyRows(t.Context(), &moved, reversed, rows, position))
	for r, i := range rows {
		if !slices.Equal(some.Row(r), want.Row(int(i))) || !slices.Equal(moved.Row(r), want.Row(int(i))) {
			t.Errorf("row %d alone differs from the whole product", i)
		}
	}
}

func TestInduced(t *testing.T) {
	g := path()
	for _, x := range []mat.Matrix{g.X, g.X.(*mat.Dense).Sparse()} {
		g.X = x
		sub := g.Induced([]int32{1, 2, 3})
		mattest.OK(t, sub.Validate(t.Context()))
		if sub.Nodes() != 3 || sub.Edges() != 2 {
			t.Errorf("%d nodes, %d edges, want 3 and 2", sub.Nodes(), sub.Edges())
		}
		mattest.Equal(t, sub.Adj.Data, []float32{2, 2, 4, 4}, "weights")
		mattest.Equal(t, sub.Y, []int32{1, 0, 1}, "labels")
		if s := sub.Split; !slices.Equal(s.Train, []int32{0}) || !slices.Equal(s.Test, []int32{2}) {
			t.Errorf("split %+v, want training node 0 and test node 2", s)
		}
		var rows mat.Dense
		mattest.OK(t, mat.Rows(&rows, sub.X, []int32{0}))
		mattest.Equal(t, rows.Data, []float32{0, 1, 0, 0}, "features of the first node")
	}
	if train := path().TrainingGraph(); train.Nodes() != 2 || train.Edges() != 1 {
		t.Errorf("training graph has %d nodes, %d edges, want 2 and 1", train.Nodes(), train.Edges())
	}
}

func TestScaling(t *testing.T) {
	g := path()
	x := mat.NewDense(4, 2)
	// Over nodes 0, 1 and 3, the first feature has mean 3 and variance 8/3. The second feature is constant there.
	copy(x.Data, []float32{1, 5, 3, 5, 100, 7, 5, 5})
	g.X = x
	s := mattest.Must(graph.FitScaling(g.X, []int32{0, 1, 3}))
	if s.Mean[0] != 3 || math.Abs(float64(s.Std[0])-math.Sqrt(8.0/3)) > 1e-6 || s.Mean[1] != 5 || s.Std[1] != 1 {
		t.Errorf("scaling %+v", s)
	}
	scaled := scaled(t, g, s).X.(*mat.Dense)
	if scaled.Row(1)[0] != 0 || scaled.Row(2)[1] != 2 || x.Row(1)[0] != 3 {
		t.Errorf("scaled %v, original %v", scaled.Data, x.Data)
	}
	// The deviation of the smallest number among zeros is no float32. Division by 0 would give NaN.
	tiny := &mat.Dense{Rows: 4, Cols: 1, Data: []float32{0, 0, 0, math.SmallestNonzeroFloat32}}
	if s := mattest.Must(graph.FitScaling(tiny, []int32{0, 1, 2, 3})); s.Std[0] != 1 {
		t.Errorf("scaling %+v of tiny numbers, want the deviation 1", s)
	}
}

// If the mean is a million times the deviation, a difference of sums of squares has no correct digit.
func TestScalingDoesNotCancel(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 0))
	const n = 10_000
	x := mat.NewDense(n, 4)
	for i := range n {
		copy(x.Row(i), []float32{
			float32(1.7e9 + 1500*random.NormFloat64()), // a time in seconds
			1.7e9,
			float32(-3e7 + 40*random.NormFloat64()),
			0,
		})
	}
	s := mattest.Must(graph.FitScaling(x, memory.Range(0, n)))
	for j := range x.Cols {
		shift := float64(x.Row(0)[j]) // differences from it are integers, whose sums of squares are exact
		sum, square := 0.0, 0.0
		for i := range n {
			v := float64(x.Row(i)[j]) - shift
			sum, square = sum+v, square+v*v
		}
		std := math.Sqrt(square/n - sum/n*sum/n)
		if std == 0 {
			std = 1
		}
		if s.Mean[j] != float32(shift+sum/n) || math.Abs(float64(s.Std[j])/std-1) > 1e-6 { // float32 rounding
			t.Errorf("feature %d: mean %v, deviation %v, want %v, %v", j, s.Mean[j], s.Std[j], shift+sum/n, std)
		}
	}
}

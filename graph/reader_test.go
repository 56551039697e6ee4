package graph_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// wide is a matrix that delivers five columns too many.
type wide struct{ mat.Matrix }

func (w wide) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	err := w.Matrix.ReadBlock(dst, rows, lo, hi)
	dst.Reshape(dst.Rows, dst.Cols+5)
	return err
}

// random returns a graph of 600 nodes with 150 features.
func random(t *testing.T) *graph.Graph {
	t.Helper()
	source := rand.New(rand.NewPCG(8, 0))
	b := graph.Builder{X: mattest.Normal(600, 150, source), Y: make([]int32, 600), Classes: 1}
	for range 3000 {
		b.AddEdge(source.IntN(600), source.IntN(600))
	}
	b.Split.Train = []int32{3, 17, 200, 599}
	return mattest.First(b.Graph(t.Context()))
}

func written(t *testing.T, x mat.Matrix) *mat.Dense {
	t.Helper()
	_, d := x.Dims()
	var dst mat.Dense
	mattest.OK(t, mat.ReadColumns(t.Context(), &dst, x, nil, 0, d))
	return &dst
}

// Results from features that are read in blocks are bit-identical to those from the same features in memory.
func TestFeaturesThatAreRead(t *testing.T) {
	g := random(t)
	read := *g
	read.X = mattest.Distant{Of: g.X}
	mattest.OK(t, read.Validate(t.Context()))
	o := graph.Symmetric(g.Adj)
	if !slices.Equal(apply(t, o, read.X).Data, apply(t, o, g.X).Data) {
		t.Error("the operator gives other numbers")
	}
	rows := []int32{9, 3, 500}
	var got, want mat.Dense
	for x, dst := range map[mat.Matrix]*mat.Dense{read.X: &got, g.X: &want} {
		mattest.OK(t, o.ApplyRows(t.Context(), dst, x, rows, nil))
	}
	if !slices.Equal(got.Data, want.Data) {
		t.Error("rows of the operator are other numbers")
	}
	s := mattest.Must(graph.FitScaling(read.X, g.Split.Train))
	same := mattest.Must(graph.FitScaling(g.X, g.Split.Train))
	if !slices.Equal(s.Mean, same.Mean) || !slices.Equal(s.Std, same.Std) {
		t.Error("the scaling is another")
	}
	for what, change := range map[string]func(*graph.Graph) *graph.Graph{
		"scaled":   func(g *graph.Graph) *graph.Graph { return scaled(t, g, s) },
		"training": (*graph.Graph).TrainingGraph,
		"scaled and induced": func(g *graph.Graph) *graph.Graph {
			return scaled(t, scaled(t, g, s).Induced([]int32{1, 2, 500}), s)
		},
	} {
		got, want := change(&read), change(g)
		if err := got.Validate(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if !slices.Equal(written(t, got.X).Data, written(t, want.X).Data) {
			t.Errorf("%s: other features", what)
		}
	}
}

func TestFeaturesThatCannotBeRead(t *testing.T) {
	g := random(t)
	failed := errors.New("the line is dead")
	none := graph.Scaling{Mean: make([]float32, 150), Std: make([]float32, 150)}
	x := dense(g)
	for want, read := range map[string]mat.Matrix{
		"the line is dead": mattest.Distant{Of: x, Err: failed},
		"graph_test.wide delivered 256×155 (39680 numbers) for a block of 256×150": wide{x},
	} {
		g.X = read
		var dst mat.Dense
		for what, err := range map[string]error{
			"Validate": g.Validate(t.Context()),
			"Induced":  g.Induced([]int32{0, 1}).Validate(t.Context()),
			"Scaled":   scaled(t, g, none).Validate(t.Context()),
			"Apply":    graph.Mean(g.Adj).Apply(t.Context(), &dst, read),
			"Fit":      second(graph.FitScaling(read, g.Split.Train)),
		} {
			if !errors.Is(err, failed) && (err == nil || !strings.Contains(err.Error(), "delivered")) {
				t.Errorf("%s: error %v, want one like %q", what, err, want)
			}
		}
		mattest.WantError(t, g.Validate(t.Context()), want)
		g.X = x
	}
	x.Row(599)[3] = inf
	x.Row(300)[149] = float32(math.NaN())
	g.X = mattest.Distant{Of: x}
	mattest.WantError(t, g.Validate(t.Context()), "feature 149 of node 300 is not")
}

func second(_ graph.Scaling, err error) error { return err }

// Dense features, sparse features and features of another type give the same result, and the features of g are not
// modified.
func TestNormalizedFeatures(t *testing.T) {
	x := &mat.Dense{Rows: 4, Cols: 3, Data: []float32{1, 3, 0, 0, 0, 0, -2, 2, 4, 0, 5, 0}}
	want := []float32{.25, .75, 0, 0, 0, 0, -.25, .25, .5, 0, 1, 0}
	ones := &mat.CSR{Rows: 2, Cols: 3, Indptr: []int64{0, 2, 3}, Indices: []int32{0, 2, 1}}
	for name, c := range map[string]struct {
		x    mat.Matrix
		want []float32
	}{
		"dense": {x, want}, "sparse": {x.Sparse(), want}, "read": {mattest.Distant{Of: x}, want},
		"ones": {ones, []float32{.5, 0, .5, 0, 1, 0}},
	} {
		rows, _ := c.x.Dims()
		empty := &mat.CSR{Rows: rows, Cols: rows, Indptr: make([]int64, rows+1)}
		g := &graph.Graph{Adj: empty, X: c.x, Y: make([]int32, rows), Classes: 1, Mapped: true}
		before := written(t, g.X)
		n := mattest.Must(g.NormalizedFeatures(t.Context()))
		got := written(t, n.X)
		for e, v := range got.Data {
			if math.Abs(float64(v-c.want[e])) > 1e-7 {
				t.Errorf("%s: features are %v, want %v", name, got.Data, c.want)
				break
			}
		}
		if err := mat.Read(got, n.X, []int32{1}, 1, 2); err != nil || got.Data[0] != c.want[4] {
			t.Errorf("%s: a block is %v, %v, want %v", name, got.Data, err, c.want[4])
		}
		if after := written(t, g.X); !slices.Equal(after.Data, before.Data) {
			t.Errorf("%s: the features of the graph changed to %v", name, after.Data)
		}
	}
}

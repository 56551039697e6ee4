package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// judged returns a random graph and a small one with edges. The labels of both are the sign of the first feature.
func judged(t *testing.T) (*graph.Graph, *condense.Condensed) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 1))
	draw := func(n int, edges float64) (*mat.CSR, *mat.Dense, []int32) {
		x, y := mattest.Normal(n, 5, random), make([]int32, n)
		for i := range n {
			if x.Row(i)[0] > 0 {
				y[i] = 1
			}
		}
		joined := func(i, j int) bool { return i != j && (min(i, j)*7+max(i, j)*13)%100 < int(100*edges) }
		a := &mat.CSR{Rows: n, Cols: n, Indptr: []int64{0}}
		for i := range n {
			for j := range n {
				if joined(i, j) {
					a.Indices = append(a.Indices, int32(j))
				}
			}
			a.Indptr = append(a.Indptr, int64(len(a.Indices)))
		}
		return a, x, y
	}
	a, x, y := draw(40, 0.05)
	g := &graph.Graph{
		Name: "random", Adj: a, X: x, Y: y, Classes: 2, Split: graph.Split{Val: []int32{3, 4, 5, 6, 7, 8, 30, 31, 32}},
	}
	a, x, y = draw(12, 0.1)
	members := &mat.CSR{Rows: 12, Cols: 40, Indptr: []int64{0}}
	for i := range 12 {
		for k := range 1 + i%3 {
			members.Indices = append(members.Indices, int32(3*i+k))
		}
		members.Indptr = append(members.Indptr, int64(len(members.Indices)))
	}
	return g, &condense.Condensed{Adj: a, X: x, Y: y, Classes: 2, Members: members}
}

// normalised returns Â of a in float64.
func normalised(a *mat.CSR) *gonum.Dense {
	m, degree := double(a.Dense()), make([]float64, a.Rows)
	for i := range degree {
		m.Set(i, i, 1)
		degree[i] = gonum.Sum(m.RowView(i))
	}
	m.Apply(func(i, j int, v float64) float64 { return v / math.Sqrt(degree[i]*degree[j]) }, m)
	return m
}

// double returns x in float64.
func double(x *mat.Dense) *gonum.Dense {
	return gonum.NewDense(x.Rows, x.Cols, mattest.Wide(x))
}

func product(first gonum.Matrix, others ...gonum.Matrix) *gonum.Dense {
	p := gonum.DenseCopyOf(first)
	for _, m := range others {
		next := new(gonum.Dense)
		next.Mul(p, m)
		p = next
	}
	return p
}

// TestJudgeIsItsFormula compares the verdict with the formula of Judge, computed densely in float64. If a feature that
// says nothing is much larger than the others, more steps are better.
func TestJudgeIsItsFormula(t *testing.T) {
	for _, spread := range []float32{1, 10} {
		g, small := judged(t)
		for _, x := range []*mat.Dense{g.X.(*mat.Dense), small.X} {
			for i := range x.Rows {
				x.Row(i)[1] *= spread
			}
		}
		for _, linear := range []bool{true, false} {
			for _, weighted := range []bool{false, true} {
				j := mattest.Must(New(t.Context(), g, false, linear, rand.NewPCG(1, 1)))
				got := mattest.Must(j.Of(t.Context(), small, weighted, nil))
				want := plainly(g, small, weighted, false)
				if !linear {
					want = Mean(want, plainly(g, small, weighted, true))
				}
				const rounding = 1e-3 // of float32
				if math.Abs(got.Accuracy-want.Accuracy) > 1e-9 || math.Abs(got.Entropy-want.Entropy) > rounding ||
					math.Abs(mean(got.Each)-mean(want.Each)) > 100*rounding || math.Abs(mean(got.Hits)-got.Accuracy) > 1e-9 ||
					linear && math.Abs(mean(got.Each)-got.Score()) > 1e-9 {
					t.Errorf("spread %v, linear %v, weighted %v: %+v, want %+v", spread, linear, weighted, got, want)
				}
			}
		}
	}
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

func plainly(g *graph.Graph, small *condense.Condensed, weighted, wide bool) Verdict {
	own, other := normalised(small.Adj), normalised(g.Adj)
	m, field := product(own, double(small.X)), product(other, double(g.X.(*mat.Dense)))
	between := func(a, b *gonum.Dense) *gonum.Dense {
		k := product(a, b.T())
		k.Apply(func(i, j int, dot float64) float64 {
			if !wide {
				return dot
			}
			size := gonum.Norm(a.RowView(i), 2) * gonum.Norm(b.RowView(j), 2)
			theta := math.Acos(max(-1, min(1, dot/size)))
			return size * (math.Sin(theta) + 2*(math.Pi-theta)*math.Cos(theta)) / math.Pi
		}, k)
		return k
	}
	inner, cross := product(own, between(m, m), own), product(other, between(field, m), own)
	n, total := small.Nodes(), 0.0
	shares, y := slices.Repeat([]float64{1}, n), gonum.NewDense(n, 2, nil)
	for i := range shares {
		if weighted {
			shares[i] = float64(small.Members.Indptr[i+1] - small.Members.Indptr[i])
		}
		total += shares[i]
		y.Set(i, int(small.Y[i]), 1)
	}
	root := gonum.NewDiagDense(n, nil)
	for i, w := range shares {
		root.SetDiag(i, math.Sqrt(w/total))
	}
	eta := 2 / gonum.Norm(product(root, inner, root), 2)
	best := Verdict{Accuracy: -1}
	a, ahead := gonum.NewDense(n, 2, nil), gonum.NewDense(n, 2, nil)
	for step := range 100 {
		f, next := product(inner, ahead), gonum.NewDense(n, 2, nil)
		for i, w := range shares {
			for c := range 2 {
				probability := 1 / (1 + math.Exp(f.At(i, 1-c)-f.At(i, c)))
				next.Set(i, c, ahead.At(i, c)-eta*w/total*(probability-y.At(i, c)))
				ahead.Set(i, c, next.At(i, c)+float64(step+1)/float64(step+4)*(next.At(i, c)-a.At(i, c)))
			}
		}
		a = next
		if !slices.Contains([]int{9, 29, 99}, step) {
			continue
		}
		all, logits := product(cross, a), mat.NewDense(len(g.Split.Val), 2)
		for v, node := range g.Split.Val {
			logits.Row(v)[0], logits.Row(v)[1] = float32(all.At(int(node), 0)), float32(all.At(int(node), 1))
		}
		equal := slices.Repeat([]float64{1}, logits.Rows)
		if v := verdict(logits, g.Labels(g.Split.Val), equal); best.Accuracy < 0 || v.Score() > best.Score() {
			best = v
		}
	}
	return best
}

// TestNothingToFit checks that all classes are equally likely if all features are 0, or if products of features
// overflow: of condensed nodes, or of condensed nodes and validation nodes.
func TestNothingToFit(t *testing.T) {
	for _, scales := range [][2]float32{{1, 0}, {1, 1e25}, {1e25, 1e15}} {
		g, small := judged(t)
		kernel.Scale(g.X.(*mat.Dense).Data, scales[0], g.X.(*mat.Dense).Data)
		kernel.Scale(small.X.Data, scales[1], small.X.Data)
		j := mattest.Must(New(t.Context(), g, false, false, rand.NewPCG(1, 1)))
		v := mattest.Must(j.Of(t.Context(), small, true, nil))
		if math.Abs(v.Entropy-math.Ln2) > 1e-6 || math.IsNaN(v.Score()) || math.IsNaN(mean(v.Each)) {
			t.Errorf("features times %v: %+v, want the entropy ln 2", scales, v)
		}
	}
}

// TestWeights checks that a row with three times the weight counts like three equal rows, and that weights are 1 where
// the validation nodes have the given shares.
func TestWeights(t *testing.T) {
	rows := [][]float32{{1, 0}, {0.2, 0.5}, {0.3, 0.1}}
	repeats := []int{3, 1, 2}
	labels, weights := []int32{0, 0, 1}, []float64{1.5, 0.5, 1}
	once, often := mat.NewDense(3, 2), new(mat.Dense)
	var expanded []int32
	for i, row := range rows {
		copy(once.Row(i), row)
		for range repeats[i] {
			often.Data = append(often.Data, row...)
			expanded = append(expanded, labels[i])
		}
	}
	often.Rows, often.Cols = 6, 2
	got, want := verdict(once, labels, weights), verdict(often, expanded, slices.Repeat([]float64{1}, 6))
	if math.Abs(got.Accuracy-want.Accuracy) > 1e-9 || math.Abs(got.Entropy-want.Entropy) > 1e-9 {
		t.Errorf("%v, with repeated rows %v", got, want)
	}
	j := Judge{labels: []int32{1, 0, 1, 1}}
	for i, w := range j.weights([]float64{2, 6}) {
		mattest.Near(t, w, 1, 1e-12, "validation node %d has weight", i)
	}
	if w := j.weights([]float64{3, 1}); math.Abs(w[1]-3) > 1e-12 || math.Abs(w[0]-1./3) > 1e-12 {
		t.Errorf("weights %v, want 3 for the class with 3 in 4 nodes and 1 in 4 validation nodes", w)
	}
}

// TestAccuracyIsExact checks that an accuracy is what the right answers give, without errors of a long sum, and that
// equal accuracies have that mean.
func TestAccuracyIsExact(t *testing.T) {
	logits, labels := mat.NewDense(1000, 2), make([]int32, 1000)
	for i := range logits.Rows {
		logits.Row(i)[0] = 1
	}
	third := slices.Repeat([]float64{1. / 3, 1, 5. / 3, 1}, 250)
	for _, c := range []struct {
		wrong   int
		weights []float64
		want    float64
	}{{0, third, 100}, {176, slices.Repeat([]float64{1}, 1000), 82.4}} {
		for i := range c.wrong {
			labels[i] = 1
		}
		v := verdict(logits, labels, c.weights)
		mattest.Equal(t, v.Accuracy, c.want, "accuracy with %d wrong answers", c.wrong)
		mattest.Equal(t, Mean(v, v, v).Accuracy, c.want, "mean accuracy with %d wrong answers", c.wrong)
	}
}

// TestSampleFieldKeepsItsBound checks the sample with and without an effective limit.
func TestSampleFieldKeepsItsBound(t *testing.T) {
	g, _ := judged(t)
	sample, near := sampleField(g.Adj, g.Split.Val, 9, 1000, rand.NewPCG(1, 1))
	if !slices.Equal(sample, g.Split.Val) {
		t.Errorf("sample %v, want all of %v", sample, g.Split.Val)
	}
	for _, limit := range []int{1, 6, 12} {
		some, field := sampleField(g.Adj, g.Split.Val, 9, limit, rand.NewPCG(1, 1))
		fits := len(field) <= limit || len(some) == 1
		smaller := len(some) > 0 && len(some) < len(sample) && len(field) < len(near)
		if !fits || !smaller || !slices.IsSorted(some) || !slices.IsSorted(field) {
			t.Errorf("limit %d: %v with field %v", limit, some, field)
		}
	}
	if some, _ := sampleField(g.Adj, g.Split.Val, 4, 1000, rand.NewPCG(1, 1)); len(some) != 4 || !slices.IsSorted(some) {
		t.Errorf("at most 4 rows: %v", some)
	}
}

// TestTrained compares the verdict with a training run of package gnn that is validated on the graph itself after the
// last epoch.
func TestTrained(t *testing.T) {
	g, small := judged(t)
	j := mattest.Must(New(t.Context(), g, false, false, rand.NewPCG(1, 1)))
	got := mattest.Must(j.Trained(t.Context(), small, nil, rand.NewPCG(4, 2)))
	config := gnn.Defaults()
	config.Epochs, config.ValidateEvery = epochs, epochs
	sample := &gnn.Sample{Adj: small.Adj, X: small.X, Y: small.Y, Classes: 2, Weights: small.Weights()}
	target := mattest.Must(gnn.NewTarget(g, false))
	want := mattest.Must(gnn.Train(t.Context(), gnn.GCN(), sample, target, config, rand.NewPCG(4, 2)))
	mattest.Near(t, got.Accuracy, want.Validation, 1e-9, "accuracy")
	logits := mattest.Must(want.Trained.Logits(t.Context(), g.Adj, g.X))
	for at, i := range g.Split.Val {
		hit := 0.0
		if row := logits.Row(int(i)); slices.Index(row, slices.Max(row)) == int(g.Y[i]) {
			hit = 100
		}
		mattest.Equal(t, got.Hits[at], hit, "node %d", i)
	}
}

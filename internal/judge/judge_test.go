package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// judged returns a random graph and a small one with edges. The labels of both are the sign of the first feature.
func judged(t *testing.T) (*graph.Graph, *condense.Condensed) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 1))
	draw := func(n int, edges float64) (*mat.CSR, *mat.Dense, []int32) {
		x, y := mat.NewDense(n, 5), make([]int32, n)
		for i := range n {
			for j := range 5 {
				x.Row(i)[j] = float32(random.NormFloat64())
			}
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

// normalised returns Â of a as float64 rows.
func normalised(a *mat.CSR) [][]float64 {
	n := a.Rows
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		for _, j := range a.Indices[a.Indptr[i]:a.Indptr[i+1]] {
			m[i][j] = 1
		}
		m[i][i] = 1
	}
	degree := make([]float64, n)
	for i, row := range m {
		for _, v := range row {
			degree[i] += v
		}
	}
	for i, row := range m {
		for j := range row {
			row[j] /= math.Sqrt(degree[i] * degree[j])
		}
	}
	return m
}

func product(a, b [][]float64) [][]float64 {
	c := make([][]float64, len(a))
	for i := range a {
		c[i] = make([]float64, len(b[0]))
		for k, v := range a[i] {
			for j, w := range b[k] {
				c[i][j] += v * w
			}
		}
	}
	return c
}

func rowsOf64(x *mat.Dense) [][]float64 {
	m := make([][]float64, x.Rows)
	for i := range m {
		for _, v := range x.Row(i) {
			m[i] = append(m[i], float64(v))
		}
	}
	return m
}

// TestJudgeIsItsFormula compares the verdict with the formula of Judge, computed in plain loops with Gaussian
// elimination.
func TestJudgeIsItsFormula(t *testing.T) {
	g, small := judged(t)
	for _, linear := range []bool{true, false} {
		for _, weighted := range []bool{false, true} {
			j := mattest.Must(New(t.Context(), g, false, linear, rand.NewPCG(1, 1)))
			got := mattest.Must(j.Of(t.Context(), small, weighted))
			want := plainly(g, small, weighted, false)
			if !linear {
				w := plainly(g, small, weighted, true)
				want = Mean(want, w)
			}
			const rounding = 1e-3 // the kernels are float32, and the ridge bounds the condition number of the system
			if math.Abs(got.Accuracy-want.Accuracy) > 1e-9 || math.Abs(got.Entropy-want.Entropy) > rounding ||
				math.Abs(mean(got.Each)-mean(want.Each)) > 100*rounding ||
				linear && math.Abs(mean(got.Each)-got.Score()) > 1e-9 {
				t.Errorf("linear %v, weighted %v: %+v, want %+v", linear, weighted, got, want)
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
	m, field := product(own, rowsOf64(small.X)), product(other, rowsOf64(g.X.(*mat.Dense)))
	kernel := func(a, b []float64) float64 {
		var dot, aa, bb float64
		for i := range a {
			dot, aa, bb = dot+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
		}
		if !wide {
			return dot
		}
		size := math.Sqrt(aa * bb)
		theta := math.Acos(max(-1, min(1, dot/size)))
		return size * (math.Sin(theta) + 2*(math.Pi-theta)*math.Cos(theta)) / math.Pi
	}
	between := func(a, b [][]float64) [][]float64 {
		k := make([][]float64, len(a))
		for i := range a {
			for j := range b {
				k[i] = append(k[i], kernel(a[i], b[j]))
			}
		}
		return k
	}
	inner, cross := product(product(own, between(m, m)), own), product(product(other, between(field, m)), own)
	n := len(m)
	weights, total, diagonal := make([]float64, n), 0.0, 0.0
	for i := range weights {
		weights[i] = 1
		if weighted {
			weights[i] = float64(small.Members.Indptr[i+1] - small.Members.Indptr[i])
		}
		total += weights[i]
		diagonal += inner[i][i] / float64(n)
	}
	best := Verdict{Accuracy: -1}
	for _, ridge := range []float64{0.03, 0.3, 3} {
		system := make([][]float64, n)
		for i := range system {
			system[i] = append(slices.Clone(inner[i]), 0, 0)
			system[i][i] += ridge * diagonal * total / float64(n) / weights[i]
			system[i][n+int(small.Y[i])] = 1
		}
		for i := range system {
			for r := range system {
				if r != i {
					f := system[r][i] / system[i][i]
					for c := range system[r] {
						system[r][c] -= f * system[i][c]
					}
				}
			}
		}
		logits := mat.NewDense(len(g.Split.Val), 2)
		for v, node := range g.Split.Val {
			for i := range n {
				for c := range 2 {
					logits.Row(v)[c] += float32(cross[node][i] * system[i][n+c] / system[i][i])
				}
			}
		}
		if v := verdict(logits, g.Labels(g.Split.Val)); best.Accuracy < 0 || v.Score() > best.Score() {
			best = v
		}
	}
	return best
}

// TestSampleFieldKeepsItsBound checks the sample with and without an effective limit.
func TestSampleFieldKeepsItsBound(t *testing.T) {
	g, _ := judged(t)
	sample, near := sampleField(g.Adj, g.Split.Val, 1000, rand.NewPCG(1, 1))
	if !slices.Equal(sample, g.Split.Val) {
		t.Errorf("sample %v, want all of %v", sample, g.Split.Val)
	}
	for _, limit := range []int{1, 6, 12} {
		some, field := sampleField(g.Adj, g.Split.Val, limit, rand.NewPCG(1, 1))
		fits := len(field) <= limit || len(some) == 1
		smaller := len(some) > 0 && len(some) < len(sample) && len(field) < len(near)
		if !fits || !smaller || !slices.IsSorted(some) || !slices.IsSorted(field) {
			t.Errorf("limit %d: %v with field %v", limit, some, field)
		}
	}
}

package distill

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// clouds returns n embeddings and their classes. Every class occurs. Each embedding is 2 on the axis of its class, plus
// unit noise.
func clouds(n, d, classes int, random *rand.Rand) (h *mat.Dense, y []int32) {
	h = mattest.Normal(n, d, random)
	for i := range n {
		y = append(y, int32(i%classes))
		h.Row(i)[i%classes] += 2
	}
	return h, y
}

// solved solves (HᵀH + λI)W = HᵀY in float64, without one row of h.
func solved(t *testing.T, h *mat.Dense, y []int32, classes int, penalty float64, without int) *gonum.Dense {
	t.Helper()
	x, label := gonum.NewDense(h.Rows, h.Cols, mattest.Wide(h)), gonum.NewDense(h.Rows, classes, nil)
	for i, class := range y {
		label.Set(i, int(class), 1)
	}
	if without >= 0 {
		x.SetRow(without, make([]float64, h.Cols))
	}
	var gram, right, w gonum.Dense
	gram.Mul(x.T(), x)
	for j := range h.Cols {
		gram.Set(j, j, gram.At(j, j)+penalty)
	}
	right.Mul(x.T(), label)
	mattest.OK(t, w.Solve(&gram, &right))
	return &w
}

// wantNear compares weights up to the rounding of float32 products with a condition number below 100.
func wantNear(t *testing.T, name string, got *mat.Dense, want *gonum.Dense) {
	t.Helper()
	if wide := gonum.NewDense(got.Rows, got.Cols, mattest.Wide(got)); !gonum.EqualApprox(wide, want, 1e-5) {
		t.Fatalf("%s: W = %v, want %v", name, gonum.Formatted(wide), gonum.Formatted(want))
	}
}

// The closed form equals the slow way: leave out each node in turn and fit again. h has more rows than columns, then
// fewer.
func TestRidgeLeavesOut(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 0))
	const classes = 3
	for _, shape := range [][2]int{{60, 9}, {20, 30}} {
		h, y := clouds(shape[0], shape[1], classes, random)
		r := mattest.Must(fitRidge(t.Context(), h, y, classes))
		norm := 0.0
		for _, v := range h.Data {
			norm += float64(v) * float64(v) / float64(h.Rows)
		}
		best, bestError, right := 0.0, math.Inf(1), 0
		var left *gonum.Dense // the outputs for nodes that are left out, at the best penalty
		for k := range 13 {
			penalty := norm * math.Pow(10, -4+float64(k)/2)
			out, sum, hits := gonum.NewDense(h.Rows, classes, nil), 0.0, 0
			for i := range h.Rows {
				w := solved(t, h, y, classes, penalty, i)
				top := 0
				for c := range classes {
					for j, v := range h.Row(i) {
						out.Set(i, c, out.At(i, c)+float64(v)*w.At(j, c))
					}
					e := out.At(i, c)
					if c == int(y[i]) {
						e--
					}
					sum += e * e
					if out.At(i, c) > out.At(i, top) {
						top = c
					}
				}
				if top == int(y[i]) {
					hits++
				}
			}
			if sum < bestError {
				best, bestError, right, left = penalty, sum, hits, out
			}
		}
		mattest.Near(t, r.Penalty, best, 1e-4*best, "%v: penalty", shape)
		mattest.Equal(t, r.Accuracy, float64(right)/float64(h.Rows), "%v: accuracy", shape)
		wantNear(t, fmt.Sprint(shape), r.W, solved(t, h, y, classes, best, -1))
		entropy := func(scale float64) (sum float64) {
			for i, label := range y {
				total := 0.0
				for c := range classes {
					total += math.Exp(min(700, scale*(left.At(i, c)-left.At(i, int(label))))) // e⁷¹⁰ overflows
				}
				sum += math.Log(total)
			}
			return sum
		}
		for k := range 25 {
			if s := math.Pow(2, float64(k)/2); entropy(s) < entropy(r.Scale)*(1-1e-5) {
				t.Errorf("%v: scale %v has cross entropy %v, but %v has %v",
					shape, r.Scale, entropy(r.Scale), s, entropy(s))
			}
		}
	}
}

// If labels do not depend on the features, the distribution of a new embedding is nearly flat.
func TestRidgeIsFlatOnNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 0))
	h, y := clouds(400, 100, 4, random)
	random.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
	r := mattest.Must(fitRidge(t.Context(), h, y, 4))
	fresh, _ := clouds(400, 100, 4, random)
	var q mat.Dense
	mat.Mul(&q, fresh, r.W)
	r.distribution(&q, &q)
	most := 0.0
	for i := range q.Rows {
		most += float64(slices.Max(q.Row(i))) / 400
	}
	if most > 0.4 { // 0.25 is flat
		t.Errorf("the likeliest class has probability %.2f on noise; penalty %v, scale %v", most, r.Penalty, r.Scale)
	}
}

// With more than judges nodes, the fit still uses all nodes.
func TestRidgeFitsAll(t *testing.T) {
	h, y := clouds(9000, 6, 3, rand.New(rand.NewPCG(9, 0)))
	for i := range 4500 {
		h.Row(2 * i)[0] *= 3
	}
	r := mattest.Must(fitRidge(t.Context(), h, y, 3))
	wantNear(t, "all nodes", r.W, solved(t, h, y, 3, r.Penalty, -1))
	if r.Accuracy < 0.7 { // chance is 1/3
		t.Errorf("leave-one-out accuracy %v, want at least 0.7", r.Accuracy)
	}
}

func TestRidgeDistribution(t *testing.T) {
	h, y := clouds(30, 8, 3, rand.New(rand.NewPCG(7, 0)))
	r := mattest.Must(fitRidge(t.Context(), h, y, 4)) // class 3 has no node
	outputs := &mat.Dense{Rows: 2, Cols: 4, Data: []float32{-1, -2, -3, 5, 0.1, 0.4, 0.2, 0}}
	var q mat.Dense
	r.distribution(&q, outputs)
	for i := range 2 {
		total := 0.0
		for _, v := range outputs.Row(i)[:3] {
			total += math.Exp(r.Scale * float64(v))
		}
		for c, v := range q.Row(i) {
			want := math.Exp(r.Scale*float64(outputs.Row(i)[c])) / total
			if c == 3 {
				want = 0
			}
			mattest.Near(t, float64(v), want, 1e-5, "row %d: class %d has probability", i, c)
		}
	}
	if outputs.Data[0] != -1 {
		t.Error("the outputs were changed")
	}
}

// A fit that is cancelled returns the error of its context.
func TestRidgeStops(t *testing.T) {
	ctx := mattest.Cancelled(t)
	for _, shape := range [][2]int{{300, 40}, {40, 300}} {
		h, y := clouds(shape[0], shape[1], 3, rand.New(rand.NewPCG(4, 0)))
		if r, err := fitRidge(ctx, h, y, 3); !errors.Is(err, context.Canceled) || r != nil {
			t.Errorf("%v: error %v, want %v", shape, err, context.Canceled)
		}
	}
}

func TestRidgeOfNothing(t *testing.T) {
	if _, err := fitRidge(t.Context(), mat.NewDense(0, 3), nil, 2); err == nil {
		t.Error("no error from 0 training nodes")
	}
	for _, n := range []int{2, 5} { // all-zero features, with fewer and with more nodes than features
		y := []int32{0, 1, 1, 1, 1}[:n]
		r := mattest.Must(fitRidge(t.Context(), mat.NewDense(n, 3), y, 2))
		if len(r.W.Data) != 6 || slices.Max(r.W.Data) != 0 || slices.Min(r.W.Data) != 0 {
			t.Errorf("%d nodes without features: W = %v, want zeros", n, r.W.Data)
		}
	}
}

// TestRidgeOutOfRange checks that the error names the feature whose squares overflow or underflow, for both Gram
// matrices. At 1e-21 1/λ overflows, and at 1e-30 all squares are 0.
func TestRidgeOutOfRange(t *testing.T) {
	for unit, want := range map[float32]string{1e19: "overflow", 1e-21: "underflow", 1e-30: "underflow"} {
		for _, n := range []int{2, 40} {
			h, y := mat.NewDense(n, 5), make([]int32, n)
			for i := range n {
				h.Row(i)[3], y[i] = unit*float32(2+i), int32(i%2)
			}
			if _, err := fitRidge(t.Context(), h, y, 2); err == nil || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), "feature 3 (counted from 0)") || !strings.Contains(err.Error(), "--standardize") {
				t.Errorf("%d nodes of %g: error %v, want that squares %s", n, unit, err, want)
			}
		}
	}
}

func TestRidgeIgnoresThreads(t *testing.T) {
	for _, shape := range [][2]int{{9000, 20}, {50, 200}} {
		h, y := clouds(shape[0], shape[1], 6, rand.New(rand.NewPCG(8, 0)))
		mattest.IgnoresThreads(t, func() *ridge { return mattest.Must(fitRidge(t.Context(), h, y, 6)) })
	}
}

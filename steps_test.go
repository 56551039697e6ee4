package cgc_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/assess"
	"github.com/graph-condensation/cgc/internal/generate"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// float32Error bounds the rounding of a few dozen float32 additions of numbers near 1.
const float32Error = 2e-5

// smallGraph returns a random graph of n nodes, and its adjacency as a dense matrix. Node n−1 is isolated.
func smallGraph(n, d, classes int, weighted, sparse bool, random *rand.Rand) (*graph.Graph, dense) {
	a := zeros(n, n)
	for i := range n - 1 {
		for j := range i {
			if random.Float64() < 0.15 {
				w := 1.0
				if weighted {
					w = float64(float32(0.1 + random.ExpFloat64()))
				}
				a[i][j], a[j][i] = w, w
			}
		}
	}
	adj := toDense(a).Sparse()
	if !weighted {
		adj.Data = nil
	}
	x := zeros(n, d)
	for i := range x {
		for j := range x[i] {
			if random.Float64() < 0.5 {
				x[i][j] = float64(float32(random.NormFloat64()))
			}
		}
	}
	g := &graph.Graph{Name: "small", Adj: adj, X: toDense(x), Classes: classes}
	if sparse {
		g.X = toDense(x).Sparse()
	}
	for i := range n {
		g.Y = append(g.Y, int32(i%classes))
		switch {
		case i%2 == 1 || i == n-1:
			g.Split.Train = append(g.Split.Train, int32(i))
		case i%4 == 0:
			g.Split.Val = append(g.Split.Val, int32(i))
		default:
			g.Split.Test = append(g.Split.Test, int32(i))
		}
	}
	return g, a
}

func toDense(a dense) *mat.Dense {
	m := mat.NewDense(len(a), len(a[0]))
	for i := range a {
		for j, v := range a[i] {
			m.Row(i)[j] = float32(v)
		}
	}
	return m
}

func fromMatrix(x mat.Matrix) dense {
	m, ok := x.(*mat.Dense)
	if !ok {
		m = x.(*mat.CSR).Dense()
	}
	a := zeros(m.Rows, m.Cols)
	for i := range a {
		for j, v := range m.Row(i) {
			a[i][j] = float64(v)
		}
	}
	return a
}

func pickRows(a dense, rows []int32) dense {
	b := make(dense, len(rows))
	for i, r := range rows {
		b[i] = a[r]
	}
	return b
}

func wantClose(t *testing.T, what string, got *mat.Dense, want dense, tolerance float64) {
	t.Helper()
	if got.Rows != len(want) || got.Cols != len(want[0]) {
		t.Fatalf("%s is %d×%d, want %d×%d", what, got.Rows, got.Cols, len(want), len(want[0]))
	}
	for i := range want {
		for j, w := range want[i] {
			if g := float64(got.Row(i)[j]); !(math.Abs(g-w) <= tolerance*math.Max(1, math.Abs(w))) {
				t.Fatalf("%s (%d,%d) = %v, want %v", what, i, j, g, w)
			}
		}
	}
}

func TestPropagationEqualsReference(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 0))
	for _, weighted := range []bool{false, true} {
		for _, sparse := range []bool{false, true} {
			g, a := smallGraph(40, 7, 3, weighted, sparse, random)
			for hops := range 5 {
				for _, c := range []struct {
					p    propagate.Propagation
					by   dense
					beta float64
				}{
					{propagate.Propagation{Rule: propagate.SGC, Hops: hops}, refNormalize(a), 0},
					{propagate.Propagation{Rule: propagate.SAGE, Hops: hops}, refMean(a), 0},
					{propagate.Propagation{Rule: propagate.PPR, Hops: hops, Teleport: 0.1}, refNormalize(a), 0.1},
				} {
					name := fmt.Sprintf("%s, %d hops, weighted %v, sparse %v", c.p.Rule, hops, weighted, sparse)
					want := refPropagate(c.by, fromMatrix(g.X), hops, c.beta)
					rows := []int32{3, 17, 4, 39} // few rows, unordered, one isolated, to test the frontier
					for _, rows := range [][]int32{rows, g.Split.Train} {
						for _, engine := range []propagate.Engine{propagate.Plain{}, blocked.Engine{}} {
							h := mattest.Must(propagate.Run(t.Context(), engine, c.p, propagate.Input{Adj: g.Adj, X: g.X, Rows: rows}))
							for l := range h {
								what := fmt.Sprintf("%s, %T: H(%d)", name, engine, l)
								wantClose(t, what, h[l].Dense(), pickRows(want[l], rows), float32Error)
							}
						}
					}
				}
			}
		}
	}
}

func TestAssessmentEqualsReference(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 0))
	for _, shape := range []struct{ n, d int }{{60, 5}, {20, 33}, {16, 16}} { // more nodes than features, fewer, equal
		g, a := smallGraph(shape.n, shape.d, 3, false, false, random)
		p, in := propagate.Propagation{Rule: propagate.SGC, Hops: 2}, propagate.Input{Adj: g.Adj, X: g.X, Rows: g.Split.Train}
		h := mattest.Must(propagate.Plain{}.Embeddings(t.Context(), p, in))
		y := g.Labels(g.Split.Train)
		got := mattest.Must(assess.Fit(t.Context(), h, y, g.Classes))
		got.Judge(h, y)
		var want []dense
		for _, hop := range refPropagate(refNormalize(a), fromMatrix(g.X), 2, 0) {
			want = append(want, pickRows(hop, g.Split.Train))
		}
		labels := ints(y)
		w := refClassifier(want, labels, g.Classes, 1e-9)
		wantClose(t, "W", got.W, w, 1e-3) // condition numbers reach several hundred, and normal equations square them
		var predicted []int
		for l := range want {
			var r []float64
			// Judge with the library's own W, so that ties in the argmax are broken the same way.
			r, predicted = refJudge(want[l], fromMatrix(got.W), labels)
			for i := range r {
				mattest.Near(t, float64(got.Confidence[l][i]), r[i], float32Error, "confidence of H(%d) row %d =", l, i)
			}
		}
		for c, e := range refClassErrors(predicted, labels, g.Classes) {
			mattest.Near(t, got.Error[c], e, 1e-12, "error of class %d is", c)
		}
	}
}

func ints(y []int32) []int {
	out := make([]int, len(y))
	for i, v := range y {
		out[i] = int(v)
	}
	return out
}

// A matrix without full rank has many least-squares solutions. The pseudo-inverse gives the solution of smallest norm.
func TestLeastSquaresIsTheMinimumNormSolution(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 0))
	for _, shape := range []struct{ n, d, rank int }{{50, 12, 5}, {12, 50, 5}, {30, 30, 7}, {50, 12, 12}, {12, 50, 12}} {
		product := refMul(gaussian(shape.n, shape.rank, random), gaussian(shape.rank, shape.d, random))
		m := toDense(product)
		y := make([]int32, shape.n)
		for i := range y {
			y[i] = int32(i % 4)
		}
		fitted := mattest.Must(assess.LeastSquares(t.Context(), []mat.View{m.View()}, y, 4))
		w, rank := fitted.W, fitted.Rank
		if rank != shape.rank {
			t.Errorf("rank %d of a %d×%d matrix of rank %d", rank, shape.n, shape.d, shape.rank)
		}
		name := fmt.Sprintf("W of a %d×%d matrix of rank %d", shape.n, shape.d, shape.rank)
		wantClose(t, name, w, refClassifier([]dense{fromMatrix(m)}, ints(y), 4, 1e-5), 1e-3)
		// The residual is orthogonal to the columns: Tᵀ(Y − TW) = 0.
		residual := refSub(oneHotRows(ints(y), 4), refMul(fromMatrix(m), fromMatrix(w)))
		for j, row := range refMul(refT(fromMatrix(m)), residual) {
			for c, v := range row {
				if math.Abs(v) > 1e-3*math.Sqrt(square(fromMatrix(m))) {
					t.Errorf("%s: column %d, class %d: Tᵀ(Y−TW) = %v", name, j, c, v)
				}
			}
		}
	}
	zero, err := assess.LeastSquares(t.Context(), []mat.View{mat.NewDense(5, 3).View()}, make([]int32, 5), 2)
	if err != nil || slices.ContainsFunc(zero.W.Data, func(v float32) bool { return v != 0 }) {
		t.Errorf("W of zeros is %v, error %v; want zeros", zero.W, err)
	}
}

func TestGenerationEqualsReference(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 0))
	for _, threshold := range []float64{-1, 0, 0.3, 0.6, 0.9, 1} {
		h := gaussian(25, 4, random)
		m := toDense(h)
		a, used, err := generate.Adjacency(t.Context(), m, threshold, 0)
		mattest.OK(t, err)
		mattest.OK(t, a.Validate(t.Context()))
		if used != threshold {
			t.Errorf("threshold %v became %v without a bound on the degree", threshold, used)
		}
		reference := refAdjacency(h, threshold)
		wantClose(t, fmt.Sprintf("A′ at %v", threshold), a.Dense(), reference, 0)
		for hops := range 4 {
			for _, alpha := range []float64{0.3, 1, 3} {
				name := fmt.Sprintf("X′ at T=%v, K=%d, α=%v", threshold, hops, alpha)
				x := mattest.First(generate.Solve(t.Context(), a, m, hops, alpha))
				wantClose(t, name, x, refFeatures(reference, h, hops, alpha), 1e-4) // float32 in and out of a float64 solve
			}
		}
	}
}

// A degree limit raises the threshold no more than necessary.
func TestAdjacencyKeepsTheMostSimilar(t *testing.T) {
	h := gaussian(30, 4, rand.New(rand.NewPCG(16, 0)))
	m := toDense(h)
	copy(m.Row(7), m.Row(3)) // nodes 3 and 7 are equally similar to all others: ties
	copy(h[7], h[3])
	for _, degree := range []float64{0.01, 0.5, 1, 2, 5, 100} {
		a, used, err := generate.Adjacency(t.Context(), m, 0.2, degree)
		mattest.OK(t, err)
		most := int(degree * 30 / 2)
		exact := used
		if used > 0.2 {
			exact += 1e-6 // cosines are float32; pairs at the threshold must not count
		}
		wantClose(t, fmt.Sprintf("A′ of mean degree %v", degree), a.Dense(), refAdjacency(fromMatrix(m), exact), 0)
		if edges := a.NNZ() / 2; edges > most {
			t.Errorf("degree %v: %d edges, want at most %d", degree, edges, most)
		}
		if used > 0.2 { // a slightly lower threshold gives too many edges
			below := refAdjacency(fromMatrix(m), used-1e-6)
			if edges := int(square(below)) / 2; edges <= most {
				t.Errorf("degree %v: threshold %v, but %d edges of at most %d are above %v", degree, used, edges, most, used-1e-6)
			}
		}
	}
}

// Proposition 4: X′ minimises the loss of eq. 17. No random step away from it lowers the loss.
func TestFeaturesMinimiseTheLoss(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 0))
	h := gaussian(20, 3, random)
	a := mattest.First(generate.Adjacency(t.Context(), toDense(h), 0.5, 0))
	const hops, alpha = 2, 0.7
	x := mattest.First(generate.Solve(t.Context(), a, toDense(h), hops, alpha))
	reference := fromMatrix(a.Dense())
	loss := func(x dense) float64 {
		propagated := refPropagate(refNormalize(reference), x, hops, 0)[hops]
		smooth := 0.0 // tr(XᵀL′X) = ½ Σ_ij A′_ij ‖x_i − x_j‖²
		for i := range reference {
			for j, w := range reference[i] {
				smooth += w / 2 * square(refSub(x[i:i+1], x[j:j+1]))
			}
		}
		return square(refSub(propagated, h)) + alpha*smooth
	}
	best := loss(fromMatrix(x))
	for range 200 {
		other := refSub(fromMatrix(x), refScale(0.01, gaussian(20, 3, random)))
		if l := loss(other); l < best-1e-6*best { // x is rounded to float32
			t.Fatalf("loss %v beside the solution, %v at it", l, best)
		}
	}
}

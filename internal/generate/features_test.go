package generate_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/graph-condensation/cgc/internal/generate"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// twins returns an adjacency of n nodes, with each pair joined with the given probability, followed by a copy of each
// node. A copy is joined to its node and to the node's neighbours. Rows of A′+I repeat, so Q is singular.
func twins(n int, probability float64, random *rand.Rand) *mat.CSR {
	a := mat.NewDense(2*n, 2*n)
	for i := range n {
		for j := range i + 1 {
			if i == j || random.Float64() < probability {
				for _, e := range [][2]int{{i, j}, {i + n, j}, {i, j + n}, {i + n, j + n}} {
					a.Row(e[0])[e[1]], a.Row(e[1])[e[0]] = 1, 1
				}
			}
		}
	}
	for i := range 2 * n {
		a.Row(i)[i] = 0
	}
	return a.Sparse()
}

// pseudo returns Q⁺H′ for Q = Â′ᴷ in float64, from the eigenvectors of Â′.
func pseudo(a *mat.CSR, h *mat.Dense, hops int) (x *gonum.Dense, rank int) {
	n := a.Rows
	normal, degree := gonum.NewSymDense(n, nil), make([]float64, n)
	for i := range n {
		degree[i] = 1
		for _, w := range a.Row(i) {
			degree[i] += float64(w)
		}
	}
	for i := range n {
		normal.SetSym(i, i, 1/degree[i])
		for j, w := range a.Row(i) {
			normal.SetSym(i, j, float64(w)/math.Sqrt(degree[i]*degree[j]))
		}
	}
	var e gonum.EigenSym
	e.Factorize(normal, true)
	var q gonum.Dense
	e.VectorsTo(&q)
	inverse := gonum.NewDiagDense(n, nil)
	for i, v := range e.Values(nil) {
		if math.Abs(math.Pow(v, float64(hops))) > 1e-4 {
			inverse.SetDiag(i, math.Pow(v, -float64(hops)))
			rank++
		}
	}
	x = new(gonum.Dense)
	x.Product(&q, inverse, q.T(), gonum.NewDense(n, h.Cols, mattest.Wide(h)))
	return x, rank
}

// With α = 0 and a singular Q, X′ is Q⁺H′: two nodes that are joined only to each other get the mean of their
// embeddings.
func TestFeaturesOfSingularSystems(t *testing.T) {
	random := rand.New(rand.NewPCG(51, 0))
	for _, c := range []struct {
		name string
		a    *mat.CSR
	}{
		{"a pair", twins(1, 0, random)},
		{"a clique", twins(4, 1, random)},
		{"twins", twins(30, 0.2, random)},
	} {
		h := clusters(c.a.Rows, 5, 3, random)
		for hops := 1; hops <= 2; hops++ {
			want, rank := pseudo(c.a, h, hops)
			if rank == c.a.Rows {
				t.Fatalf("%s: Q has full rank, the test wants a singular one", c.name)
			}
			x := mattest.First(generate.Solve(t.Context(), c.a, h, hops, 0))
			off := gonum.NewDense(x.Rows, x.Cols, mattest.Wide(x))
			off.Sub(off, want)
			// the smallest singular value that counts magnifies rounding errors about a thousand times
			if e := gonum.Norm(off, 2) / gonum.Norm(want, 2); e > 1e-3 {
				t.Errorf("%s, %d hops: X′ differs from Q⁺H′ by %g of it", c.name, hops, e)
			}
		}
	}
	pair := &mat.Dense{Rows: 2, Cols: 1, Data: []float32{1, 4}}
	x, _, err := generate.Solve(t.Context(), twins(1, 0, random), pair, 2, 0)
	if err != nil || math.Abs(float64(x.Data[0])-2.5) > 1e-6 || math.Abs(float64(x.Data[1])-2.5) > 1e-6 {
		t.Errorf("X′ of a pair is %v, %v; want the mean", x.Data, err)
	}
	// A clique with too many nodes for an eigendecomposition. Q projects onto constant vectors.
	clique := twins(325, 1, random)
	h := clusters(clique.Rows, 5, 3, random)
	x = mattest.First(generate.Solve(t.Context(), clique, h, 2, 0))
	for j := range h.Cols {
		mean := 0.0
		for i := range h.Rows {
			mean += float64(h.Row(i)[j]) / float64(h.Rows)
		}
		for i := range x.Rows {
			if v := float64(x.Row(i)[j]); math.Abs(v-mean) > 1e-3*math.Abs(mean) {
				t.Fatalf("X′ of a clique has %v in row %d, column %d, want the mean %v", v, i, j, mean)
			}
		}
	}
}

func TestFeaturesRefuse(t *testing.T) {
	random := rand.New(rand.NewPCG(52, 0))
	a, h := twins(3, 0.5, random), clusters(6, 2, 3, random)
	nan, inf := math.NaN(), math.Inf(1)
	with := func(v float64) *mat.Dense {
		bad := h.Clone()
		bad.Row(2)[1] = float32(v)
		return bad
	}
	for _, c := range []struct {
		h     *mat.Dense
		hops  int
		alpha float64
		says  string
	}{
		{h, -1, 1, "hops -1, must be at least 0"},
		{h, 0, -1, "alpha -1, must be a finite number of at least 0"},
		{h, 0, nan, "alpha NaN"},
		{h, 0, inf, "alpha +Inf"},
		{with(nan), 0, 1, "row 2 column 1 of H′ is NaN"},
		{with(-inf), 0, 1, "row 2 column 1 of H′ is -Inf"},
	} {
		_, _, err := generate.Solve(t.Context(), a, c.h, c.hops, c.alpha)
		mattest.WantError(t, err, c.says)
	}
	path := &mat.CSR{Rows: 3, Cols: 3, Indptr: []int64{0, 1, 3, 4}, Indices: []int32{1, 0, 2, 1}}
	// Q⁻¹ magnifies differences between neighbours
	far := &mat.Dense{Rows: 3, Cols: 1, Data: []float32{3e38, -3e38, 3e38}}
	_, _, err := generate.Solve(t.Context(), path, far, 2, 0)
	mattest.WantError(t, err, "of X′ is")
	ctx := mattest.Cancelled(t)
	for _, alpha := range []float64{0, 1} {
		_, _, err := generate.Solve(ctx, a, h, 1, alpha)
		mattest.WantIs(t, err, context.Canceled)
	}
}

func TestAdjacencyRefuses(t *testing.T) {
	h := clusters(6, 2, 3, rand.New(rand.NewPCG(53, 0)))
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		threshold, degree float64
		says              string
	}{{nan, 0, "threshold NaN"}, {0.5, -1, "degree -1"}, {0.5, nan, "degree NaN"}, {0.5, inf, "degree +Inf"}} {
		_, _, err := generate.Adjacency(t.Context(), h, c.threshold, c.degree)
		mattest.WantError(t, err, c.says)
	}
	bad := h.Clone()
	bad.Row(3)[0] = float32(nan)
	_, _, err := generate.Adjacency(t.Context(), bad, 0.5, 0)
	mattest.WantError(t, err, "row 3 column 0 of H′ is NaN")
	ctx := mattest.Cancelled(t)
	_, _, err = generate.Adjacency(ctx, h, 0.5, 0)
	mattest.WantIs(t, err, context.Canceled)
}

// Cosines do not depend on the norms of the rows, over the full range of float32.
func TestAdjacencyAtAnyScale(t *testing.T) {
	h := clusters(40, 6, 5, rand.New(rand.NewPCG(54, 0)))
	want := mattest.First(generate.Adjacency(t.Context(), h, 0.5, 0))
	if got := mattest.First(generate.Adjacency(t.Context(), h, 0.5, math.MaxFloat64)); got.NNZ() != want.NNZ() {
		t.Errorf("%d entries with the largest degree, %d without a limit", got.NNZ(), want.NNZ())
	}
	for _, factor := range []float32{1e-40, 1e-38, 1e19, 1e37} {
		scaled := h.Clone()
		for i := range scaled.Data {
			scaled.Data[i] *= factor
		}
		got := mattest.First(generate.Adjacency(t.Context(), scaled, 0.5, 0))
		if got.NNZ() != want.NNZ() || want.NNZ() == 0 {
			t.Errorf("rows ×%g: %d entries, want %d", factor, got.NNZ(), want.NNZ())
		}
	}
}

package assess_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/internal/assess"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// hops returns embeddings of n nodes and their classes. The first features separate the classes weakly. The first
// embeddings are rows of a larger matrix.
func hops(n, d, classes, count int, random *rand.Rand) (h []mat.View, y []int32) {
	for i := range n {
		y = append(y, int32(i*i%classes))
	}
	for range count {
		m := mattest.Normal(n, d, random)
		for i := range n {
			m.Row(i)[int(y[i])%d] += 2
		}
		h = append(h, m.View())
	}
	all, rows := mat.NewDense(2*n, d), make([]int32, n)
	for i, row := range random.Perm(2 * n)[:n] {
		rows[i] = int32(row)
		copy(all.Row(row), h[0].Row(i))
	}
	h[0] = all.Select(rows)
	return h, y
}

// The classifier of several hops equals the classifier of their mean, with more rows than columns and with fewer.
func TestAssessFitsTheMean(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for _, shape := range [][2]int{{700, 20}, {15, 20}} {
		h, y := hops(shape[0], shape[1], 5, 4, random)
		mean := mat.NewDense(shape[0], shape[1])
		for _, m := range h {
			for i, v := range m.Dense().Data {
				mean.Data[i] += v / 4 // exact except for the additions
			}
		}
		want := mattest.Must(assess.LeastSquares(t.Context(), []mat.View{mean.View()}, y, 5))
		got := fit(t, h, y, 5)
		mattest.Equal(t, got.Rank, want.Rank, "%v: rank", shape)
		for i, v := range want.W.Data {
			// rounding of a sum of four in another order, times a condition number of about 10
			if math.Abs(float64(got.W.Data[i]-v)) > 1e-5 {
				t.Fatalf("%v: weight %d is %v, want %v", shape, i, got.W.Data[i], v)
			}
		}
	}
}

// Fit evaluates the last hop, and Judge the others.
func TestJudgeCompletesFit(t *testing.T) {
	h, y := hops(300, 9, 4, 3, rand.New(rand.NewPCG(5, 0)))
	a := mattest.Must(assess.Fit(t.Context(), h, y, 4))
	of := func(hop int) []float32 {
		alone := assess.Assessment{Classifier: a.Classifier, Confidence: make([][]float32, 1)}
		alone.Judge(h[hop:hop+1], y)
		return alone.Confidence[0]
	}
	mattest.Equal(t, a.Confidence, [][]float32{nil, nil, of(2)}, "confidence before Judge")
	a.Judge(h, y)
	mattest.Equal(t, a.Confidence, [][]float32{of(0), of(1), of(2)}, "confidence after Judge")
}

// The residual of least squares is orthogonal to the columns of T: TᵀTW = TᵀY.
func TestResidualIsOrthogonal(t *testing.T) {
	h, y := hops(5000, 30, 7, 1, rand.New(rand.NewPCG(2, 0)))
	fitted := mattest.Must(assess.LeastSquares(t.Context(), h, y, 7))
	var fit, along mat.Dense
	mat.Mul(&fit, h[0].Dense(), fitted.W)
	for i, c := range y {
		fit.Row(i)[c]--
	}
	mat.MulTA(&along, h[0].Dense(), &fit)
	for i, v := range along.Data {
		if math.Abs(float64(v)) > 0.02 { // sums of 5000 products near 1 in float32; without the fit they are near 1000
			t.Fatalf("component %d of Tᵀ(TW−Y) = %v", i, v)
		}
	}
}

func TestAssessIgnoresThreads(t *testing.T) {
	h, y := hops(9000, 40, 6, 3, rand.New(rand.NewPCG(3, 0)))
	mattest.IgnoresThreads(t, func() assess.Assessment { return fit(t, h, y, 6) })
}

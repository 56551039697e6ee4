package assess_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/assess"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// shapes lists a case with more nodes than features, and one with fewer.
var shapes = [][2]int{{300, 20}, {15, 40}}

// scaled returns a copy of h with feature j multiplied by factor(j).
func scaled(h []mat.View, factor func(j int) float32) (all []mat.View) {
	for _, v := range h {
		m := v.Dense().Clone()
		for i := range m.Rows {
			for j := range m.Row(i) {
				m.Row(i)[j] *= factor(j)
			}
		}
		all = append(all, m.View())
	}
	return all
}

func fit(t *testing.T, h []mat.View, y []int32, classes int) assess.Assessment {
	t.Helper()
	a := mattest.Must(assess.Fit(t.Context(), h, y, classes))
	a.Judge(h, y)
	return a
}

// Multiplying all features by a factor divides the classifier by that factor. At 1e19 squares overflow, at 1e-25 they
// underflow, and at 1e38 sums of hops overflow.
func TestFitAtAnyScale(t *testing.T) {
	for _, shape := range shapes {
		h, y := hops(shape[0], shape[1], 4, 3, rand.New(rand.NewPCG(41, 0)))
		want := fit(t, h, y, 4)
		if want.Warning() != "" || want.Condition < 1 || want.Condition > 100 || want.Scales < 1 || want.Scales > 5 {
			t.Errorf("%v: condition %g, scales %g, warning %q", shape, want.Condition, want.Scales, want.Warning())
		}
		for _, exponent := range []int{62, 64, 100, 124, -60, -80, -110} {
			factor := float32(math.Ldexp(1, exponent))
			got := fit(t, scaled(h, func(int) float32 { return factor }), y, 4)
			if got.Rank != want.Rank || math.Abs(got.Accuracy-want.Accuracy) > 0.02 || !slices.Equal(got.Error, want.Error) {
				t.Errorf("%v, features of 2^%d: rank %d, accuracy %v, errors %v; want %d, %v, %v",
					shape, exponent, got.Rank, got.Accuracy, got.Error, want.Rank, want.Accuracy, want.Error)
			}
			for i, v := range want.W.Data {
				if w := float64(got.W.Data[i]) * float64(factor); math.Abs(w-float64(v)) > 1e-4 { // float32 sums in another order
					t.Fatalf("%v, features of 2^%d: weight %d is %v after scaling back, want %v", shape, exponent, i, w, v)
				}
			}
		}
	}
}

// One feature in other units changes neither the rank nor the training accuracy, and the warning names a remedy.
func TestFitWithOneLargeFeature(t *testing.T) {
	for _, shape := range shapes {
		h, y := hops(shape[0], shape[1], 4, 3, rand.New(rand.NewPCG(42, 0)))
		want := fit(t, h, y, 4)
		for _, factor := range []float32{1, 1e4, 1e12, 1e25} {
			got := fit(t, scaled(h, func(j int) float32 {
				if j == 3 {
					return factor
				}
				return 1
			}), y, 4)
			if got.Rank != want.Rank || got.Accuracy < want.Accuracy-0.07 {
				t.Errorf("%v, one feature ×%g: rank %d, accuracy %v; want %d, %v",
					shape, factor, got.Rank, got.Accuracy, want.Rank, want.Accuracy)
			}
			if large := factor > 1; large != strings.Contains(got.Warning(), "--standardize") || large != (got.Scales > 1e3) {
				t.Errorf("%v, one feature ×%g: scales %g, warning %q", shape, factor, got.Scales, got.Warning())
			}
		}
	}
}

// Features that are all large or all small cause a warning with their norm, however the classifier was computed.
func TestFitNotesTheNorm(t *testing.T) {
	for _, shape := range shapes {
		one, y := hops(shape[0], shape[1], 4, 1, rand.New(rand.NewPCG(45, 0)))
		h := []mat.View{one[0], one[0]}
		square := 0.0
		for i := range shape[0] {
			for _, v := range h[0].Row(i) {
				square += float64(v) * float64(v)
			}
		}
		norm := math.Sqrt(square / float64(shape[0]))
		for _, factor := range []float32{1e-20, 1e-5, 1, 1e3, 1e25} {
			got := fit(t, scaled(h, func(int) float32 { return factor }), y, 4)
			want := norm * float64(factor)
			mattest.Near(t, got.Norm, want, 1e-5*want, "%v, features ×%g: norm", shape, factor)
			if want := map[bool]string{true: "as large as", false: "as small as"}[factor > 1]; factor != 1 &&
				!strings.Contains(got.Warning(), want) || factor == 1 && got.Warning() != "" {
				t.Errorf("%v, features ×%g: warning %q", shape, factor, got.Warning())
			}
		}
	}
}

// With too many features for an eigendecomposition, half of them copies of the others, T⁺Y gives copies equal weights.
func TestFitOfManyDependentFeatures(t *testing.T) {
	const n, d, classes = 1500, 400, 3
	h, y := hops(n, d, classes, 1, rand.New(rand.NewPCG(43, 0)))
	single := fit(t, h, y, classes)
	twice := mat.NewDense(n, 2*d)
	for i := range n {
		copy(twice.Row(i), h[0].Row(i))
		copy(twice.Row(i)[d:], h[0].Row(i))
	}
	got := fit(t, []mat.View{twice.View()}, y, classes)
	mattest.Equal(t, got.Rank, d, "rank")
	for i, v := range single.W.Data {
		for _, w := range []float32{got.W.Data[i], got.W.Data[i+d*classes]} {
			if math.Abs(float64(2*w-v)) > 1e-5 {
				t.Fatalf("weight %d is %v, want half of %v", i, w, v)
			}
		}
	}
}

func TestFitRefuses(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, shape := range shapes {
		for bad, says := range map[float32]string{inf: "feature 7 of training node 5 is +Inf in hop 1", -inf: "-Inf in hop 1",
			nan: "NaN in hop 1"} {
			h, y := hops(shape[0], shape[1], 4, 3, rand.New(rand.NewPCG(44, 0)))
			h[1].Row(5)[7] = bad
			mattest.Fails(t, says)(assess.Fit(t.Context(), h, y, 4))
		}
		h, y := hops(shape[0], shape[1], 4, 3, rand.New(rand.NewPCG(44, 0)))
		faint := scaled(h, func(int) float32 { return 1e-44 })
		mattest.Fails(t, "scale the features")(assess.Fit(t.Context(), faint, y, 4))
		ctx := mattest.Cancelled(t)
		if _, err := assess.Fit(ctx, h, y, 4); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: error %v after the end of the context", shape, err)
		}
	}
	none, err := assess.LeastSquares(t.Context(), []mat.View{mat.NewDense(30, 0).View()}, make([]int32, 30), 20)
	if err != nil || none.Rank != 0 || none.Condition != 1 || none.Scales != 1 {
		t.Errorf("no features: %+v, error %v", none, err)
	}
	mattest.Fails(t, "0 training nodes")(assess.LeastSquares(t.Context(), []mat.View{mat.NewDense(0, 3).View()}, nil, 2))
}

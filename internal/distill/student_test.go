package distill

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// TestStudent compares both ways of solving with the definition: (HᵀH + λI)W = HᵀT, so that the outputs O = HW satisfy
// Hᵀ(T − O) = λW, and with λ > 0 only they do. W is found from the outputs for unit targets.
func TestStudent(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 3))
	for _, c := range []struct {
		n, d     int
		factored bool
	}{{40, 6, true}, {40, directColumns + 3, false}, {manyRows * (directColumns + 3), directColumns + 3, true}} {
		n, d := c.n, c.d
		h, targets := mattest.Normal(n, d, random), mattest.Normal(n, 3, random)
		var squares float64
		for _, v := range h.Data {
			squares += float64(v) * float64(v)
		}
		penalty := squares / float64(n)
		s := mattest.Must(newStudent(t.Context(), h))
		mattest.Equal(t, s.cholesky != nil, c.factored, "%d×%d: factored", n, d)
		outputs := new(mat.Dense)
		mattest.OK(t, s.outputs(t.Context(), outputs, targets))
		// W = Hᵀ(T − O)/λ, so O must be HHᵀ(T − O)/λ.
		left, back, again := targets.Clone(), new(mat.Dense), new(mat.Dense)
		for i, v := range outputs.Data {
			left.Data[i] -= v
		}
		mat.MulTA(back, h, left)
		mat.Mul(again, h, back)
		for i, v := range again.Data {
			// Conjugate gradients end at a relative residual of 1e-4.
			if want := float64(outputs.Data[i]); math.Abs(float64(v)/penalty-want) > 1e-3*(1+math.Abs(want)) {
				t.Fatalf("%d×%d: output %d is %v, its equation gives %v", n, d, i, want, float64(v)/penalty)
			}
		}
	}
}

// TestStudentOfZeros checks that embeddings without a single entry give outputs of 0.
func TestStudentOfZeros(t *testing.T) {
	s := mattest.Must(newStudent(t.Context(), mat.NewDense(3, 2)))
	targets := mat.NewDense(3, 2)
	targets.Data[0] = 1
	outputs := new(mat.Dense)
	mattest.OK(t, s.outputs(t.Context(), outputs, targets))
	for i, v := range outputs.Data {
		mattest.Equal(t, v, 0, "output %d is", i)
	}
}

// TestStudentOutOfRange checks that the error names the feature whose squares overflow. The teacher, which sees only
// training nodes, may not have found it.
func TestStudentOutOfRange(t *testing.T) {
	h := mat.NewDense(3, 2)
	h.Row(1)[1] = 1e20
	mattest.Fails(t, "squares of feature 1", "overflow")(newStudent(t.Context(), h))
}

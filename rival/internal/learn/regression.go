package learn

import (
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/mat"
)

// Regression is a softmax regression of c classes on d features, softmax(XW + b). Adam trains it.
type Regression struct {
	W, B *mat.Dense // d×c and 1×c

	steps *adam.Optimizer
	tape  *autodiff.Tape
}

// NewRegression returns a Regression whose parameters are 0. rate is the learning rate.
func NewRegression(features, classes int, rate float64) *Regression {
	w, b := mat.NewDense(features, classes), mat.NewDense(1, classes)
	return &Regression{W: w, B: b, steps: adam.New(rate, w, b), tape: autodiff.NewTape()}
}

// Restart draws W and b, and resets Adam.
func (r *Regression) Restart(src rand.Source) {
	DrawLayer(r.W, r.B, src)
	r.steps.Restart()
}

// Step takes one step along the gradient of the mean cross entropy of the rows x. The rows of y are their class
// distributions.
func (r *Regression) Step(x, y *mat.Dense) {
	t := r.tape
	t.Reset()
	w, b := t.Var(r.W), t.Var(r.B)
	r.steps.Step(Values(t.Grad(t.CrossEntropy(t.AddRow(t.MatMul(t.Var(x), w), b), t.Var(y)), w, b))...)
}

// DrawLayer draws the weights and the bias of a layer uniformly from ±1/√(number of inputs).
func DrawLayer(w, b *mat.Dense, src rand.Source) {
	Uniform(w, w.Rows, src)
	Uniform(b, w.Rows, src)
}

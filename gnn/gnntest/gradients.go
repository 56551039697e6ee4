package gnntest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

const (
	// step is the step of the finite differences. The truncation error is about step², and the rounding error 1e-7/step.
	step = 2e-3
	// The tolerance of a derivative is least + share·(the norm of the gradient).
	share, least = 0.02, 5e-4
	// points is the number of random points at which gradients are tested. A difference across a kink of ReLU is wrong.
	// With few units, a kink is rarely within a step, so the gradients must agree at the majority of points.
	points = 5
)

// function is a function of the operands of a point. It also returns the variables of the operands.
type function func(*autodiff.Tape, point) (value *autodiff.Var, wrt []*autodiff.Var)

// gradients compares the gradients of the loss f, and the gradients of ⟨∇f, r⟩ for a random r, with central
// differences. The differences are along the gradient itself and along random directions, in the parameters and X, and
// in A if it is a variable.
func gradients(t *testing.T, m gnn.Model) {
	for _, constant := range []bool{false, true} {
		once := func(tape *autodiff.Tape, p point) (*autodiff.Var, []*autodiff.Var) {
			return loss(tape, m, p, constant)
		}
		twice := func(tape *autodiff.Tape, p point) (*autodiff.Var, []*autodiff.Var) { return slope(tape, once, p) }
		for name, f := range map[string]function{"the loss": once, "the gradient": twice} {
			wrong, last := map[int]int{}, map[int]string{}
			for seed := range uint64(points) {
				p := at(m, 100+seed)
				for k := range p.operands() {
					if why := p.disagreement(f, k, seed); why != "" {
						wrong[k]++
						last[k] = why
					}
				}
			}
			for k, count := range wrong {
				operand := fmt.Sprintf("parameter %d", k-2)
				if k < 2 {
					operand = []string{"X", "A"}[k]
				}
				if 2*count >= points {
					t.Errorf("constant A %v: derivative of %s in %s is wrong at %d of %d points: %s",
						constant, name, operand, count, points, last[k])
				}
			}
		}
	}
}

// operands returns the matrices that the loss depends on: X, A and the parameters.
func (p point) operands() []*mat.Dense { return append([]*mat.Dense{p.x, p.a}, p.parameters...) }

// loss returns the cross entropy at p, and the variables of its operands. If constant is set, the graph is the constant
// p.rounded(), and the loss does not depend on p.a.
func loss(tape *autodiff.Tape, m gnn.Model, p point, constant bool) (*autodiff.Var, []*autodiff.Var) {
	x, a, parameters := tape.Var(p.x), tape.Var(p.a), p.variables(tape)
	in := gnn.VariableInput(a, x)
	if constant {
		fixed, err := gnn.NewInput(context.Background(), p.rounded(), p.x)
		if err != nil {
			panic(err) // p.rounded() is a valid adjacency
		}
		in = fixed.With(nil, x)
	}
	y := tape.CrossEntropy(m.Forward(tape, in, parameters), tape.Var(autodiff.OneHot(p.y, classes)))
	return y, append([]*autodiff.Var{x, a}, parameters...)
}

// rounded returns the unweighted graph nearest to p.
func (p point) rounded() *mat.CSR {
	q := p.copy()
	for i, w := range q.a.Data {
		q.a.Data[i] = float32(math.Round(float64(w)))
	}
	return q.adjacency()
}

// slope returns ⟨∇f, r⟩ for the gradient of f with respect to X, A and the parameters.
func slope(tape *autodiff.Tape, f function, p point) (*autodiff.Var, []*autodiff.Var) {
	y, wrt := f(tape, p)
	inner := tape.Var(mat.NewDense(1, 1))
	random := rand.New(rand.NewPCG(7, 7))
	for _, g := range tape.Grad(y, wrt...) {
		inner = tape.Add(inner, tape.Sum(tape.Mul(g, tape.Var(mattest.Normal(g.Value.Rows, g.Value.Cols, random)))))
	}
	return inner, wrt
}

// disagreement checks the gradient of f with respect to operand k by finite differences. It describes a mismatch, or
// returns an empty string.
func (p point) disagreement(f function, k int, seed uint64) string {
	tape := autodiff.NewTape()
	y, wrt := f(tape, p)
	g := tape.Grad(y, wrt[k])[0].Value.Clone()
	norm := length(g)
	random := rand.New(rand.NewPCG(seed, uint64(k)))
	directions := []*mat.Dense{g, mattest.Normal(g.Rows, g.Cols, random), mattest.Normal(g.Rows, g.Cols, random)}
	for _, d := range directions {
		unit := d.Clone()
		along := length(d)
		if along == 0 {
			continue
		}
		var want float64
		for i, v := range d.Data {
			unit.Data[i] = float32(float64(v) / along)
			want += float64(g.Data[i]) * float64(v) / along
		}
		value := func(by float32) float64 {
			q := p.copy()
			for i, v := range unit.Data {
				q.operands()[k].Data[i] += by * v
			}
			tape := autodiff.NewTape()
			y, _ := f(tape, q)
			return float64(y.Value.Data[0])
		}
		got := (value(step) - value(-step)) / (2 * step)
		if !(math.Abs(got-want) <= least+share*norm) {
			return fmt.Sprintf("%v by differences, %v on the tape, of a gradient of norm %v", got, want, norm)
		}
	}
	return ""
}

func length(m *mat.Dense) float64 {
	var sum float64
	for _, v := range m.Data {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

package learn

import (
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Adam changes matrices along their gradients (Kingma and Ba 2015; β 0.9 and 0.999, ε 10⁻⁸, no decay).
type Adam struct {
	// Rate is the step size.
	Rate float64

	parameters, first, second []*mat.Dense
	steps                     *mat.Dense // 1×1, so that a checkpoint holds it; exact up to 2²⁴
}

// NewAdam returns Adam for the parameters, with no step done.
func NewAdam(rate float64, parameters ...*mat.Dense) *Adam {
	a := &Adam{Rate: rate, parameters: parameters, steps: mat.NewDense(1, 1)}
	for _, p := range parameters {
		a.first = append(a.first, mat.NewDense(p.Dims()))
		a.second = append(a.second, mat.NewDense(p.Dims()))
	}
	return a
}

// Step changes each parameter by one step along its gradient. Gradients beyond those of the parameters are not used.
func (a *Adam) Step(gradients ...*mat.Dense) {
	a.steps.Data[0]++
	for i, p := range a.parameters {
		s := adamStep{p.Data, gradients[i].Data, a.first[i].Data, a.second[i].Data, a.Rate, int(a.steps.Data[0])}
		adamSteps.For(len(p.Data), 1<<14, s, func(s *adamStep, lo, hi int) {
			parameters := kernel.Adam{Rate: s.rate, B1: 0.9, B2: 0.999, Epsilon: 1e-8, Step: s.step}
			kernel.AdamStep(s.w[lo:hi], s.g[lo:hi], s.m[lo:hi], s.v[lo:hi], parameters)
		})
	}
}

type adamStep struct {
	w, g, m, v []float32
	rate       float64
	step       int
}

var adamSteps parallel.Loop[adamStep]

// Restart forgets all steps. The parameters stay.
func (a *Adam) Restart() {
	a.steps.Data[0] = 0
	for i := range a.parameters {
		clear(a.first[i].Data)
		clear(a.second[i].Data)
	}
}

// State returns the parameters and the moments: all that a step changes.
func (a *Adam) State() []*mat.Dense {
	state := append([]*mat.Dense{a.steps}, a.parameters...)
	return append(append(state, a.first...), a.second...)
}

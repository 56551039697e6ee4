// Package adam is the optimizer Adam (Kingma and Ba 2015) with β 0.9 and 0.999, and ε 10⁻⁸.
package adam

import (
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Optimizer updates matrices, given their gradients.
type Optimizer struct {
	// Rate is the learning rate. Decay times a parameter is added to its gradient.
	Rate, Decay float64

	parameters, first, second []*mat.Dense
	steps                     *mat.Dense // 1×1, so that a checkpoint can store it; exact up to 2²⁴
}

// New returns an Optimizer of the parameters without decay.
func New(rate float64, parameters ...*mat.Dense) *Optimizer {
	o := &Optimizer{Rate: rate, parameters: parameters, steps: mat.NewDense(1, 1)}
	for _, p := range parameters {
		o.first = append(o.first, mat.NewDense(p.Dims()))
		o.second = append(o.second, mat.NewDense(p.Dims()))
	}
	return o
}

// Step moves each parameter one step against its gradient. It ignores gradients after the last parameter.
func (o *Optimizer) Step(gradients ...*mat.Dense) {
	o.steps.Data[0]++
	k := kernel.Adam{
		Rate: o.Rate, B1: 0.9, B2: 0.999, Epsilon: 1e-8, Decay: o.Decay, Step: int(o.steps.Data[0]),
	}
	for i, p := range o.parameters {
		s := step{p.Data, gradients[i].Data, o.first[i].Data, o.second[i].Data, k}
		steps.For(len(p.Data), 1<<14, s, func(s *step, lo, hi int) {
			kernel.AdamStep(s.w[lo:hi], s.g[lo:hi], s.m[lo:hi], s.v[lo:hi], s.kernel)
		})
	}
}

// step updates one parameter w, given its gradient g and the moments m and v.
type step struct {
	w, g, m, v []float32
	kernel     kernel.Adam
}

var steps parallel.Loop[step]

// Restart forgets all steps, but keeps the parameters.
func (o *Optimizer) Restart() {
	o.steps.Data[0] = 0
	for i := range o.parameters {
		clear(o.first[i].Data)
		clear(o.second[i].Data)
	}
}

// State returns everything that a step changes: the number of steps, the parameters and their moments.
func (o *Optimizer) State() []*mat.Dense {
	state := append([]*mat.Dense{o.steps}, o.parameters...)
	return append(append(state, o.first...), o.second...)
}

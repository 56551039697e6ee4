package trajectory

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// student is the common part of the learners: it draws an expert and differentiates through a training towards it.
type student struct {
	Matching
	store         *store
	unroll        unroll
	start, target weights
}

func newStudent(m Matching, s *learn.Start, r *resources) *student {
	c := len(s.Budget)
	return &student{
		Matching: m, store: r.store, unroll: unroll{relu: true, steps: m.Steps, stretch: r.stretch},
		start: newWeights(s.X.Cols, m.Hidden, c), target: newWeights(s.X.Cols, m.Hidden, c),
	}
}

// pace is the step size of students. It is learnt by gradient descent with momentum 0.5.
type pace struct {
	by    float64
	state *mat.Dense // 1×2: the step size and its velocity
}

func newPace(rate, by float64) *pace {
	return &pace{by, &mat.Dense{Rows: 1, Cols: 2, Data: []float32{float32(rate), 0}}}
}

func (p *pace) rate() float64 { return float64(p.state.Data[0]) }

// step updates the rate along its gradient. It skips updates that would make the rate 0 or negative.
func (p *pace) step(gradient float64) {
	const momentum = 0.5
	velocity := momentum*float64(p.state.Data[1]) + gradient
	if next := p.rate() - p.by*velocity; next > 0 {
		p.state.Data[0], p.state.Data[1] = float32(next), float32(velocity)
	}
}

// free is the Learner of SFGC.
type free struct {
	*student
	x, y     *mat.Dense
	features *adam.Optimizer
	pace     *pace
}

// Epoch trains one student along the trajectory of one expert.
func (l *free) Epoch(ctx context.Context, _ int, src rand.Source) (loss float64, err error) {
	random := rand.New(src)
	if _, err := l.draw(l.store, random, random.IntN(l.starts()), l.start, l.target); err != nil {
		return 0, err
	}
	loss, dx, _, drate, err := l.unroll.match(ctx, l.x, l.y, l.start, l.target, l.pace.rate())
	if err != nil {
		return 0, err
	}
	l.features.Step(dx)
	l.pace.step(drate)
	return loss, nil
}

// Result returns X′. A′ is nil.
func (l *free) Result() (x, a *mat.Dense) { return l.x, nil }

// State implements Learner.State.
func (l *free) State() []*mat.Dense { return append(l.features.State(), l.pace.state) }

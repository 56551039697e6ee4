package trajectory

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/learn"
)

// student draws an expert and follows it.
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

// pace is the step size of students, which is learnt by gradient descent with momentum 0.5.
type pace struct {
	by    float64
	state *mat.Dense // 1×2: the step size, and its velocity
}

func newPace(rate, by float64) *pace {
	return &pace{by, &mat.Dense{Rows: 1, Cols: 2, Data: []float32{float32(rate), 0}}}
}

func (p *pace) rate() float64 { return float64(p.state.Data[0]) }

// step changes the rate along its gradient. It stays above 0: a step that would lead below is left out.
func (p *pace) step(gradient float64) {
	const momentum = 0.5
	velocity := momentum*float64(p.state.Data[1]) + gradient
	if next := p.rate() - p.by*velocity; next > 0 {
		p.state.Data[0], p.state.Data[1] = float32(next), float32(velocity)
	}
}

// free is the Learner of SFGC: X′ without A′.
type free struct {
	*student
	x, y     *mat.Dense
	features *learn.Adam
	pace     *pace
}

// Epoch lets one student follow one expert.
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

// Result returns X′. There is no A′.
func (l *free) Result() (x, a *mat.Dense) { return l.x, nil }

// State lists what an epoch leaves.
func (l *free) State() []*mat.Dense { return append(l.features.State(), l.pace.state) }

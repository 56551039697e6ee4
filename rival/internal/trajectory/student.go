package trajectory

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// student is the common part of the learners: it draws an expert and differentiates through a training run towards it.
type student struct {
	Matching
	x        *mat.Dense
	features *adam.Optimizer

	store         *store
	unroll        unroll
	start, target learn.Weights
}

// newStudent returns a student that learns X′ from s.X.
func (m Matching) newStudent(s *learn.Start, from *store, stretch int) *student {
	c := len(s.Budget)
	return &student{
		Matching: m, x: s.X, features: adam.New(m.FeatureRate, s.X), store: from,
		unroll: unroll{relu: true, steps: m.Steps, stretch: stretch},
		start:  learn.NewWeights(s.X.Cols, m.Hidden, c), target: learn.NewWeights(s.X.Cols, m.Hidden, c),
	}
}

// free is the Learner of SFGC.
type free struct {
	*student
	y *mat.Dense
	// pace holds the step size of students and its velocity, 1×2. The step size is learnt by gradient descent with
	// momentum 0.5 and the learning rate learnRate.
	pace      *mat.Dense
	learnRate float64
}

func newFree(s *student, y *mat.Dense, learnRate float64) *free {
	pace := &mat.Dense{Rows: 1, Cols: 2, Data: []float32{float32(s.StudentRate), 0}}
	return &free{student: s, y: y, pace: pace, learnRate: learnRate}
}

// match trains one student from the start with the given index towards its target, and updates the step size. It
// returns the expert's index, the distance, and its gradients with respect to X′ and Y′.
func (l *free) match(ctx context.Context, random *rand.Rand, place int) (
	expert int, loss float64, dx, dy *mat.Dense, err error,
) {
	expert = l.draw(l.store, random, place, l.start, l.target)
	rate := float64(l.pace.Data[0])
	loss, dx, dy, drate, err := l.unroll.match(ctx, l.x, l.y, l.start, l.target, rate)
	if err != nil {
		return 0, 0, nil, nil, err
	}
	const momentum = 0.5
	velocity := momentum*float64(l.pace.Data[1]) + drate
	if next := rate - l.learnRate*velocity; next > 0 { // skip updates that would make the rate 0 or negative
		l.pace.Data[0], l.pace.Data[1] = float32(next), float32(velocity)
	}
	return expert, loss, dx, dy, nil
}

// Epoch trains one student along the trajectory of one expert.
func (l *free) Epoch(ctx context.Context, _ int, src rand.Source) (loss float64, err error) {
	random := rand.New(src)
	_, loss, dx, _, err := l.match(ctx, random, random.IntN(l.starts()))
	if err != nil {
		return 0, err
	}
	l.features.Step(dx)
	return loss, nil
}

// Result implements learn.Learner.
func (l *free) Result() learn.Iterate { return learn.Iterate{X: l.x} }

// State implements learn.Learner.
func (l *free) State() []*mat.Dense { return append(l.features.State(), l.pace) }

package learn_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// spoiler is a method whose first epoch gives the best iterate: each epoch adds more noise to X′.
type spoiler struct{ learn.Choice }

func (spoiler) Name() string { return "spoiler" }

func (spoiler) Check(g *graph.Graph, nodes int) error { return rival.Check(g, nodes) }

func (m spoiler) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	plan := learn.Plan{Method: m, Nodes: nodes, Seed: seed, Epochs: 40, Choice: m.Choice}
	return learn.Run(ctx, g, plan, func(s *learn.Start) (learn.Learner, error) { return &spoiling{s.X}, nil })
}

type spoiling struct{ x *mat.Dense }

func (l *spoiling) Epoch(_ context.Context, _ int, src rand.Source) (float64, error) {
	random := rand.New(src)
	for i := range l.x.Data {
		l.x.Data[i] += 0.5 * float32(random.NormFloat64())
	}
	return 1, nil
}

func (l *spoiling) Result() learn.Iterate { return learn.Iterate{X: l.x} }

func (l *spoiling) State() []*mat.Dense { return []*mat.Dense{l.x} }

// TestEarlyLooks checks that iterates before the first regular validation are validated at powers of two.
func TestEarlyLooks(t *testing.T) {
	g := synth.Demo()
	m := spoiler{learn.Choice{JudgeEvery: 20, JudgeEpochs: 30}}
	account := learntest.Account(t, m, g, 2*g.Classes, 1)
	mattest.Equal(t, account.Judgements, 7, "looks") // 1, 2, 4, 8, 16, 20, 40
	if account.Epoch > 16 {
		t.Errorf("epoch %d is the result, want an early one", account.Epoch)
	}
}

// TestStartWeight checks that the mean weight of the initial A′ is close to StartWeight.
func TestStartWeight(t *testing.T) {
	start := mattest.Must(learn.Begin(t.Context(), synth.Demo(), 40, 1))
	for _, want := range []float64{0.5, 0.1, 0.02} {
		s := learn.Structure{AdjacencyRate: 1, PairHidden: 32, StartWeight: want}
		a := s.Pairs(start, 3).Forward(start.X)
		var mean float64
		for _, w := range a.Data {
			mean += float64(w) / float64(40*39)
		}
		if !(math.Abs(math.Log(mean/(1-mean))-math.Log(want/(1-want))) <= 1) { // the other weights are random
			t.Errorf("the mean weight is %v, want about %v", mean, want)
		}
	}
	bad := learn.Structure{AdjacencyRate: 1, PairHidden: 1, StartWeight: 0}
	if err := bad.Check("x", 3); err == nil {
		t.Error("a start weight of 0 is taken")
	}
}

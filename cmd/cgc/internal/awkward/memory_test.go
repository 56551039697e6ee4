package awkward_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
)

// refused is a feature matrix that can be read the given number of times. Later reads exceed the system's memory.
type refused struct {
	mat.Matrix
	reads *atomic.Int64 // left
}

// ReadBlock reads, or panics as memory.Make does.
func (r refused) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	if r.reads.Add(-1) < 0 {
		panic(&memory.Exceeded{Asked: 8e9, Held: 1e9, Most: 4e9, By: memory.ByMachine})
	}
	return r.Matrix.ReadBlock(dst, rows, lo, hi)
}

// TestMemoryIsRefused checks that exceeding the system's memory causes an error and not a panic, for every method and
// model, both while the graph is checked and afterwards.
func TestMemoryIsRefused(t *testing.T) {
	slow.Test(t, "runs every method and every model")
	g := synth.Demo()
	small := mattest.Must(method(t, "random", nil).Condense(t.Context(), g, 35, 1))
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 2, 8
	config := cgc.Defaults()
	config.Nodes = 35
	type call struct {
		name string
		run  func(ctx context.Context, g *graph.Graph) error
	}
	var calls []call
	for _, name := range condense.Names() {
		m := method(t, name, fewest)
		calls = append(calls, call{name, func(ctx context.Context, g *graph.Graph) error {
			_, err := m.Condense(ctx, g, 35, 1)
			return err
		}})
	}
	for _, m := range gnn.All() {
		e := experiment.Evaluation{Models: []gnn.Model{m}, Training: training, Trainings: 1}
		calls = append(calls, call{"training " + m.Name(), func(ctx context.Context, g *graph.Graph) error {
			target, err := gnn.NewTarget(g, false)
			if err != nil {
				return err
			}
			defer target.Close()
			_, err = gnn.Train(ctx, m, target.Sample(), target, training, rand.NewPCG(1, 1))
			return err
		}}, call{"evaluating " + m.Name(), func(ctx context.Context, g *graph.Graph) error {
			_, err := e.Run(ctx, small, g)
			return err
		}}, call{"training on the whole " + m.Name(), func(ctx context.Context, g *graph.Graph) error {
			_, err := e.Whole(ctx, small, g)
			return err
		}})
	}
	calls = append(calls, call{"experiment", func(ctx context.Context, g *graph.Graph) error {
		_, err := experiment.Plan{
			Method: config, Size: condense.Size{Nodes: 35}, Training: training, Seeds: 1, Models: gnn.All(),
		}.Run(ctx, g)
		return err
	}}, call{"grid", func(ctx context.Context, g *graph.Graph) error {
		_, err := experiment.Grid{
			Arms: []experiment.Arm{{
				Name: "standardized", Method: condense.Under(condense.Setting{Standardize: true}, method(t, "random", fewest)),
				Size: condense.Size{Nodes: 35}, Training: training,
			}}, Seeds: 1, Trainings: 1, Models: gnn.All(),
		}.Run(ctx, g, nil)
		return err
	}}, call{"under a setting", func(ctx context.Context, g *graph.Graph) error {
		_, err := condense.Under(condense.Setting{Standardize: true}, method(t, "random", fewest)).Condense(ctx, g, 35, 1)
		return err
	}}, call{"tune", func(ctx context.Context, g *graph.Graph) error {
		_, err := tune.Search{
			Base: tune.Candidate{Method: config}, Nodes: 35, Models: []gnn.Model{gnn.SGC()}, Training: training, Trials: 2,
		}.Run(ctx, g)
		return err
	}}, call{"scaling", func(ctx context.Context, g *graph.Graph) error {
		_, err := condense.Setting{Standardize: true}.View(ctx, g)
		return err
	}})
	for _, c := range calls {
		for _, reads := range []int64{0, 1, 40} {
			var left atomic.Int64
			left.Store(reads)
			without := *g
			without.X = refused{g.X, &left}
			err := attempt(t, func() error { return c.run(t.Context(), &without) })
			if large := new(memory.Exceeded); left.Load() < 0 && !errors.As(err, &large) {
				t.Errorf("%s, at read %d: error %v, want that the memory is refused", c.name, reads+1, err)
			}
		}
	}
}

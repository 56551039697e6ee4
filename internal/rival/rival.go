// Package rival runs the baselines: published condensation methods by other authors. It checks their arguments,
// allocates the condensed nodes to classes, limits memory, saves checkpoints and completes the result. There is one
// package for each family of methods, and package rival/all registers all of them. docs/notes/2026-11-baselines.md
// explains the choices of each.
package rival

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Task describes one condensation by a method.
type Task struct {
	// Graph is the graph to condense, and Nodes is N′. Both have passed Check.
	Graph *graph.Graph
	Nodes int
	// Seed determines all random choices.
	Seed uint64
	// Budget is the number of condensed nodes of each class, in proportion to the training nodes (partition.Budgets).
	Budget []int
	// Clock measures the time of each step and reports it (package progress).
	Clock *condense.Clock

	method condense.Method
	digest *graph.Digest // of Graph; nil if it is not known yet
}

// Work is what a method does for a Task. Its result has X, Y and, if they apply, Adj, Soft, Members, Account and
// Warnings.
type Work func(context.Context, *Task) (*condense.Condensed, error)

// Run condenses g by m. It calls m.Check, which must call Check, and starts a clock for the given steps. It then calls
// work and adds the names, the configuration, the budget and the seconds to the result. It returns an error if m.Check
// or work fails, if ctx is done, if there is not enough memory, or if an entry of X is not finite because the method
// diverged.
func Run(
	ctx context.Context, m condense.Checker, g *graph.Graph, nodes int, seed uint64, work Work, steps ...string,
) (_ *condense.Condensed, err error) {
	defer memory.Recover(&err)
	if err := m.Check(g, nodes); err != nil {
		return nil, err
	}
	if g.Causal {
		return nil, fmt.Errorf("%s cannot condense causal graph %s, must be a method that does not need edges in both "+
			"directions, such as cgc", m.Name(), g.Name)
	}
	return run(ctx, &Task{Graph: g, Nodes: nodes, Seed: seed, Clock: condense.StartClock(ctx, steps...), method: m}, work)
}

// Prepare calls m.Check with g and the number of nodes, and returns the result of prepare.
func Prepare[P condense.Prepared](
	ctx context.Context, m condense.Checker, g *graph.Graph, nodes int,
	prepare func(context.Context, *graph.Graph) (P, error),
) (_ condense.Prepared, err error) {
	defer memory.Recover(&err)
	if err := m.Check(g, nodes); err != nil {
		return nil, err
	}
	p, err := prepare(ctx, g)
	if err != nil {
		return nil, err // p in the interface would not be nil
	}
	return p, nil
}

// Preparation is a graph on which a method has done the work that all its condensations share.
type Preparation struct {
	Graph  *graph.Graph
	Digest graph.Digest // of Graph
	// Seconds is the time of that work.
	Seconds condense.Seconds
}

// Run is like the function Run, for a method that has prepared the graph. Of the arguments it only checks nodes.
func (p Preparation) Run(
	ctx context.Context, m condense.Method, nodes int, seed uint64, work Work, steps ...string,
) (_ *condense.Condensed, err error) {
	defer memory.Recover(&err)
	if err := checkNodes(p.Graph, nodes); err != nil {
		return nil, err
	}
	t := &Task{
		Graph: p.Graph, Nodes: nodes, Seed: seed, Clock: condense.StartClock(ctx, steps...), method: m, digest: &p.Digest,
	}
	t.Clock.Add(p.Seconds)
	return run(ctx, t, work)
}

// run calls work on t, and checks and completes the result.
func run(ctx context.Context, t *Task, work Work) (small *condense.Condensed, err error) {
	g := t.Graph
	if t.Budget, err = partition.Budgets(g.Counts(g.Split.Train), t.Nodes); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if small, err = work(ctx, t); err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	row, col, found, err := mat.FirstNotFinite(ctx, small.X)
	if err != nil {
		return nil, err
	}
	if found {
		return nil, fmt.Errorf("%s diverged: feature %d of condensed node %d is %v, must be a finite number",
			t.method.Name(), col, row, small.X.Row(row)[col])
	}
	if small.Config, err = condense.Configuration(t.method, t.Nodes, t.Seed); err != nil {
		return nil, err
	}
	small.Method, small.Classes, small.Graph, small.GraphNodes = t.method.Name(), g.Classes, g.Name, g.Nodes()
	small.Budget = condense.CountBudget(small.Y, g.Classes)
	if t.digest != nil {
		small.SetSource(*t.digest, g)
	} else if err := small.TakeSource(g); err != nil {
		return nil, err
	}
	small.Seconds = t.Clock.Stop()
	if err := small.Validate(); err != nil {
		return nil, err
	}
	return small, nil
}

// Propagate returns the rows of x, Âx, …, Âᴷx at the given nodes of g.
func Propagate(ctx context.Context, g *graph.Graph, x mat.Matrix, hops int, nodes []int32) ([]mat.View, error) {
	in := propagate.Input{Adj: g.Adj, X: x, Rows: nodes, Mapped: g.Mapped}
	return propagate.Run(ctx, blocked.Engine{}, propagate.Propagation{Rule: propagate.SGC, Hops: hops}, in)
}

// ByClass returns the training nodes of each class.
func ByClass(g *graph.Graph) [][]int32 {
	train := make([][]int32, g.Classes)
	for _, v := range g.Split.Train {
		train[g.Y[v]] = append(train[g.Y[v]], v)
	}
	return train
}

// Check returns an error if g is invalid or cannot be condensed to the given number of nodes. Otherwise it returns
// errs, the errors of the parameters, joined. The Check of a baseline calls it first.
func Check(g *graph.Graph, nodes int, errs ...error) error {
	if err := g.Check(context.Background()); err != nil {
		return err
	}
	if err := condense.Trainable(g); err != nil {
		return err
	}
	return cmp.Or(checkNodes(g, nodes), errors.Join(errs...))
}

// Training describes the work of a method for memory errors: "gcond on 90,941 training nodes with 200 features".
func Training(method string, g *graph.Graph) string {
	return fmt.Sprintf("%s on %s training nodes with %s features", method, digits.Group(len(g.Split.Train)),
		digits.Group(g.Features()))
}

// checkNodes returns an error if g cannot be condensed to the given number of nodes.
func checkNodes(g *graph.Graph, nodes int) error {
	if nodes < 1 {
		return &condense.FieldError{Field: "nodes", Value: nodes, Want: "at least 1"}
	}
	_, err := condense.Size{Nodes: nodes}.Of(g, false)
	return err
}

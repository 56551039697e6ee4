// Package rival holds what the methods that others published share: the door, the budget of each class, the bound on
// memory, and the account of the result. The methods stand in the folders below, one folder for each family. Package
// rival/all registers them. docs/rivals.md says what each method computes and what was chosen.
package rival

import (
	"context"
	"errors"
	"fmt"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// Task is one condensation by a method: what every method does first and last.
type Task struct {
	// Graph is what is condensed. It has passed Check.
	Graph *graph.Graph
	// Method is the method with its parameters.
	Method condense.Method
	// Nodes is N′, Seed decides all random choices.
	Nodes int
	Seed  uint64
	// Budget is the number of condensed nodes of each class, in proportion to the training nodes (partition.Budgets).
	Budget []int
	// Clock measures the steps and reports each (package progress).
	Clock *condense.Clock
}

// Begin checks g and nodes, and starts the clock of a condensation with the given steps. The error says what is wrong
// with g or nodes, or is that of ctx.
func Begin(
	ctx context.Context, g *graph.Graph, m condense.Method, nodes int, seed uint64, steps ...string,
) (*Task, error) {
	if err := Check(g, nodes); err != nil {
		return nil, err
	}
	budget, err := partition.Budgets(g.Counts(g.Split.Train), nodes)
	if err != nil {
		return nil, err
	}
	clock := condense.StartClock(ctx, steps...)
	return &Task{Graph: g, Method: m, Nodes: nodes, Seed: seed, Budget: budget, Clock: clock}, ctx.Err()
}

// Check returns what is wrong with g, or with nodes for it; nil if nothing is. A condense.Checker begins with it.
func Check(g *graph.Graph, nodes int) error {
	if err := g.Check(); err != nil {
		return fmt.Errorf("rival: graph %s is not valid: %w", g.Name, err)
	}
	if err := condense.Trainable(g); err != nil {
		return err
	}
	if nodes < 1 {
		return &condense.FieldError{Package: "rival", Field: "nodes", Value: nodes, Want: "at least 1"}
	}
	_, err := condense.Size{Nodes: nodes}.Of(g, false)
	return err
}

// Labels returns the classes of the condensed nodes that the budget gives: classes ascending.
func (t *Task) Labels() []int32 {
	y := make([]int32, 0, t.Nodes)
	for c, n := range t.Budget {
		for range n {
			y = append(y, int32(c))
		}
	}
	return y
}

// Finish completes small, which has X, Y and whatever of Adj, Soft, Members, Account and Warnings there is. It adds
// the names, the configuration, the budget and the seconds. A number of X that is not finite is an error that says
// where: the method diverged.
func (t *Task) Finish(ctx context.Context, small *condense.Condensed) (*condense.Condensed, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g := t.Graph
	if row, col, found, err := mat.FirstNotFinite(small.X); err != nil || found {
		return nil, errors.Join(err, fmt.Errorf("rival: %s diverged: feature %d of condensed node %d is %v, want a finite "+
			"number", t.Method.Name(), col, row, small.X.Row(row)[col]))
	}
	config, err := condense.Configuration(t.Method, t.Nodes, t.Seed)
	if err != nil {
		return nil, err
	}
	small.Classes, small.Graph, small.GraphNodes = g.Classes, g.Name, g.Nodes()
	small.Method, small.Config = t.Method.Name(), config
	small.Budget = condense.CountBudget(small.Y, g.Classes)
	small.TakeNames(g)
	small.Seconds = t.Clock.Stop()
	return small, nil
}

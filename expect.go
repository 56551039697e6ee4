package cgc

import (
	"context"
	"runtime"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Expectation estimates the size of the result and the memory of a condensation.
type Expectation struct {
	// Nodes is N′. Budget is the number of condensed nodes of each class.
	Nodes  int
	Budget []int
	// Propagation is the memory of the propagation. Its Input covers only the part of the graph that is read. If the
	// engine is not a blocked.Engine, only Results is set.
	Propagation blocked.Footprint
	// Rest is the memory of the steps after propagation, excluding what propagation keeps.
	Rest int64
	// Memory is the expected peak resident set of a process that does nothing else, in bytes. For a mapped graph larger
	// than Config.Memory, it excludes pages of the file that the system caches.
	Memory int64
}

// Expect estimates the result and memory of Condense. It reads features only to check a graph that is not sealed
// (graph.Graph.Seal). In the inductive setting, it builds the subgraph of the training nodes. It returns the errors
// that Condense would return before it starts.
func Expect(g *graph.Graph, config Config) (e Expectation, err error) {
	if err := g.Check(context.Background()); err != nil {
		return e, err
	}
	if e.Nodes, err = check(g, config); err != nil {
		return e, err
	}
	view, err := config.Setting().View(context.Background(), g)
	if err != nil {
		return e, err
	}
	train := view.Split.Train
	counts := view.Counts(train)
	if e.Budget, err = partition.Budgets(counts, e.Nodes); err != nil {
		return e, err
	}
	engine, usual := config.engine().(blocked.Engine)
	row := 4 * int64(view.Features())
	if usual {
		in := propagate.Input{
			Adj: view.Adj, X: view.X, Rows: train, Classes: view.Labels(train), Mapped: view.Mapped,
		}
		if e.Propagation, err = engine.Footprint(config.propagation(), in); err != nil {
			return e, err
		}
	} else {
		e.Propagation.Results = row * int64(len(train)*(config.Hops+1))
	}
	// Assessment needs memory for about one more set of embeddings. Later, each thread may copy the rows of one class.
	classes := min(runtime.GOMAXPROCS(0), len(counts))
	e.Rest = max(row*int64(len(train)), row*int64(slices.Max(counts)*classes))
	if view.Adj != g.Adj { // the subgraph is a copy of the part that is read
		e.Rest += e.Propagation.Input
	}
	e.Memory = budget.Process + e.Propagation.Input + e.Propagation.Sum() + e.Rest
	if p := e.Propagation; p.Held > 0 { // the graph stays in its file, and later steps reuse the memory of blocks
		e.Memory = max(p.Held, budget.Process+p.Results+e.Rest)
	}
	return e, nil
}

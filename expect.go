package cgc

import (
	"context"
	"runtime"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Expectation is what a condensation will make and take, as far as it follows from sizes.
type Expectation struct {
	// Nodes is N′, Budget the number of condensed nodes of each class.
	Nodes  int
	Budget []int
	// Propagation is the memory of the propagation. Its Input is the part of the graph that is read. If the engine is not
	// the usual one, the results alone are known.
	Propagation blocked.Footprint
	// Rest is the memory of the later steps, as far as it is not that of the propagation.
	Rest int64
	// Memory is the largest resident set to expect of a process that does nothing else, in bytes. Of a mapped graph that
	// is larger than Config.Memory, it is what the process needs: pages of the file that the system keeps come on top.
	Memory int64
}

// process is the resident set of a command that has not begun to work.
const process = 24 << 20

// Expect returns what Condense would make and take, without reading features. In the inductive setting, the subgraph of
// the training nodes is made. Errors are those that Condense has before it begins.
func Expect(g *graph.Graph, config Config) (e Expectation, err error) {
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
	// Assessment takes about one more set of embeddings. After that, a class on each thread may be copied.
	classes := min(runtime.GOMAXPROCS(0), len(counts))
	e.Rest = max(row*int64(len(train)), row*int64(slices.Max(counts)*classes))
	if view.Adj != g.Adj { // the subgraph is a copy of what is read
		e.Rest += e.Propagation.Input
	}
	e.Rest += int64(config.PseudoLabels * float64(row) * float64(len(train)))
	e.Memory = process + e.Propagation.Input + e.Propagation.Sum() + e.Rest
	if p := e.Propagation; p.Held > 0 { // the graph stays in its file, and blocks make room for the later steps
		e.Memory = max(p.Held, process+p.Results+e.Rest)
	}
	return e, nil
}

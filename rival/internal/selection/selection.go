// Package selection condenses a graph to a subset of its training nodes, chosen at random, by herding or by k-center.
//
// The condensed graph has the features and labels of the chosen nodes, and the edges between them. Each class gets
// nodes in proportion to its training nodes (partition.Budgets). docs/reference/methods.md cites the sources.
//
// The choices are those of GCond's program (ChandlerBang/GCond, coreset/all_methods.py), but on other embeddings: ÂᴷX
// instead of the log-probabilities of a GCN that is trained for 600 epochs.
package selection

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
)

// Methods returns the methods of the package with their default parameters.
func Methods() []condense.Method {
	return []condense.Method{random{}, newCenters(herding), newCenters(kCenter)}
}

// propagateStep and selectStep are the names of the steps in Seconds.
const (
	propagateStep = "propagate"
	selectStep    = "select"
)

// random draws the nodes of each class without replacement. Source: a baseline of the CGC paper.
type random struct{}

// Name returns "random".
func (random) Name() string { return "random" }

// Check validates the parameters, g, nodes and the memory limit.
func (random) Check(g *graph.Graph, nodes int) error { return rival.Check(g, nodes) }

// Condense implements condense.Method. The seed determines the choice.
func (r random) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return rival.Run(ctx, r, g, nodes, seed, r.draw, selectStep)
}

// draw returns the condensed graph of random nodes.
func (random) draw(_ context.Context, task *rival.Task) (*condense.Condensed, error) {
	random := rand.New(rand.NewPCG(task.Seed, 1))
	return choose(task, func(of []int32, k int) ([]int32, error) {
		chosen := make([]int32, k)
		for i, p := range random.Perm(len(of))[:k] {
			chosen[i] = of[p]
		}
		return chosen, nil
	})
}

// choose returns the condensed graph of the nodes that pick selects. For each class, pick gets its training nodes and
// returns k of them.
func choose(task *rival.Task, pick func(of []int32, k int) ([]int32, error)) (*condense.Condensed, error) {
	defer task.Clock.Step(selectStep)()
	g := task.Graph
	classes := rival.ByClass(g)
	var chosen []int32
	for c, k := range task.Budget {
		if k == 0 {
			continue
		}
		picked, err := pick(classes[c], k)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, picked...)
	}
	slices.Sort(chosen)
	induced := g.Induced(chosen)
	small := &condense.Condensed{
		X: new(mat.Dense), Adj: induced.Adj, Y: induced.Y, Members: condense.FromRows(chosen, g.Nodes()),
	}
	return small, mat.Rows(small.X, g.X, chosen)
}

// Package selection condenses a graph to a subset of its training nodes, chosen at random, by herding or by k-center.
//
// The condensed graph has the features and labels of the chosen nodes, and the edges between them. Each class gets
// nodes in proportion to its training nodes (partition.Budgets). docs/reference/methods.md cites the sources.
package selection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// propagateStep and selectStep are the names of the steps in Seconds.
const (
	propagateStep = "propagate"
	selectStep    = "select"
)

// Random draws the nodes of each class without replacement. Source: a baseline of the CGC paper.
type Random struct{}

// Name returns "random".
func (Random) Name() string { return "random" }

// Check validates g and nodes.
func (Random) Check(g *graph.Graph, nodes int) error { return rival.Check(g, nodes) }

// Condense chooses nodes at random. The seed determines the choice.
func (r Random) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return rival.Run(ctx, r, g, nodes, seed, r.draw, selectStep)
}

// draw returns the condensed graph of random nodes.
func (Random) draw(_ context.Context, task *rival.Task) (*condense.Condensed, error) {
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
	classes := make([][]int32, g.Classes)
	for _, v := range g.Split.Train {
		classes[g.Y[v]] = append(classes[g.Y[v]], v)
	}
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

// Embedding is the space in which nodes are compared: H = ÂᴷX, the embedding of SGC (Wu et al. 2019).
type Embedding struct {
	// Hops is K, from 0 to 20.
	Hops int `json:"hops"`
	// Memory limits the memory for the embeddings of the training nodes, 4·(K+1)·n·d bytes.
	Memory rival.Memory `json:"memory"`
}

// check returns an error if Hops is out of range, or if the embeddings of g need too much memory. name is the name of
// the method.
func (e Embedding) check(name string, g *graph.Graph) error {
	const most = 20
	if e.Hops < 0 || e.Hops > most {
		return &condense.FieldError{
			Package: "selection", Field: "hops", Value: e.Hops, Want: fmt.Sprintf("from 0 to %d", most),
		}
	}
	n, d := len(g.Split.Train), g.Features()
	what := fmt.Sprintf("%s on %s training nodes with %d features", name, digits.Group(n), d)
	return e.Memory.Fits(what, 4*float64(e.Hops+1)*float64(n)*float64(d))
}

// condense chooses the nodes of each class by pick, which returns k distinct rows of the embeddings h.
func (e Embedding) condense(
	ctx context.Context, g *graph.Graph, m condense.Checker, nodes int, seed uint64,
	pick func(ctx context.Context, h [][]float32, k int) ([]int, error),
) (*condense.Condensed, error) {
	return rival.Run(ctx, m, g, nodes, seed, func(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
		rows, err := e.propagate(ctx, task)
		if err != nil {
			return nil, err
		}
		return choose(task, func(of []int32, k int) ([]int32, error) {
			h := make([][]float32, len(of))
			for i, v := range of {
				h[i] = rows[v]
			}
			picked, err := pick(ctx, h, k)
			chosen := make([]int32, len(picked))
			for i, r := range picked {
				chosen[i] = of[r]
			}
			return chosen, err
		})
	}, propagateStep, selectStep)
}

// propagate returns the embedding of each training node.
func (e Embedding) propagate(ctx context.Context, task *rival.Task) (map[int32][]float32, error) {
	defer task.Clock.Step(propagateStep)()
	g := task.Graph
	h, err := propagate.Run(ctx, blocked.Engine{}, propagate.Propagation{Rule: propagate.SGC, Hops: e.Hops},
		propagate.Input{Adj: g.Adj, X: g.X, Rows: g.Split.Train, Classes: g.Labels(g.Split.Train), Mapped: g.Mapped})
	if err != nil {
		return nil, err
	}
	rows := make(map[int32][]float32, len(g.Split.Train))
	for i, v := range g.Split.Train {
		rows[v] = h[e.Hops].Row(i)
	}
	return rows, nil
}

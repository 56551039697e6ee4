// Package selection condenses a graph to some of its own training nodes: at random, by herding, or by k-center.
//
// The condensed graph has the features and the labels of the chosen nodes, and the edges that join two of them. Each
// class gives its share of nodes (partition.Budgets). docs/rivals.md says where the methods come from.
package selection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
	"github.com/graph-condensation/cgc/rival"
)

// The steps, as Seconds names them.
const (
	propagateStep = "propagate"
	selectStep    = "select"
)

// Random draws the nodes of each class without replacement. It looks at no feature.
type Random struct{}

// Name returns "random".
func (Random) Name() string { return "random" }

// Check returns what is wrong with g, or with nodes for it.
func (Random) Check(g *graph.Graph, nodes int) error { return rival.Check(g, nodes) }

// Condense chooses nodes at random. Other seeds choose other nodes.
func (r Random) Condense(
	ctx context.Context, g *graph.Graph, nodes int, seed uint64,
) (_ *condense.Condensed, err error) {
	defer memory.Recover(&err)
	task, err := rival.Begin(ctx, g, r, nodes, seed, selectStep)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 1))
	return choose(ctx, task, func(of []int32, k int) ([]int32, error) {
		chosen := make([]int32, k)
		for i, p := range random.Perm(len(of))[:k] {
			chosen[i] = of[p]
		}
		return chosen, nil
	})
}

// choose returns the condensed graph of the nodes that pick takes of each class: k of the training nodes of that class.
func choose(
	ctx context.Context, task *rival.Task, pick func(of []int32, k int) ([]int32, error),
) (*condense.Condensed, error) {
	done := task.Clock.Step(selectStep)
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
	if err := mat.Rows(small.X, g.X, chosen); err != nil {
		return nil, err
	}
	done()
	return task.Finish(ctx, small)
}

// Embedding says in which space nodes are chosen: H = ÂᴷX, the embedding of SGC (Wu et al. 2019).
type Embedding struct {
	// Hops is K, from 0 to 20.
	Hops int `json:"hops"`
	// Memory bounds the embeddings of the training nodes, 4·(K+1)·n·d bytes.
	Memory rival.Memory `json:"memory"`
}

// check returns what is wrong with the parameters, or with g for them. name is that of the method.
func (e Embedding) check(name string, g *graph.Graph) error {
	const most = 20
	if e.Hops < 0 || e.Hops > most {
		return &condense.FieldError{
			Package: "selection", Field: "hops", Value: e.Hops, Want: fmt.Sprintf("from 0 to %d", most),
		}
	}
	n, d := len(g.Split.Train), g.Features()
	what := fmt.Sprintf("%s on %s training nodes with %d features", name, rival.Count(n), d)
	return e.Memory.Fits(what, 4*float64(e.Hops+1)*float64(n)*float64(d))
}

// condense chooses the nodes of each class by pick, which is given their embeddings and returns k different rows.
func (e Embedding) condense(
	ctx context.Context, g *graph.Graph, m condense.Method, nodes int, seed uint64,
	pick func(ctx context.Context, h [][]float32, k int) ([]int, error),
) (*condense.Condensed, error) {
	task, err := rival.Begin(ctx, g, m, nodes, seed, propagateStep, selectStep)
	if err != nil {
		return nil, err
	}
	if err := e.check(m.Name(), g); err != nil {
		return nil, err
	}
	done := task.Clock.Step(propagateStep)
	h, err := propagate.Run(ctx, blocked.Engine{}, propagate.Propagation{Rule: propagate.SGC, Hops: e.Hops},
		propagate.Input{Adj: g.Adj, X: g.X, Rows: g.Split.Train, Classes: g.Labels(g.Split.Train), Mapped: g.Mapped})
	if err != nil {
		return nil, err
	}
	done()
	row := make(map[int32]int, len(g.Split.Train))
	for i, v := range g.Split.Train {
		row[v] = i
	}
	last := h[len(h)-1]
	return choose(ctx, task, func(of []int32, k int) ([]int32, error) {
		rows := make([][]float32, len(of))
		for i, v := range of {
			rows[i] = last.Row(row[v])
		}
		picked, err := pick(ctx, rows, k)
		chosen := make([]int32, len(picked))
		for i, r := range picked {
			chosen[i] = of[r]
		}
		return chosen, err
	})
}

// Package bonsai condenses a graph to training nodes with exemplary computation trees. It implements Bonsai of Gupta et
// al. (ICLR 2025, "Bonsai: Gradient-free graph condensation for node classification"). Nothing is trained.
//
//  1. The computation tree of a training node is represented by its row of R = D̃⁻¹(A + I)D̃⁻¹X. A decision tree
//     predicts the classes of the training nodes from R. Distances use only the columns at which it splits.
//  2. Each training node votes for its nearest rows. The rows are ordered greedily: the next row is the one with the
//     most voters that have not voted for an earlier row (maximum coverage of reverse k-nearest neighbours).
//  3. In this order, nodes are added with their neighbours until there are N′/(1−Prune) nodes.
//  4. Personalised PageRank ranks these nodes. It restarts at the exemplars, the nodes that step 3 took from the order.
//     The best N′ stay.
//  5. A class with too many nodes loses the last ones in the order. A class with too few nodes gains the first ones
//     that it lacks.
//
// What differs from the authors' program:
//
//   - Their budget is a number of bytes. Trees are added until features and edges fill budget/(1−Prune). Pruning then
//     keeps N′ nodes, the number of nodes of the trees that fit into the budget. Here N′ is given instead.
//   - Their trees contain neighbours outside the training split, which contribute features but are not in the loss.
//     Condensed nodes have a label, so trees contain training nodes only. R still uses all neighbours.
//   - Their condensed and original graphs keep only the selected columns. Here X′ keeps all features.
//   - The class sizes match partition.Budgets exactly, not within 1%.
//   - Their exemplars have self-loops, which count in PageRank: an exemplar without neighbours keeps an average rank.
//     Here it ranks behind all exemplars with neighbours.
//   - In case of a tie, the decision tree uses the first column instead of a random one. Rows without new voters follow
//     by number, not as their heap holds them. Among nodes with equal PageRank, the first in the order stay instead of
//     the last. So no step is random.
package bonsai

import (
	"context"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
)

// bonsai chooses training nodes whose neighbourhoods resemble those of many other nodes, adds their neighbours, and
// keeps the nodes with the highest personalised PageRank. Nothing is trained. Source: Gupta et al., Bonsai:
// Gradient-free graph condensation for node classification (ICLR 2025).
//
// It is deterministic: all seeds give the same graph. It computes n² distances between the n training nodes.
type bonsai struct {
	// Neighbours is the number of nearest nodes for which a node votes, itself included, at least 1.
	Neighbours int `json:"neighbours"`
	// Depth limits the depth of the decision tree that selects columns, at least 0. With 0, distances use all columns.
	Depth int `json:"depth"`
	// Prune is the share of the nodes that PageRank removes, at least 0 and below 1.
	Prune float64 `json:"prune"`
	// Memory limits the memory for representations and features of the training nodes.
	Memory rival.Memory `json:"memory"`
}

// New returns bonsai with the parameters of the authors' program.
func New() condense.Method {
	return bonsai{Neighbours: 5, Depth: 50, Prune: 0.9, Memory: rival.DefaultMemory}
}

// Name returns "bonsai".
func (bonsai) Name() string { return "bonsai" }

// Check validates the parameters, g, nodes and the memory limit.
func (b bonsai) Check(g *graph.Graph, nodes int) error {
	err := rival.Check(g, nodes,
		parameter.Check(b.Neighbours >= 1, "neighbours", b.Neighbours, "at least 1"),
		parameter.Check(b.Depth >= 0, "depth", b.Depth, "at least 0"),
		parameter.Check(b.Prune >= 0 && b.Prune < 1, "prune", b.Prune, "at least 0 and below 1"),
	)
	if err != nil {
		return err
	}
	n, d, k := float64(len(g.Split.Train)), float64(g.Features()), float64(min(b.Neighbours, len(g.Split.Train)))
	// Counted: R, its selected columns and the features; the votes; the distances of a block.
	return b.Memory.Fits(rival.Training(b.Name(), g), 12*n*d+8*n*k+4*n*min(n, block))
}

// The names of the steps in Seconds.
const (
	representStep = "represent"
	orderStep     = "order"
	pruneStep     = "prune"
)

// Condense chooses nodes. The seed has no effect.
func (b bonsai) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return rival.Run(ctx, b, g, nodes, seed, b.choose, representStep, orderStep, pruneStep)
}

// choose returns the condensed graph.
func (b bonsai) choose(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
	g := task.Graph
	done := task.Clock.Step(representStep)
	r, err := represent(ctx, g)
	if err == nil && b.Depth > 0 {
		var used []int
		if used, err = splits(ctx, r, g.Labels(g.Split.Train), g.Classes, b.Depth); len(used) > 0 {
			r = columns(r, used)
		}
	}
	done()
	if err != nil {
		return nil, err
	}
	done = task.Clock.Step(orderStep)
	votes, err := nearest(ctx, r, b.Neighbours)
	done()
	if err != nil {
		return nil, err
	}
	defer task.Clock.Step(pruneStep)()
	own := g.TrainingGraph() // its node i is row i of R
	f := forest{adj: own.Adj, order: cover(votes)}
	f.grow(int(math.Round(min(float64(len(own.Y)), float64(task.Nodes)/(1-b.Prune)))))
	if err := f.prune(ctx, task.Nodes); err != nil {
		return nil, err
	}
	f.match(own.Y, task.Budget)
	kept, adj, err := f.graph(ctx)
	if err != nil {
		return nil, err
	}
	chosen := make([]int32, len(kept))
	for i, v := range kept {
		chosen[i] = g.Split.Train[v]
	}
	small := &condense.Condensed{
		X: new(mat.Dense), Adj: adj, Y: g.Labels(chosen), Members: condense.FromRows(chosen, g.Nodes()),
	}
	return small, mat.Rows(small.X, g.X, chosen)
}

// represent returns R = D̃⁻¹(A + I)D̃⁻¹X of the training nodes.
func represent(ctx context.Context, g *graph.Graph) (*mat.Dense, error) {
	operator := graph.Mean(g.Adj)
	operator.Right = operator.Left
	r := new(mat.Dense)
	return r, operator.ApplyRows(ctx, r, g.X, g.Split.Train, nil)
}

func columns(r *mat.Dense, used []int) *mat.Dense {
	c := mat.NewDense(r.Rows, len(used))
	for i := range r.Rows {
		for at, j := range used {
			c.Row(i)[at] = r.Row(i)[j]
		}
	}
	return c
}

// cover returns all rows in the order of step 2. votes[i] are the rows for which i votes. Ties go to the first row.
// Rows without new voters come last.
func cover(votes [][]int32) []int32 {
	n := len(votes)
	voters, gain := make([][]int32, n), make([]int, n)
	for i, list := range votes {
		for _, q := range list {
			voters[q] = append(voters[q], int32(i))
			gain[q]++
		}
	}
	covered, taken := make([]bool, n), make([]bool, n)
	order := make([]int32, 0, n)
	for {
		next := slices.Index(gain, slices.Max(gain))
		if gain[next] == 0 {
			break
		}
		order = append(order, int32(next))
		taken[next] = true
		for _, i := range voters[next] {
			if covered[i] {
				continue
			}
			covered[i] = true
			for _, q := range votes[i] {
				gain[q]--
			}
		}
	}
	for q, is := range taken {
		if !is {
			order = append(order, int32(q))
		}
	}
	return order
}

// Package learn is shared by the methods that learn a condensed graph step by step. It provides the initial X′, the
// pair network, the loop over epochs with checkpoints, and the choice of the result.
//
// A method is a Learner: each epoch changes X′, and A′ if there is one. Run repeats epochs. Every few epochs it trains
// a GCN on the condensed graph and measures its accuracy on the validation nodes. The best iterate is the result.
// Labels of test nodes are never read. Without validation nodes, as in the training graph of the inductive setting, the
// last iterate is the result.
//
// Determinism: the seed and e determine the random source of epoch e. The result does not depend on the number of
// threads, nor on whether a run was stopped and continued (package checkpoint).
package learn

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// Start is the initial state of learning.
type Start struct {
	// Graph is the graph to condense.
	Graph *graph.Graph
	// Y is y′: the classes of the condensed nodes in ascending order. Budget is the number of condensed nodes of each
	// class.
	Y      []int32
	Budget []int
	// First has Classes+1 elements: the condensed nodes of class c are First[c] to First[c+1]−1.
	First []int
	// Train holds the training nodes of each class.
	Train [][]int32
	// Features are divided by Unit while they are learnt, because the learning rates of the methods were tuned on rows
	// that sum to 1 or on standardised columns. If no feature of a training node is negative, Unit is the mean row sum
	// over the training nodes. Otherwise it is 1.
	Unit float32
	// X is N′×d: the features, divided by Unit, of distinct random training nodes of each class.
	X *mat.Dense
}

// Begin returns the Start for N′ nodes. g and nodes must have passed rival.Check.
func Begin(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*Start, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	budget, err := partition.Budgets(g.Counts(g.Split.Train), nodes)
	if err != nil {
		return nil, err
	}
	s := &Start{Graph: g, Budget: budget, First: []int{0}, Train: rival.ByClass(g), X: new(mat.Dense)}
	random := rand.New(Source(seed, 0))
	var picked []int32
	for c, n := range budget {
		for _, at := range random.Perm(len(s.Train[c]))[:n] {
			picked = append(picked, s.Train[c][at])
			s.Y = append(s.Y, int32(c))
		}
		s.First = append(s.First, len(s.Y))
	}
	if err := mat.Rows(s.X, g.X, picked); err != nil {
		return nil, fmt.Errorf("reading features: %w", err)
	}
	if s.Unit, err = unit(g); err != nil {
		return nil, err
	}
	kernel.Scale(s.X.Data, 1/s.Unit, s.X.Data)
	return s, nil
}

// unit computes Start.Unit.
func unit(g *graph.Graph) (float32, error) {
	var sum float64
	for block, err := range mat.Blocks(mat.RowsOf(g.X, g.Split.Train)) {
		if err != nil {
			return 0, fmt.Errorf("reading features: %w", err)
		}
		for _, x := range block.Data {
			if x < 0 {
				return 1, nil
			}
			sum += float64(x)
		}
	}
	if sum == 0 {
		return 1, nil
	}
	return float32(sum / float64(len(g.Split.Train))), nil
}

// Source returns the random source of an epoch. Epoch 0 is for the start (Begin).
func Source(seed uint64, epoch int) rand.Source { return rand.NewPCG(seed, uint64(epoch)) }

// Embeddings returns H⁽⁰⁾ … H⁽ᴷ⁾, H⁽ᵏ⁾ = ÂᵏX, divided by Unit, at the given nodes: K+1 matrices with a row for each
// node.
func (s *Start) Embeddings(ctx context.Context, hops int, nodes []int32) ([]*mat.Dense, error) {
	views, err := rival.Propagate(ctx, s.Graph, s.Graph.X, hops, nodes)
	if err != nil {
		return nil, err
	}
	all := make([]*mat.Dense, len(views))
	for k, v := range views {
		all[k] = v.Dense().Clone() // H⁽⁰⁾ may share memory with the graph
		kernel.Scale(all[k].Data, 1/s.Unit, all[k].Data)
	}
	return all, nil
}

// Labelled returns the training nodes class by class, and the index at which each class starts.
func (s *Start) Labelled() (nodes []int32, first []int) {
	first = []int{0}
	for _, own := range s.Train {
		nodes = append(nodes, own...)
		first = append(first, len(nodes))
	}
	return nodes, first
}

// Propagate sets X to the rows of H⁽ᴷ⁾ = ÂᴷX, divided by Unit, of distinct random training nodes of each class.
func (s *Start) Propagate(ctx context.Context, hops int, random *rand.Rand) error {
	train, first := s.Labelled()
	h, err := s.Embeddings(ctx, hops, train)
	if err != nil {
		return err
	}
	for c, n := range s.Budget {
		for i, at := range random.Perm(first[c+1] - first[c])[:n] {
			copy(s.X.Row(s.First[c]+i), h[hops].Row(first[c]+at))
		}
	}
	return nil
}

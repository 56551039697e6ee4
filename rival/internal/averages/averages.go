// Package averages condenses a graph to averages of random training nodes of each class. It implements the first stage
// of GCPA of Li et al. (ICML 2025, "Adapting Precomputed Features for Efficient Graph Condensation"), which the paper
// also measures without the second.
//
// The second stage adapts the averages by a contrastive loss. It is not implemented here, so the figures of the whole
// GCPA do not apply. docs/notes/2026-11-baselines.md says what is known of the stages.
package averages

import (
	"context"
	"errors"
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
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// propagateStep and averageStep are the names of the steps in Seconds.
const (
	propagateStep = "propagate"
	averageStep   = "average"
)

// Methods returns the methods of the package with their default parameters.
func Methods() []condense.Method { return []condense.Method{newGCPAP()} }

// gcpaP averages the propagated features ÂᴷX of random training nodes of a class for each condensed node, without
// edges: A′ = I. It is the precomputation of GCPA, without the adaptation that follows. Nothing is trained. Source: Li
// et al., Adapting precomputed features for efficient graph condensation (ICML 2025), first stage.
type gcpaP struct {
	// Hops is K, from 0 to 20.
	Hops int `json:"hops"`
	// Samples is the number of nodes in an average, at least 1. They are drawn without replacement. A class with fewer
	// nodes gives the average of all of them.
	Samples int `json:"samples"`
	// Memory limits the memory for the propagated features of the training nodes, 4·(K+1)·n·d bytes.
	Memory rival.Memory `json:"memory"`
}

// newGCPAP returns gcpa-p with default parameters. Samples was chosen on validation nodes of Cora and Citeseer.
func newGCPAP() gcpaP { return gcpaP{Hops: 2, Samples: 10, Memory: rival.DefaultMemory} }

func (gcpaP) Name() string { return "gcpa-p" }

func (m gcpaP) Check(g *graph.Graph, nodes int) error {
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	const most = 20
	err := errors.Join(
		learn.Want(m.Hops >= 0 && m.Hops <= most, "hops", m.Hops, fmt.Sprintf("from 0 to %d", most)),
		learn.Want(m.Samples >= 1, "samples", m.Samples, "at least 1"),
	)
	if err != nil {
		return err
	}
	n, d := len(g.Split.Train), g.Features()
	what := fmt.Sprintf("%s on %s training nodes with %d features", m.Name(), digits.Group(n), d)
	return m.Memory.Fits(what, 4*float64(m.Hops+1)*float64(n)*float64(d))
}

// Condense averages random nodes of each class. The seed determines the nodes.
func (m gcpaP) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return rival.Run(ctx, m, g, nodes, seed, m.work, propagateStep, averageStep)
}

// work propagates the features and averages them.
func (m gcpaP) work(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
	features, err := m.propagate(ctx, task)
	if err != nil {
		return nil, err
	}
	defer task.Clock.Step(averageStep)()
	g := task.Graph
	classes := make([][]int32, g.Classes) // positions in the training split
	for i, c := range g.Labels(g.Split.Train) {
		classes[c] = append(classes[c], int32(i))
	}
	small := &condense.Condensed{
		X:       mat.NewDense(task.Nodes, g.Features()),
		Members: &mat.CSR{Rows: task.Nodes, Cols: g.Nodes(), Indptr: make([]int64, 1, task.Nodes+1)},
	}
	random, sum := rand.New(rand.NewPCG(task.Seed, 1)), make([]float64, g.Features())
	for c, k := range task.Budget {
		for range k {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			drawn := draw(classes[c], m.Samples, random)
			clear(sum)
			for _, i := range drawn {
				for f, v := range features.Row(int(i)) {
					sum[f] += float64(v)
				}
				small.Members.Indices = append(small.Members.Indices, g.Split.Train[i])
				small.Members.Data = append(small.Members.Data, 1/float32(len(drawn)))
			}
			for f, v := range sum {
				small.X.Row(len(small.Y))[f] = float32(v / float64(len(drawn)))
			}
			small.Members.Indptr = append(small.Members.Indptr, int64(len(small.Members.Indices)))
			small.Y = append(small.Y, int32(c))
		}
	}
	return small, nil
}

// draw returns samples of the given nodes, or all if there are fewer, ascending.
func draw(of []int32, samples int, random *rand.Rand) []int32 {
	drawn := make([]int32, min(samples, len(of)))
	for at, i := range random.Perm(len(of))[:len(drawn)] {
		drawn[at] = of[i]
	}
	slices.Sort(drawn)
	return drawn
}

// propagate returns ÂᴷX for the training nodes, in the order of the split.
func (m gcpaP) propagate(ctx context.Context, task *rival.Task) (mat.View, error) {
	defer task.Clock.Step(propagateStep)()
	g := task.Graph
	h, err := propagate.Run(ctx, blocked.Engine{}, propagate.Propagation{Rule: propagate.SGC, Hops: m.Hops},
		propagate.Input{Adj: g.Adj, X: g.X, Rows: g.Split.Train, Classes: g.Labels(g.Split.Train), Mapped: g.Mapped})
	if err != nil {
		return mat.View{}, err
	}
	return h[m.Hops], nil
}

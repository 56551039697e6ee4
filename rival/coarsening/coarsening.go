// Package coarsening condenses a graph by merging nodes into super-nodes: by local variation (VN) and by convolution
// matching (A-CM). No model is trained.
//
// Both begin with each node as a super-node, and merge sets of super-nodes in the order of a cost until N′ are left.
// A super-node has the mean features of its nodes and the summed weights of their edges. Its class is that of its
// training nodes. Super-nodes of different classes are never merged, and at least N′ with a class are kept. So in the
// end each super-node has one class. docs/rivals.md says what the papers do instead.
package coarsening

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/rival"
)

// The steps, as Seconds names them.
const (
	prepareStep = "prepare"
	mergeStep   = "merge"
)

// VN is coarsening by the local variation of neighbourhoods (Loukas 2019, "Graph Reduction with Spectral and Cut
// Guarantees"; Huang et al. 2021, "Scaling Up Graph Neural Networks Via Graph Coarsening"). Sets are the closed
// neighbourhoods; their cost says by how much merging changes the smooth signals on the graph. No random number of the
// seed is drawn: all seeds give the same graph.
type VN struct {
	// Eigenpairs is K, the number of eigenpairs of each component's Laplacian that the cost preserves, from 1 to 100.
	Eigenpairs int `json:"eigenpairs"`
	// OwnWeights divides the weights of A′ by what stays inside the super-nodes.
	OwnWeights bool `json:"own_weights"`
	// Memory bounds what the method takes.
	Memory rival.Memory `json:"memory"`
}

// NewVN returns VN with default parameters.
func NewVN() VN { return VN{Eigenpairs: 10, Memory: rival.DefaultMemory} }

// Name returns "vn".
func (VN) Name() string { return "vn" }

// Check returns what is wrong with the parameters, or with g or nodes for them.
func (m VN) Check(g *graph.Graph, nodes int) error {
	if m.Eigenpairs < 1 || m.Eigenpairs > 100 {
		return outOfRange("eigenpairs", m.Eigenpairs, "from 1 to 100")
	}
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	n, e, k := float64(g.Nodes()), float64(g.Adj.NNZ()), float64(m.Eigenpairs)
	// Rows of A and of the iteration, and edges of two graphs, of the Laplacian, and of the candidates.
	bytes := n*(8*5*(k+spare)+200) + e*(3*16+8) + 4*float64(nodes)*float64(g.Features())
	return m.Memory.Fits(fmt.Sprintf("vn on %s nodes", rival.Count(g.Nodes())), bytes)
}

// Condense merges neighbourhoods until N′ super-nodes are left. It reports each level.
func (m VN) Condense(
	ctx context.Context, g *graph.Graph, nodes int, seed uint64,
) (_ *condense.Condensed, err error) {
	defer memory.Recover(&err)
	if err := m.Check(g, nodes); err != nil {
		return nil, err
	}
	task, err := rival.Begin(ctx, g, m, nodes, seed, prepareStep, mergeStep)
	if err != nil {
		return nil, err
	}
	done := task.Clock.Step(prepareStep)
	c := begin(g)
	rows, err := c.spectrum(ctx, m.Eigenpairs)
	if err != nil {
		return nil, err
	}
	done()
	done = task.Clock.Step(mergeStep)
	for from := c.nodes(); c.nodes() > nodes; {
		report(ctx, from, c.nodes(), nodes)
		groups, err := c.level(ctx, rows, g.Classes, nodes)
		if err != nil {
			return nil, err
		}
		if len(groups) == 0 { // neighbours differ in their classes
			break
		}
		next, place := c.merge(groups)
		if rows, err = next.next(ctx, rows, place); err != nil {
			return nil, err
		}
		c = next
	}
	if c.nodes() > nodes {
		if c, err = c.finish(ctx, g, nodes); err != nil {
			return nil, err
		}
	}
	small, err := c.condensed(ctx, g, m.OwnWeights)
	if err != nil {
		return nil, err
	}
	done()
	return task.Finish(ctx, small)
}

// finish merges super-nodes of one class, where no two neighbours may be merged: those whose mean features are closest.
func (c *coarse) finish(ctx context.Context, g *graph.Graph, nodes int) (*coarse, error) {
	for c.nodes() > nodes {
		x, err := c.means(ctx, g.X)
		if err != nil {
			return nil, err
		}
		points := make([][]float64, x.Rows)
		for i := range points {
			for _, v := range x.Row(i) {
				points[i] = append(points[i], float64(v))
			}
		}
		pairs, err := c.alike(ctx, points, g.Classes)
		if err != nil {
			return nil, err
		}
		c, _ = c.merge(c.disjoint(pairs, c.nodes()-nodes, nodes))
	}
	return c, nil
}

// ACM is coarsening by approximate convolution matching, A-ConvMatch (Dickens et al. 2024, "Graph Coarsening via
// Convolution Matching for Scalable Graph Neural Network Training"). Pairs of super-nodes are merged. Their cost bounds
// the change of the convolution of SGC. No random number of the seed is drawn: all seeds give the same graph.
type ACM struct {
	// PairsPerLevel is the largest number of pairs that are merged before costs are computed anew, at least 0. 0 means 250
	// or a twentieth of the super-nodes, whichever is more.
	PairsPerLevel int `json:"pairs_per_level"`
	// OwnWeights divides the weights of A′ by what stays inside the super-nodes.
	OwnWeights bool `json:"own_weights"`
	// Memory bounds what the method takes.
	Memory rival.Memory `json:"memory"`
}

// NewACM returns A-CM with default parameters.
func NewACM() ACM { return ACM{Memory: rival.DefaultMemory} }

// Name returns "a-cm".
func (ACM) Name() string { return "a-cm" }

// Check returns what is wrong with the parameters, or with g or nodes for them.
func (m ACM) Check(g *graph.Graph, nodes int) error {
	if m.PairsPerLevel < 0 {
		return outOfRange("pairs per level", m.PairsPerLevel, "at least 0")
	}
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	n, d, e := float64(g.Nodes()), float64(g.Features()), float64(g.Adj.NNZ())
	// The features, their propagations and the sums of the neighbours; then pairs, points and edges.
	bytes := 4*n*d*(hops+3) + n*(2*24*within+8*3*components+200) + 3*16*e
	what := fmt.Sprintf("a-cm on %s nodes with %d features", rival.Count(g.Nodes()), g.Features())
	return m.Memory.Fits(what, bytes)
}

// Condense merges pairs until N′ super-nodes are left. It reports each level.
func (m ACM) Condense(
	ctx context.Context, g *graph.Graph, nodes int, seed uint64,
) (_ *condense.Condensed, err error) {
	defer memory.Recover(&err)
	if err := m.Check(g, nodes); err != nil {
		return nil, err
	}
	task, err := rival.Begin(ctx, g, m, nodes, seed, prepareStep, mergeStep)
	if err != nil {
		return nil, err
	}
	done := task.Clock.Step(prepareStep)
	c := begin(g)
	x, err := c.means(ctx, g.X)
	if err != nil {
		return nil, err
	}
	scores, err := c.project(ctx, g, x)
	if err != nil {
		return nil, err
	}
	done()
	done = task.Clock.Step(mergeStep)
	for from := c.nodes(); c.nodes() > nodes; {
		report(ctx, from, c.nodes(), nodes)
		v, err := c.convolution(ctx, x)
		if err != nil {
			return nil, err
		}
		points := v.apply(v.apply(scores))
		pairs, err := v.pairs(ctx, points, nodes)
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			if pairs, err = c.alike(ctx, points, g.Classes); err != nil {
				return nil, err
			}
		}
		most := m.PairsPerLevel
		if most == 0 {
			most = max(250, c.nodes()/20)
		}
		next, place := c.merge(c.disjoint(pairs, min(most, c.nodes()-nodes), nodes))
		x = c.merged(x, place, next)
		scores = c.mergedScores(scores, place, next)
		c = next
	}
	small, err := c.condensed(ctx, g, m.OwnWeights)
	if err != nil {
		return nil, err
	}
	done()
	return task.Finish(ctx, small)
}

// mergedScores is merged for scores.
func (c *coarse) mergedScores(scores [][]float64, place []int32, next *coarse) [][]float64 {
	merged := make([][]float64, next.nodes())
	for i, p := range place {
		if merged[p] == nil {
			merged[p] = make([]float64, len(scores[i]))
		}
		axpy(merged[p], float64(len(c.members[i]))/float64(len(next.members[p])), scores[i])
	}
	return merged
}

// report tells how many of the merges from so many super-nodes to nodes are done.
func report(ctx context.Context, from, now, nodes int) {
	progress.Report(ctx, progress.Event{Stage: mergeStep, Done: int64(from - now), Total: int64(from - nodes)})
}

func outOfRange(field string, value any, want string) error {
	return &condense.FieldError{Package: "coarsening", Field: field, Value: value, Want: want}
}

// Package coarsening condenses a graph by merging nodes of the same class into super-nodes: by local variation (VN) and
// by convolution matching (A-CM). No model is trained.
//
// Both start with each node as a super-node, and merge super-nodes by ascending cost until N′ are left. A super-node
// has the mean features of its nodes and the summed weights of their edges. Its class is the class of its training
// nodes. Super-nodes of different classes are never merged, and at least N′ super-nodes with a class are kept. So in
// the end, each super-node has a class.
//
// What differs from the authors' programs (loukasa/graph-coarsening and amazon-science/convolution-matching):
//   - The programs also merge nodes of different classes, and keep super-nodes without a class.
//   - VN takes the mean of the features. The program divides their sum by √|S| and then each row by its sum, and trains
//     GNNs that ignore edge weights. VN merges by cost in all components at once. The program coarsens one component
//     after another, in at most 10 levels.
//   - A-CM has the authors' settings for Cora on every graph. It searches pairs anew at each level, and merges up to
//     250 of them or a twentieth of the super-nodes. The program merges at most 10 pairs per level on Cora, and updates
//     only the costs near a merge. It stops at a given share of the edges.
//
// docs/notes/2026-11-baselines.md has the details.
package coarsening

import (
	"context"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/progress"
)

// Methods returns the methods of the package with their default parameters.
func Methods() []condense.Method {
	return []condense.Method{
		vn{Eigenpairs: 10, Memory: rival.DefaultMemory},
		acm{Hops: 3, Components: 15, KeepRate: 0.01, Memory: rival.DefaultMemory},
	}
}

// prepareStep and mergeStep are the names of the steps in Seconds.
const (
	prepareStep = "prepare"
	mergeStep   = "merge"
)

// classwise says how both methods differ from the published ones.
const classwise = "no merging of nodes of different classes, which favours the method"

// vn merges closed neighbourhoods into super-nodes, beginning with those whose merging changes the smooth signals on
// the graph least (variation neighbourhoods). Unlike the published method, it merges within classes only. Nothing is
// trained. Source: Loukas, Graph reduction with spectral and cut guarantees (2019); Huang et al., Scaling up graph
// neural networks via graph coarsening (2021).
//
// It is deterministic: all seeds give the same graph.
type vn struct {
	// Eigenpairs is the number of smooth signals that the cost measures: the eigenvectors with the smallest eigenvalues
	// of the Laplacian of each connected component, from 1 to 100.
	Eigenpairs int `json:"eigenpairs"`
	// OwnWeights divides A′_ij by √(m_i·m_j), where m_i is the number of nodes in super-node i plus twice the weight of
	// the edges inside it.
	OwnWeights bool `json:"own_weights"`
	// Memory limits the memory that the method uses.
	Memory rival.Memory `json:"memory"`
}

// Name returns "vn-classwise".
func (vn) Name() string { return "vn-classwise" }

// Altered implements condense.Altered.
func (vn) Altered() string { return classwise }

// Check validates the parameters, g, nodes and the memory limit.
func (m vn) Check(g *graph.Graph, nodes int) error {
	eigenpairs := parameter.Check(m.Eigenpairs >= 1 && m.Eigenpairs <= 100, "eigenpairs", m.Eigenpairs, "from 1 to 100")
	if err := rival.Check(g, nodes, eigenpairs); err != nil {
		return err
	}
	n, e, k := float64(g.Nodes()), float64(g.Adj.NNZ()), float64(m.Eigenpairs)
	// Counted: A and the vectors of the iteration; the edges of two graphs, the Laplacian and the candidates; X′.
	bytes := n*(8*5*(k+spare)+200) + e*(3*16+8) + 4*float64(nodes)*float64(g.Features())
	return m.Memory.Fits(fmt.Sprintf("%s on %s nodes", m.Name(), digits.Group(g.Nodes())), bytes)
}

// Condense merges neighbourhoods until N′ super-nodes are left. It reports the progress of each level.
func (m vn) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return rival.Run(ctx, m, g, nodes, seed, m.merge, prepareStep, mergeStep)
}

// merge runs the method and returns the condensed graph. If no two neighbours can be merged, because all differ in
// class, it merges the super-nodes of the same class whose mean features are closest.
func (m vn) merge(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
	g, nodes := task.Graph, task.Nodes
	done := task.Clock.Step(prepareStep)
	c := begin(g)
	rows, err := c.spectrum(ctx, m.Eigenpairs)
	if err != nil {
		return nil, err
	}
	done()
	groups := func(c *coarse) ([][]int32, error) {
		groups, err := c.level(ctx, rows, g.Classes, nodes)
		if err != nil || len(groups) > 0 {
			return groups, err
		}
		x, err := c.means(ctx, g.X)
		if err != nil {
			return nil, err
		}
		pairs, err := c.alike(ctx, doubles(x), g.Classes)
		return c.disjoint(pairs, c.nodes()-nodes, nodes), err
	}
	merged := func(_, next *coarse, place []int32) (err error) {
		rows, err = next.next(ctx, rows, place)
		return err
	}
	return c.reduce(ctx, task, m.OwnWeights, groups, merged)
}

// reduce merges the groups of super-nodes that groups returns until task.Nodes super-nodes are left, and returns the
// condensed graph. After each merge it calls merged. place[i] is the new super-node of old super-node i.
func (c *coarse) reduce(
	ctx context.Context, task *rival.Task, ownWeights bool, groups func(c *coarse) ([][]int32, error),
	merged func(c, next *coarse, place []int32) error,
) (*condense.Condensed, error) {
	defer task.Clock.Step(mergeStep)()
	for from := c.nodes(); c.nodes() > task.Nodes; {
		progress.Report(ctx, progress.Event{
			Stage: mergeStep, Done: int64(from - c.nodes()), Total: int64(from - task.Nodes),
		})
		chosen, err := groups(c)
		if err != nil {
			return nil, err
		}
		next, place := c.merge(chosen)
		if err := merged(c, next, place); err != nil {
			return nil, err
		}
		c = next
	}
	return c.condensed(ctx, task.Graph, ownWeights)
}

// acm merges pairs of super-nodes, beginning with those whose merging changes the convolution of SGC least
// (A-ConvMatch). Unlike the published method, it merges within classes only. Nothing is trained. Source: Dickens et
// al., Graph coarsening via convolution matching for scalable graph neural network training (2024).
//
// It is deterministic: all seeds give the same graph.
type acm struct {
	// Hops is the number of propagations of the features that are compared to find pairs, from 0 to 100. Components is
	// the number of principal components of these features, from 1 to 100. KeepRate, from 0 to 1, is the share of all
	// pairs of near neighbours, closest first, that are candidates for merging. The pair of a node and its nearest
	// neighbour always is a candidate.
	Hops       int     `json:"hops"`
	Components int     `json:"components"`
	KeepRate   float64 `json:"keep_rate"`
	// PairsPerLevel is the largest number of pairs that are merged before all costs are recomputed, at least 0. 0 means
	// 250 or a twentieth of the super-nodes, whichever is more.
	PairsPerLevel int `json:"pairs_per_level"`
	// OwnWeights divides A′_ij by √(m_i·m_j), where m_i is the number of nodes in super-node i plus twice the weight of
	// the edges inside it.
	OwnWeights bool `json:"own_weights"`
	// Memory limits the memory that the method uses.
	Memory rival.Memory `json:"memory"`
}

// Name returns "a-cm-classwise".
func (acm) Name() string { return "a-cm-classwise" }

// Altered implements condense.Altered.
func (acm) Altered() string { return classwise }

// Check validates the parameters, g, nodes and the memory limit.
func (m acm) Check(g *graph.Graph, nodes int) error {
	err := rival.Check(g, nodes,
		parameter.Check(m.Hops >= 0 && m.Hops <= 100, "hops", m.Hops, "from 0 to 100"),
		parameter.Check(m.Components >= 1 && m.Components <= 100, "components", m.Components, "from 1 to 100"),
		parameter.Check(m.KeepRate >= 0 && m.KeepRate <= 1, "keep rate", m.KeepRate, "from 0 to 1"),
		parameter.Check(m.PairsPerLevel >= 0, "pairs per level", m.PairsPerLevel, "at least 0"),
	)
	if err != nil {
		return err
	}
	n, d, e := float64(g.Nodes()), float64(g.Features()), float64(g.Adj.NNZ())
	// Counted: the features, their propagations and the sums over neighbours; then pairs, points and edges.
	bytes := 4*n*d*float64(m.Hops+3) + n*float64(2*24*within+8*3*m.Components+200) + 3*16*e
	what := fmt.Sprintf("%s on %s nodes with %d features", m.Name(), digits.Group(g.Nodes()), g.Features())
	return m.Memory.Fits(what, bytes)
}

// Condense merges pairs until N′ super-nodes are left. It reports the progress of each level.
func (m acm) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return rival.Run(ctx, m, g, nodes, seed, m.merge, prepareStep, mergeStep)
}

// merge runs the method and returns the condensed graph.
func (m acm) merge(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
	g, nodes := task.Graph, task.Nodes
	done := task.Clock.Step(prepareStep)
	c := begin(g)
	x, err := c.means(ctx, g.X)
	if err != nil {
		return nil, err
	}
	scores, err := c.project(ctx, g, x, m.Hops, m.Components)
	if err != nil {
		return nil, err
	}
	done()
	groups := func(c *coarse) ([][]int32, error) {
		v, err := c.convolution(ctx, x)
		if err != nil {
			return nil, err
		}
		points := scores
		for range m.Hops {
			points = v.apply(points)
		}
		pairs, err := v.pairs(ctx, points, m.KeepRate, nodes)
		if err == nil && len(pairs) == 0 {
			pairs, err = c.alike(ctx, points, g.Classes)
		}
		most := m.PairsPerLevel
		if most == 0 {
			most = max(250, c.nodes()/20)
		}
		return c.disjoint(pairs, min(most, c.nodes()-nodes), nodes), err
	}
	merged := func(c, next *coarse, place []int32) error {
		x = factor.Rounded(mergedRows(c, next, place, x.View().Rows()), x.Cols)
		scores = slices.Collect(slices.Chunk(mergedRows(c, next, place, scores), len(scores[0])))
		return nil
	}
	return c.reduce(ctx, task, m.OwnWeights, groups, merged)
}

package coarsening

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
)

type edge struct {
	to     int32
	weight float64
}

// coarse is a graph of super-nodes. Each represents some nodes of the original graph, its members.
type coarse struct {
	// edges[i] holds the edges from super-node i to other super-nodes, sorted by their other end. Their weights are the
	// sums of the weights of the edges between the members.
	edges [][]edge
	// inside[i] is the sum of the weights inside super-node i, counting each edge in both directions.
	inside []float64
	// members[i] holds the members of i, ascending.
	members [][]int32
	// class[i] is the class of the training nodes in i, or graph.Unlabelled if there are none.
	class []int32
	// labelled is the number of super-nodes with a class.
	labelled int
	// components holds the connected components, each ascending. It is nil after a merge.
	components [][]int32
}

// begin returns g with each node as a super-node. It omits components without a training node, which no label can
// reach.
func begin(g *graph.Graph) *coarse {
	trains := make([]bool, g.Nodes())
	for _, v := range g.Split.Train {
		trains[v] = true
	}
	parts := slices.DeleteFunc(reach.Components(g.Adj), func(part []int32) bool {
		return !slices.ContainsFunc(part, func(v int32) bool { return trains[v] })
	})
	nodes := slices.Sorted(slices.Values(slices.Concat(parts...)))
	place := make([]int32, g.Nodes())
	for i, v := range nodes {
		place[v] = int32(i)
	}
	c := &coarse{inside: make([]float64, len(nodes)), labelled: len(g.Split.Train), components: parts}
	for _, part := range parts {
		for i, v := range part {
			part[i] = place[v]
		}
		slices.Sort(part)
	}
	for _, v := range nodes {
		var edges []edge
		for j, w := range g.Adj.Row(int(v)) {
			edges = append(edges, edge{place[j], float64(w)})
		}
		c.edges = append(c.edges, edges)
		c.members = append(c.members, []int32{v})
		class := int32(graph.Unlabelled)
		if trains[v] {
			class = g.Y[v]
		}
		c.class = append(c.class, class)
	}
	return c
}

// nodes returns the number of super-nodes.
func (c *coarse) nodes() int { return len(c.edges) }

// degree returns the sum of the weights of the edges of a super-node.
func degree(edges []edge) (sum float64) {
	for _, e := range edges {
		sum += e.weight
	}
	return sum
}

// degrees returns the degree of each super-node.
func degrees(edges [][]edge) []float64 {
	sums := make([]float64, len(edges))
	for i, of := range edges {
		sums[i] = degree(of)
	}
	return sums
}

// may reports whether two super-nodes may be merged. fall says whether the number of labelled super-nodes may decrease.
func (c *coarse) may(i, j int32, fall bool) bool {
	a, b := c.class[i], c.class[j]
	return a == graph.Unlabelled || b == graph.Unlabelled || a == b && fall
}

// merge returns the graph in which each group is merged into one super-node, and the new super-node of each old one.
// Groups must not overlap. New super-nodes are ordered by their first old super-node.
func (c *coarse) merge(groups [][]int32) (*coarse, []int32) {
	n := c.nodes()
	first := memory.Range(0, n)
	for _, group := range groups {
		least := slices.Min(group)
		for _, i := range group {
			first[i] = least
		}
	}
	place := make([]int32, n)
	var parts [][]int32
	for i, f := range first {
		if int(f) == i {
			place[i] = int32(len(parts))
			parts = append(parts, nil)
		}
		place[i] = place[f]
		parts[place[i]] = append(parts[place[i]], int32(i))
	}
	next := &coarse{
		edges: make([][]edge, len(parts)), inside: make([]float64, len(parts)),
		members: make([][]int32, len(parts)), class: make([]int32, len(parts)),
	}
	for p, part := range parts {
		next.class[p] = graph.Unlabelled
		var edges []edge
		for _, i := range part {
			next.inside[p] += c.inside[i]
			next.members[p] = append(next.members[p], c.members[i]...)
			if c.class[i] != graph.Unlabelled {
				next.class[p] = c.class[i]
			}
			for _, e := range c.edges[i] {
				if to := place[e.to]; int(to) == p {
					next.inside[p] += e.weight
				} else {
					edges = append(edges, edge{to, e.weight})
				}
			}
		}
		if next.class[p] != graph.Unlabelled {
			next.labelled++
		}
		if len(part) > 1 {
			slices.Sort(next.members[p])
		}
		slices.SortStableFunc(edges, func(a, b edge) int { return int(a.to) - int(b.to) })
		for _, e := range edges { // add up edges with the same end
			if last := len(next.edges[p]) - 1; last >= 0 && next.edges[p][last].to == e.to {
				next.edges[p][last].weight += e.weight
			} else {
				next.edges[p] = append(next.edges[p], e)
			}
		}
	}
	return next, place
}

// condensed returns the condensed graph of c, whose super-nodes all have a class. X′ holds the mean features of the
// members.
//
// If own is false, A′_ij is the sum of the weights between super-nodes i and j. If own is true, this sum is divided by
// √(m_i·m_j), where m_i is the number of nodes in i plus the weights inside i. A GNN adds self-loops of weight 1 to A′.
// With the division, a super-node's self-loop has about the same weight as the connections among its members in the
// original graph.
func (c *coarse) condensed(ctx context.Context, g *graph.Graph, own bool) (*condense.Condensed, error) {
	n := c.nodes()
	small := &condense.Condensed{Y: c.class}
	small.Adj = &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, 1, n+1), Data: []float32{}}
	small.Members = &mat.CSR{Rows: n, Cols: g.Nodes(), Indptr: make([]int64, 1, n+1), Data: []float32{}}
	mass := func(i int) float64 { return float64(len(c.members[i])) + c.inside[i] }
	for i := range n {
		for _, e := range c.edges[i] {
			w := e.weight
			if own {
				w /= math.Sqrt(mass(i) * mass(int(e.to)))
			}
			if f := float32(w); f > 0 && !math.IsInf(float64(f), 0) {
				small.Adj.Indices, small.Adj.Data = append(small.Adj.Indices, e.to), append(small.Adj.Data, f)
			} else if f != 0 {
				return nil, fmt.Errorf("an edge of super-node %d has the weight %v, must have at most %v", i, w,
					float32(math.MaxFloat32))
			}
		}
		small.Adj.Indptr = append(small.Adj.Indptr, int64(len(small.Adj.Indices)))
		for _, v := range c.members[i] {
			small.Members.Indices = append(small.Members.Indices, v)
			small.Members.Data = append(small.Members.Data, float32(1/float64(len(c.members[i]))))
		}
		small.Members.Indptr = append(small.Members.Indptr, int64(len(small.Members.Indices)))
	}
	var err error
	small.X, err = c.means(ctx, g.X)
	return small, err
}

func zeros(n, k int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, k)
	}
	return rows
}

// doubles returns the rows of x in float64.
func doubles(x *mat.Dense) [][]float64 {
	rows := zeros(x.Rows, x.Cols)
	for i := range rows {
		for j, v := range x.Row(i) {
			rows[i][j] = float64(v)
		}
	}
	return rows
}

// means returns the mean of the rows of x in each super-node.
func (c *coarse) means(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	_, d := x.Dims()
	means := mat.NewDense(c.nodes(), d)
	var block mat.Dense
	sum := make([]float64, d)
	for i, members := range c.members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(sum)
		for rows := range slices.Chunk(members, 256) {
			if err := mat.Rows(&block, x, rows); err != nil {
				return nil, err
			}
			for r := range rows {
				for j, v := range block.Row(r) {
					sum[j] += float64(v)
				}
			}
		}
		for j, v := range sum {
			means.Row(i)[j] = float32(v / float64(len(members)))
		}
	}
	return means, nil
}

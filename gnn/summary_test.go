package gnn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// modulo returns a division of n nodes into groups: node i is in group i mod m.
func modulo(n, m, groups int) func(_, _ *mat.Dense) ([]int32, int, error) {
	group := make([]int32, n)
	for i := range group {
		group[i] = int32(i % m)
	}
	return func(_, _ *mat.Dense) ([]int32, int, error) { return group, groups, nil }
}

// arriving returns a known graph, features of two new nodes, and their edges. The new nodes are joined with each other.
func arriving(weighted, sparse bool) (adj *mat.CSR, x, arrived mat.Matrix, edges *mat.CSR) {
	const n, d = 17, 6
	random := rand.New(rand.NewPCG(3, 1))
	adj = randomGraph(n, 0.2, weighted, random)
	some, others := bags(n, d, true, random), bags(2, d, true, random)
	edges = &mat.CSR{Rows: 2, Cols: n + 2, Indptr: []int64{0, 4, 6}, Indices: []int32{0, 3, 11, n + 1, 3, n}}
	if weighted {
		edges.Data = []float32{0.5, 2, 1, 3, 0.25, 3}
	}
	if sparse {
		return adj, some, others, edges
	}
	return adj, some.Dense(), others.Dense(), edges
}

// TestNewNodes compares the logits of new nodes with the formulas, on the graph in which edges lead from known nodes to
// new ones and not back. Each known node is a group.
func TestNewNodes(t *testing.T) {
	eachVariant(t, func(t *testing.T, m gnn.Model) {
		for _, c := range []struct {
			weighted, sparse bool
			hidden           int
		}{{false, false, 8}, {true, false, 4}, {true, true, 8}, {false, true, 16}} {
			adj, x, arrived, edges := arriving(c.weighted, c.sparse)
			n, d := x.Dims()
			trained := &gnn.Trained{Model: m, Features: d, Hidden: c.hidden, Classes: 3}
			trained.Parameters = parameters(m, d, c.hidden, 3, rand.New(rand.NewPCG(5, 6)))
			s := mattest.Must(trained.Summarize(t.Context(), adj, x, modulo(n, n, n)))
			got := mattest.Must(trained.LogitsOfNew(t.Context(), s, edges, arrived))
			if needs := !slices.Contains([]string{"sage", "gat"}, strings.Split(m.Name(), ":")[0]); needs != (s.Degree != nil) {
				t.Errorf("%d degrees, needed: %v", len(s.Degree), needs)
			} else if needs {
				without := *s
				without.Degree = nil
				mattest.Fails(t, "it has no degrees")(trained.LogitsOfNew(t.Context(), &without, edges, arrived))
			}

			pattern := newTable(n+2, n+2)
			degree := make([]float64, n+2)
			for i := range n + 2 {
				pattern[i][i] = 1
				rows, at := adj, i
				if i >= n {
					rows, at = edges, i-n
				}
				for j, w := range rows.Row(at) {
					pattern[i][j] = float64(w)
				}
				for _, w := range pattern[i] {
					degree[i] += w
				}
			}
			symmetric := pattern.each(func(i, j int, w float64) float64 {
				if i >= n && j < n {
					return w / math.Sqrt(degree[i]*(degree[j]+w))
				}
				return w / math.Sqrt(degree[i]*degree[j])
			})
			mean := pattern.each(func(i, _ int, w float64) float64 { return w / degree[i] })
			var p []table
			for _, parameter := range trained.Parameters {
				p = append(p, tableOf(parameter))
			}
			all := slices.Concat(tableOf(x), tableOf(arrived))
			logitsBy(m, symmetric, mean, pattern, all, p)[n:].near(t, fmt.Sprintf("%+v: logit of a new node", c), got, 1)
		}
	})
}

// TestSummaryOfGroups checks that the row of a group is the mean of the rows of its nodes.
func TestSummaryOfGroups(t *testing.T) {
	eachVariant(t, func(t *testing.T, m gnn.Model) {
		adj, x, _, _ := arriving(true, true)
		n, d := x.Dims()
		trained := &gnn.Trained{Model: m, Features: d, Hidden: 8, Classes: 3}
		trained.Parameters = parameters(m, d, 8, 3, rand.New(rand.NewPCG(5, 6)))
		some := mattest.Must(trained.Summarize(t.Context(), adj, x, modulo(n, 3, 4))) // the last group is empty
		all := mattest.Must(trained.Summarize(t.Context(), adj, x, modulo(n, n, n)))
		average := newTable(4, n)
		for i := range n {
			average[i%3][i] = 1 / float64((n+2-i%3)/3)
		}
		for k, means := range some.Means {
			average.times(tableOf(all.Means[k])).near(t, fmt.Sprintf("propagation %d: mean", k), means, 1)
		}
	})
}

// TestSummaryRefuses checks the errors for summaries and new nodes that do not fit.
func TestSummaryRefuses(t *testing.T) {
	adj, x, arrived, edges := arriving(false, false)
	n, d := x.Dims()
	model := func(m gnn.Model) *gnn.Trained {
		return &gnn.Trained{
			Model: m, Features: d, Hidden: 8, Classes: 3,
			Parameters: parameters(m, d, 8, 3, rand.New(rand.NewPCG(5, 6))),
		}
	}
	gcn := model(gnn.GCN())
	mattest.Fails(t, "groups of 16 nodes for a graph of 17")(gcn.Summarize(t.Context(), adj, x, modulo(n-1, n, n)))
	mattest.Fails(t, "node 16 is in group 16, must be 0 to 15")(gcn.Summarize(t.Context(), adj, x, modulo(n, n, n-1)))
	s := mattest.Must(gcn.Summarize(t.Context(), adj, x, modulo(n, n, n)))
	mattest.Fails(t, "2×5, must be the 6 features")(gcn.LogitsOfNew(t.Context(), s, edges, mat.NewDense(2, 5)))
	more := mat.NewDense(3, d)
	mattest.Fails(t, "edges are 2×19 for 3 new and 17 known nodes")(gcn.LogitsOfNew(t.Context(), s, edges, more))
	for want, change := range map[string]func(e *mat.CSR, x *mat.Dense){
		"feature 2 of node 1 is not a finite number": func(_ *mat.CSR, x *mat.Dense) { x.Row(1)[2] = float32(math.NaN()) },
		"weight -1 of the edge from new node 0 to":   func(e *mat.CSR, _ *mat.Dense) { e.Data[2] = -1 },
		"adjacency entry (0, 0) is a self-loop":      func(e *mat.CSR, _ *mat.Dense) { e.Indices[3] = int32(n) },
		"entry (1, 0) has no counterpart":            func(e *mat.CSR, _ *mat.Dense) { e.Indices[3] = int32(n) - 1 },
		"(0, 1) has weight 3, and 2 the other way":   func(e *mat.CSR, _ *mat.Dense) { e.Data[5] = 2 },
	} {
		_, _, arrived, edges := arriving(true, false)
		x := arrived.(*mat.Dense)
		change(edges, x)
		mattest.Fails(t, want)(gcn.LogitsOfNew(t.Context(), s, edges, x))
	}
	unknown := x.(*mat.Dense).Clone()
	unknown.Row(3)[1] = float32(math.Inf(1))
	mattest.Fails(t, "feature 1 of node 3 is not a finite number")(gcn.Logits(t.Context(), adj, unknown))
	mattest.Fails(t, "feature 1 of node 3 is not a finite")(gcn.Summarize(t.Context(), adj, unknown, modulo(n, n, n)))
	alone := &mat.CSR{Rows: 2, Cols: n + 2, Indptr: make([]int64, 3)}
	without := mattest.Must(gcn.LogitsOfNew(t.Context(), s, alone, arrived))
	mattest.Equal(t, mattest.Must(gcn.LogitsOfNew(t.Context(), s, nil, arrived)), without, "logits with nil edges")
	mattest.Fails(t, "the summary is not of this model")(model(gnn.APPNP()).LogitsOfNew(t.Context(), s, edges, arrived))
}

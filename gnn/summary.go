package gnn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Summary holds what a trained model needs to know about a graph to classify new nodes with edges to it. The nodes of
// the graph (the known nodes) are divided into M groups. In each propagation, the model replaces the values of a known
// node by their mean over the node's group. So an edge to a known node becomes an edge to its group, as in Gao et al.,
// Graph condensation for inductive node representation learning (ICDE 2024), whose mapping is learnt.
type Summary struct {
	// Group is the group of each known node, from 0 to M − 1.
	Group []int32
	// Degree is Σ_j A_ij of each known node, or nil if the model does not propagate by Â.
	Degree []float32
	// Means has one matrix, M×k, for each propagation of the model, in the order of the forward pass. Row g is the mean
	// over group g of the rows that are propagated. Attention propagates two matrices, the scores and the rows.
	Means []*mat.Dense
}

// Summarize returns the summary of a graph for the model m. adj and x are as in Logits. divide is called once with the
// logits of all nodes and with the matrix that is propagated last, which has a row for each node. It returns the group
// of each node, from 0 to groups − 1. Summarize needs the memory of a forward pass over the full graph, and keeps all
// matrices that are propagated. Equal arguments give equal bytes for any number of threads.
func (m *Trained) Summarize(ctx context.Context, adj *mat.CSR, x mat.Matrix,
	divide func(logits, last *mat.Dense) (group []int32, groups int, err error)) (_ *Summary, err error) {
	defer memory.Recover(&err)
	adj, err = m.accepted(ctx, adj, x)
	if err != nil {
		return nil, err
	}
	n := adj.Rows
	s := new(Summary)
	logits, err := forward(m.Model, &adjacency{ctx: ctx, nodes: n, constant: adj, summary: s}, x, m.Parameters)
	if err != nil {
		return nil, err
	}
	if len(s.Means) == 0 {
		return nil, fmt.Errorf("model %s does not propagate: new nodes need no summary", m.Model.Name())
	}
	group, groups, err := divide(logits, s.Means[len(s.Means)-1])
	if err != nil {
		return nil, err
	}
	if len(group) != n {
		return nil, fmt.Errorf("groups of %d nodes for a graph of %d nodes", len(group), n)
	}
	for i, k := range group {
		if k < 0 || int(k) >= groups {
			return nil, fmt.Errorf("node %d is in group %d, must be 0 to %d", i, k, groups-1)
		}
	}
	s.Group = group
	for k, rows := range s.Means {
		s.Means[k] = meansOf(rows, group, groups)
	}
	return s, nil
}

// meansOf returns the mean over each group of the rows of x.
func meansOf(x *mat.Dense, group []int32, groups int) *mat.Dense {
	means, sums := mat.NewDense(groups, x.Cols), make([]float64, groups*x.Cols)
	sizes := make([]int, groups)
	for i, k := range group {
		sizes[k]++
		sum := sums[int(k)*x.Cols:][:x.Cols]
		for c, v := range x.Row(i) {
			sum[c] += float64(v)
		}
	}
	for k, size := range sizes {
		for c := range x.Cols {
			means.Row(k)[c] = float32(sums[k*x.Cols+c] / float64(max(1, size)))
		}
	}
	return means
}

// LogitsOfNew returns the logits, B×c, of B new nodes with features x. Their edges are B×(N+B) for a summary of N
// nodes: column j < N is known node j, and column N + i is new node i. An edge between two new nodes is in the rows of
// both, and there are no self-loops. Nil means no edges. Known nodes keep the values that they propagate. With one new
// node and one group per known node, the result equals Logits on the graph with this node, except that its neighbours
// keep their values.
func (m *Trained) LogitsOfNew(ctx context.Context, s *Summary, edges *mat.CSR, x mat.Matrix) (_ *mat.Dense, err error) {
	defer memory.Recover(&err)
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	known := len(s.Group)
	n, _ := x.Dims()
	if edges == nil {
		edges = &mat.CSR{Rows: n, Cols: known + n, Indptr: make([]int64, n+1)}
	}
	if edges.Rows != n || edges.Cols != known+n {
		return nil, fmt.Errorf("edges are %d×%d for %d new and %d known nodes", edges.Rows, edges.Cols, n, known)
	}
	if err := edges.Validate(ctx); err != nil {
		return nil, fmt.Errorf("edges: %w", err)
	}
	some := &arrivals{edges: edges, degrees: make([]float64, n)}
	among := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
	for i := range n {
		for j, w := range edges.Row(i) {
			if !(w > 0 && w <= math.MaxFloat32) {
				return nil, fmt.Errorf("weight %v of the edge from new node %d to column %d, must be a positive finite number",
					w, i, j)
			}
			some.degrees[i] += float64(w)
			if j >= known {
				among.Indices = append(among.Indices, int32(j-known))
				if edges.Data != nil {
					among.Data = append(among.Data, w)
				}
			}
		}
		among.Indptr[i+1] = int64(len(among.Indices))
	}
	if err := check(ctx, among, x, false); err != nil {
		return nil, fmt.Errorf("new nodes: %w", err)
	}
	a := &adjacency{ctx: ctx, nodes: n, constant: among, summary: s, arrivals: some}
	return forward(m.Model, a, x, m.Parameters)
}

// arrivals connects new nodes to the groups of a summary.
type arrivals struct {
	edges   *mat.CSR  // the argument of LogitsOfNew
	degrees []float64 // Σ_j A_ij of the new nodes
	next    int       // the index in Summary.Means of the next propagation
}

// means returns the summary's means for the next propagation, which propagates x. It returns nil if they do not fit.
func (a *adjacency) means(x *mat.Dense) *mat.Dense {
	s := a.arrivals
	if s.next >= len(a.summary.Means) || a.summary.Means[s.next].Cols != x.Cols {
		if a.failed == nil {
			a.failed = fmt.Errorf("the summary is not of this model: it has no %d columns for propagation %d", x.Cols, s.next)
		}
		return nil
	}
	s.next++
	return a.summary.Means[s.next-1]
}

// addKnown adds the contributions of the known neighbours to each row of z, which is P·x at the new nodes.
func (a *adjacency) addKnown(r rule, z, x *mat.Dense) {
	means := a.means(x)
	if r == symmetric && a.summary.Degree == nil && a.failed == nil {
		a.failed = errors.New("the summary is not of this model: it has no degrees")
	}
	if means == nil || a.failed != nil {
		return
	}
	for i, degree := range a.arrivals.degrees {
		for j, w := range a.arrivals.edges.Row(i) {
			if j >= len(a.summary.Group) {
				continue
			}
			p := float64(w)
			switch r {
			case symmetric: // the new edge adds to the degree of the known node
				p /= math.Sqrt((1 + degree) * (1 + float64(a.summary.Degree[j]) + p))
			case mean:
				p /= 1 + degree
			}
			kernel.Axpy(float32(p), means.Row(int(a.summary.Group[j])), z.Row(i))
		}
	}
}

// attendNew returns the attention of new nodes over themselves and their neighbours, for x with the given scores.
func (a *adjacency) attendNew(own, other *mat.Dense, slope float32, x *mat.Dense) *mat.Dense {
	z := mat.NewDense(x.Rows, x.Cols)
	otherMeans, means := a.means(other), a.means(x)
	if otherMeans == nil || means == nil {
		return z
	}
	heads, known := own.Cols, len(a.summary.Group)
	width := x.Cols / heads
	var scores, rows [][]float32 // of the node itself and its neighbours
	var weights []float32
	for i := range x.Rows {
		scores, rows = append(scores[:0], other.Row(i)), append(rows[:0], x.Row(i))
		for j := range a.arrivals.edges.Row(i) {
			if j >= known {
				scores, rows = append(scores, other.Row(j-known)), append(rows, x.Row(j-known))
			} else {
				k := int(a.summary.Group[j])
				scores, rows = append(scores, otherMeans.Row(k)), append(rows, means.Row(k))
			}
		}
		for h := range heads {
			weights = weights[:0]
			for _, s := range scores {
				score := own.Row(i)[h] + s[h]
				if score < 0 {
					score *= slope
				}
				weights = append(weights, score)
			}
			kernel.Softmax(weights)
			for j, w := range weights {
				kernel.Axpy(w, rows[j][h*width:][:width], z.Row(i)[h*width:][:width])
			}
		}
	}
	return z
}

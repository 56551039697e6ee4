package condense

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/ward"
	"github.com/graph-condensation/cgc/mat"
)

// Cut returns a condensed graph with fewer nodes. Each of its nodes is a node of c or a union of nodes of one class.
// Cuts are nested: nodes that are united in a larger cut are united in every smaller one. At each step, Cut unites the
// two nodes i and j of a class for which the sum of squared distances to the means grows least (Ward, Hierarchical
// grouping to optimize an objective function, 1963):
//
//	m_i·m_j/(m_i + m_j) · ‖x_i − x_j‖²
//
// where m_i is the number of source nodes, or 1 without source nodes. Features, soft labels and weights of source nodes
// become means, weighted by m. Nodes are ordered by class, then by their first node in c. Config stays the same; the
// account gains cut_from, the number of nodes of c, and part_of, the new node of each node of c.
//
// A cut has no edges. If c has edges, its features are first propagated over them twice, as in a GNN with two layers:
// X′ becomes Â′²X′, which is close to H′ for the method cgc (eq. 17).
//
// nodes is at least the number of classes with condensed nodes, and at most N′. Cut takes O(n²·d) time for each class
// of n nodes. The result is the same for any number of threads.
func (c *Condensed) Cut(ctx context.Context, nodes int) (_ *Condensed, err error) {
	defer memory.Recover(&err)
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("the condensed graph is not valid: %w", err)
	}
	if c.Edges() > 0 {
		without := *c
		for range 2 {
			next := new(mat.Dense)
			if err := c.Operator().Apply(ctx, next, without.X); err != nil {
				return nil, err
			}
			without.X = next
		}
		without.Adj = nil
		c = &without
	}
	n := len(c.Y)
	mass := make([]float64, n)
	for i := range mass {
		mass[i] = c.mass(int32(i))
	}
	merges, err := ward.Merges(ctx, c.X, c.Y, mass)
	if err != nil {
		return nil, err
	}
	if least := n - len(merges); nodes < least || nodes > n {
		return nil, &FieldError{Field: "nodes", Value: nodes, Want: fmt.Sprintf(
			"%d (the classes with condensed nodes) to %d (the nodes of the condensed graph)", least, n)}
	}
	first := memory.Range(0, n+len(merges)) // the first node of c in each union
	for k, pair := range merges[:n-nodes] {
		first[n+k] = min(first[pair[0]], first[pair[1]])
	}
	for k := n - nodes - 1; k >= 0; k-- { // both parts get the first node of their union
		for _, part := range merges[k] {
			first[part] = first[n+k]
		}
	}
	parts := make([][]int32, n)
	for i := range n {
		parts[first[i]] = append(parts[first[i]], int32(i))
	}
	parts = slices.DeleteFunc(parts, func(p []int32) bool { return len(p) == 0 })
	slices.SortStableFunc(parts, func(a, b []int32) int { return cmp.Compare(c.Y[a[0]], c.Y[b[0]]) })
	return c.united(parts)
}

// mass returns the number of source nodes of node i, or 1 without source nodes.
func (c *Condensed) mass(i int32) float64 {
	if c.Members == nil {
		return 1
	}
	return max(1, float64(c.Members.Indptr[i+1]-c.Members.Indptr[i]))
}

// united returns c with the nodes of each part united into one.
func (c *Condensed) united(parts [][]int32) (*Condensed, error) {
	u := *c
	u.X, u.Y, u.Adj = mat.NewDense(len(parts), c.X.Cols), make([]int32, len(parts)), nil
	if c.Soft != nil {
		u.Soft = mat.NewDense(len(parts), c.Classes)
	}
	if c.Members != nil {
		u.Members = &mat.CSR{Rows: len(parts), Cols: c.Members.Cols, Indptr: make([]int64, 1, len(parts)+1)}
		u.MemberIDs = nil
	}
	partOf := make([]int, len(c.Y))
	for j, part := range parts {
		u.Y[j] = c.Y[part[0]]
		total := 0.0
		weights := make([]float64, len(part))
		for k, i := range part {
			partOf[i], weights[k] = j, c.mass(i)
			total += weights[k]
		}
		for k := range weights {
			weights[k] /= total
		}
		meanRow(u.X.Row(j), c.X, part, weights)
		if c.Soft != nil {
			meanRow(u.Soft.Row(j), c.Soft, part, weights)
		}
		if c.Members != nil {
			c.uniteMembers(&u, part, weights)
		}
	}
	u.Budget = CountBudget(u.Y, c.Classes)
	account := map[string]json.RawMessage{}
	if len(c.Account) > 0 {
		if err := json.Unmarshal(c.Account, &account); err != nil {
			return nil, fmt.Errorf("account: %w", err)
		}
	}
	var err error
	if account["part_of"], err = json.Marshal(partOf); err != nil {
		return nil, err
	}
	account["cut_from"] = json.RawMessage(strconv.Itoa(len(c.Y)))
	u.Account, err = json.Marshal(account)
	return &u, err
}

// CutFrom returns the number of nodes of the condensed graph that c was cut from, or 0 if c is no cut.
func (c *Condensed) CutFrom() int {
	var account struct {
		CutFrom int `json:"cut_from"`
	}
	if json.Unmarshal(c.Account, &account) != nil {
		return 0
	}
	return account.CutFrom
}

// meanRow sets dst to the weighted mean of some rows of x.
func meanRow(dst []float32, x *mat.Dense, rows []int32, weights []float64) {
	sums := make([]float64, len(dst))
	for k, i := range rows {
		for j, v := range x.Row(int(i)) {
			sums[j] += weights[k] * float64(v)
		}
	}
	for j, v := range sums {
		dst[j] = float32(v)
	}
}

// uniteMembers appends a row to u.Members: the source nodes of a part. A node may be a source node of several parts.
func (c *Condensed) uniteMembers(u *Condensed, part []int32, weights []float64) {
	type member struct {
		node   int32
		entry  int64
		weight float64
	}
	var list []member
	for k, i := range part {
		e := c.Members.Indptr[i]
		for node, w := range c.Members.Row(int(i)) {
			list = append(list, member{int32(node), e, weights[k] * float64(w)})
			e++
		}
	}
	slices.SortStableFunc(list, func(a, b member) int { return cmp.Compare(a.node, b.node) })
	m := u.Members
	for at := 0; at < len(list); {
		first, sum := list[at], 0.0
		for ; at < len(list) && list[at].node == first.node; at++ {
			sum += list[at].weight
		}
		m.Indices, m.Data = append(m.Indices, first.node), append(m.Data, float32(sum))
		if c.MemberIDs != nil {
			u.MemberIDs = append(u.MemberIDs, c.MemberIDs[first.entry])
		}
	}
	m.Indptr = append(m.Indptr, int64(len(m.Indices)))
}

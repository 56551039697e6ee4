package condense

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Cut returns a condensed graph with fewer nodes. Each is a node of c or a union of several nodes of one class. Smaller
// cuts unite what larger ones have united: the sizes are nested. At each step, Cut unites the two nodes i and j for
// which the sum of squared distances to the means grows least (Ward, Hierarchical grouping to optimize an objective
// function, 1963):
//
//	m_i·m_j/(m_i + m_j) · ‖x_i − x_j‖²
//
// where m_i is the number of source nodes, or 1 without source nodes. Features, soft labels and weights of source nodes
// become means, weighted by m. Nodes are ordered by class, then by their first node in c. Config is that of c; the
// account also has cut_from, the number of nodes of c, and part_of, the new node of each node of c.
//
// A cut has no edges. If c has edges, its features are first propagated over them twice, as in a GNN with two layers:
// X′ becomes Â′²X′, which is close to H′ for the method cgc (eq. 17).
//
// nodes is at least the number of classes with condensed nodes, and at most N′. Cut takes O(n²·d) for each class of n
// nodes. The result is the same for any number of threads.
func (c *Condensed) Cut(ctx context.Context, nodes int) (_ *Condensed, err error) {
	defer memory.Recover(&err)
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
	merges, err := c.merges(ctx)
	if err != nil {
		return nil, err
	}
	n := len(c.Y)
	if least := n - len(merges); nodes < least || nodes > n {
		return nil, fmt.Errorf("%d nodes, must be %d (the classes with condensed nodes) to %d (the nodes of the condensed "+
			"graph)", nodes, least, n)
	}
	first := make([]int32, n+len(merges)) // the first node of c in each node
	for i := range first {
		first[i] = int32(i)
	}
	for k, pair := range merges[:n-nodes] {
		first[n+k] = min(first[pair[0]], first[pair[1]])
	}
	for k := n - nodes - 1; k >= 0; k-- { // parts belong to what they form
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

// merges returns the two nodes of each merge, in order, until one node of each class is left. Merge k makes node N′+k.
func (c *Condensed) merges(ctx context.Context) (merges [][2]int32, err error) {
	type merge struct {
		a, b  int32 // nodes, or N′ plus the index in all
		rises float64
	}
	var all []merge
	n := len(c.Y)
	for class := range c.Classes {
		var nodes []int32
		for i, y := range c.Y {
			if int(y) == class {
				nodes = append(nodes, int32(i))
			}
		}
		w := newWard(c, nodes)
		for len(w.nodes) > 1 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			i, j, rises := w.next()
			all = append(all, merge{w.nodes[i], w.nodes[j], rises})
			w.join(i, j, int32(n+len(all)-1))
		}
	}
	// Rounding may make a merge rise less than one of its parts, which must come first.
	for k := range all {
		for _, part := range [...]int32{all[k].a, all[k].b} {
			if int(part) >= n {
				all[k].rises = max(all[k].rises, all[int(part)-n].rises)
			}
		}
	}
	order := make([]int, len(all))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].rises, all[b].rises) })
	place := make([]int32, len(all))
	for k, old := range order {
		place[old] = int32(n + k)
	}
	for _, old := range order {
		pair := [2]int32{all[old].a, all[old].b}
		for side, part := range pair {
			if int(part) >= n {
				pair[side] = place[int(part)-n]
			}
		}
		merges = append(merges, pair)
	}
	return merges, nil
}

// ward holds the nodes of a class that are left, and the chain of nearest neighbours of Murtagh, A survey of recent
// advances in hierarchical clustering algorithms (1983), which finds the same merges as a search for the least rise.
type ward struct {
	nodes []int32
	mass  []float64
	x     [][]float64
	chain []int // each is the nearest of the one before
}

func newWard(c *Condensed, nodes []int32) *ward {
	w := &ward{nodes: nodes}
	for _, i := range nodes {
		x := make([]float64, c.X.Cols)
		for k, v := range c.X.Row(int(i)) {
			x[k] = float64(v)
		}
		w.mass, w.x = append(w.mass, c.mass(i)), append(w.x, x)
	}
	return w
}

// mass returns the number of source nodes of node i, or 1 without source nodes.
func (c *Condensed) mass(i int32) float64 {
	if c.Members == nil {
		return 1
	}
	return max(1, float64(c.Members.Indptr[i+1]-c.Members.Indptr[i]))
}

// rise returns how much the sum of squared distances grows if two nodes are merged.
func (w *ward) rise(i, j int) (sum float64) {
	other := w.x[j]
	for k, v := range w.x[i] {
		sum += (v - other[k]) * (v - other[k])
	}
	return sum * w.mass[i] * w.mass[j] / (w.mass[i] + w.mass[j])
}

// next returns the next two nodes to merge, i < j. Each is nearest to the other.
func (w *ward) next() (i, j int, rise float64) {
	if len(w.chain) == 0 {
		w.chain = append(w.chain, 0)
	}
	for {
		last, before := w.chain[len(w.chain)-1], -1
		nearest, least := -1, math.Inf(1)
		if len(w.chain) > 1 { // the node before wins a tie, so that the chain ends
			before = w.chain[len(w.chain)-2]
			nearest, least = before, w.rise(last, before)
		}
		for k := range w.nodes {
			if k == last {
				continue
			}
			if r := w.rise(last, k); r < least || nearest < 0 {
				nearest, least = k, r
			}
		}
		if nearest == before {
			w.chain = w.chain[:len(w.chain)-2]
			return min(last, before), max(last, before), least
		}
		w.chain = append(w.chain, nearest)
	}
}

// join replaces nodes i and j by one. Of the chain, i and j have been taken.
func (w *ward) join(i, j int, node int32) {
	mass := w.mass[i] + w.mass[j]
	for k := range w.x[i] {
		w.x[i][k] = (w.mass[i]*w.x[i][k] + w.mass[j]*w.x[j][k]) / mass
	}
	w.nodes[i], w.mass[i] = node, mass
	last := len(w.nodes) - 1
	w.nodes[j], w.mass[j], w.x[j] = w.nodes[last], w.mass[last], w.x[last]
	w.nodes, w.mass, w.x = w.nodes[:last], w.mass[:last], w.x[:last]
	for c, k := range w.chain {
		if k == last {
			w.chain[c] = j
		}
	}
}

// united returns c with the nodes of each part united to one.
func (c *Condensed) united(parts [][]int32) (*Condensed, error) {
	u := *c
	u.X, u.Y, u.Adj = mat.NewDense(len(parts), c.X.Cols), make([]int32, len(parts)), nil
	u.Budget = make([]int, c.Classes)
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
		u.Budget[u.Y[j]]++
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

// uniteMembers appends the row of members of a part to u.Members. A node may be a source node of several parts.
func (c *Condensed) uniteMembers(u *Condensed, part []int32, weights []float64) {
	type member struct {
		node   int32
		entry  int64
		weight float64
	}
	var list []member
	for k, i := range part {
		for e := c.Members.Indptr[i]; e < c.Members.Indptr[i+1]; e++ {
			list = append(list, member{c.Members.Indices[e], e, weights[k] * float64(c.Members.Data[e])})
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

// Package ward merges nodes within classes by Ward's rule (Hierarchical grouping to optimize an objective function,
// 1963).
package ward

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Merges returns the two nodes of each merge, in order, until one node of each class is left. Nodes are the rows of x,
// N×d and finite, with classes y and masses above 0, and N is at least 1. Merge k makes node N+k. It unites the two
// nodes of a class for which the sum of squared distances to the means grows least:
//
//	m_i·m_j/(m_i + m_j) · ‖x_i − x_j‖²
//
// It takes O(n²·d) for each class of n nodes, in float64 and on one thread.
func Merges(ctx context.Context, x *mat.Dense, y []int32, mass []float64) (merges [][2]int32, err error) {
	type merge struct {
		a, b  int32 // rows of x, or N plus an index in all
		rises float64
	}
	var all []merge
	n := len(y)
	for class := range 1 + slices.Max(y) {
		var nodes []int32
		for i, of := range y {
			if of == class {
				nodes = append(nodes, int32(i))
			}
		}
		w := newWard(x, mass, nodes)
		for len(w.nodes) > 1 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			i, j, rises := w.next()
			all = append(all, merge{w.nodes[i], w.nodes[j], rises})
			w.join(i, j, int32(n+len(all)-1))
		}
	}
	// Because of rounding, the rise of a merge may be below the rise of an earlier merge that made one of its nodes.
	for k := range all {
		for _, part := range [...]int32{all[k].a, all[k].b} {
			if int(part) >= n {
				all[k].rises = max(all[k].rises, all[int(part)-n].rises)
			}
		}
	}
	order := memory.Range(0, len(all))
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(all[a].rises, all[b].rises) })
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
	chain []int // each is nearest to the one before it
}

func newWard(x *mat.Dense, mass []float64, nodes []int32) *ward {
	w := &ward{nodes: nodes}
	for _, i := range nodes {
		row := make([]float64, x.Cols)
		for k, v := range x.Row(int(i)) {
			row[k] = float64(v)
		}
		w.mass, w.x = append(w.mass, mass[i]), append(w.x, row)
	}
	return w
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

// join replaces nodes i and j with one node. They are no longer in the chain.
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

package coarsening

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/factor"
)

// spectrum returns A = UΛ^-½, with one row for each super-node of c. For each component, Λ holds the k smallest
// eigenvalues above 0 of its Laplacian, and U holds the eigenvectors.
func (c *coarse) spectrum(ctx context.Context, k int) ([][]float64, error) {
	rows := zeros(c.nodes(), k)
	place := make([]int32, c.nodes())
	for _, part := range c.components {
		for p, v := range part {
			place[v] = int32(p)
		}
		edges := make([][]edge, len(part))
		for p, v := range part {
			for _, e := range c.edges[v] {
				edges[p] = append(edges[p], edge{place[e.to], e.weight})
			}
		}
		values, vectors, err := newLaplacian(edges).smallest(ctx, k)
		if err != nil {
			return nil, err
		}
		for f, value := range values {
			if !(value > 0) {
				continue
			}
			for p, v := range part {
				rows[v][f] = vectors[f][p] / math.Sqrt(value)
			}
		}
	}
	return rows, nil
}

// next returns A for c after a merge: B(BᵀLB)^-½ with B = CA. rows holds A before the merge, and place holds the new
// super-node of each row. Row j of C is 1/√|S| at the super-nodes S that became j (Loukas 2019, §3).
func (c *coarse) next(ctx context.Context, rows [][]float64, place []int32) ([][]float64, error) {
	k := len(rows[0])
	b, size := zeros(c.nodes(), k), make([]float64, c.nodes())
	for i, row := range rows {
		axpy(b[place[i]], 1, row)
		size[place[i]]++
	}
	for j := range b {
		for f := range b[j] {
			b[j][f] /= math.Sqrt(size[j])
		}
	}
	form := factor.NewSymmetric(k) // the sum of w·(b_i − b_j)(b_i − b_j)ᵀ over the edges
	for i, edges := range c.edges {
		for _, e := range edges {
			if int(e.to) > i {
				continue
			}
			for f := range k {
				for h := range k {
					form.Data[f*k+h] += e.weight * (b[i][f] - b[e.to][f]) * (b[i][h] - b[e.to][h])
				}
			}
		}
	}
	values, vectors, err := form.Eigen(ctx)
	if err != nil {
		return nil, err
	}
	turned := zeros(len(b), k)
	for i := range b {
		for f, value := range values {
			if value > 1e-12*values[0] {
				turned[i][f] = dot(vectors[f*k:(f+1)*k], b[i]) / math.Sqrt(value)
			}
		}
	}
	return turned, nil
}

// cost returns the local variation of a set S of super-nodes:
//
//	‖BᵀL_S B‖_F/(|S|−1),  B = (I − 11ᵀ/|S|)A_S,  L_S = diag(2·deg − W_S1) − W_S,
//
// where deg holds the degrees in the full graph, and W_S holds the weights inside S (Loukas 2019, §4). inside is
// scratch space. All its entries must be false.
func (c *coarse) cost(rows [][]float64, degree []float64, set []int32, inside []bool) float64 {
	k := len(rows[0])
	mean := make([]float64, k)
	for _, i := range set {
		axpy(mean, 1/float64(len(set)), rows[i])
		inside[i] = true
	}
	form := make([]float64, k*k)
	centred, image := make([]float64, k), make([]float64, k)
	for _, i := range set {
		for f, v := range rows[i] {
			centred[f] = v - mean[f]
		}
		clear(image)
		own := 2 * degree[i]
		for _, e := range c.edges[i] {
			if inside[e.to] {
				own -= e.weight
				for f, v := range rows[e.to] {
					image[f] -= e.weight * (v - mean[f])
				}
			}
		}
		axpy(image, own, centred)
		for f, v := range centred {
			axpy(form[f*k:(f+1)*k], v, image)
		}
	}
	for _, i := range set {
		inside[i] = false
	}
	return math.Sqrt(dot(form, form)) / float64(len(set)-1)
}

// candidate is a set of super-nodes that may be merged.
type candidate struct {
	set  []int32 // the centre first
	cost float64
}

// queue is a heap of candidates, ordered by cost and then by centre.
type queue []candidate

// Len returns the number of candidates. Len, Less, Swap, Push and Pop implement heap.Interface.
func (q queue) Len() int { return len(q) }

// Swap exchanges two candidates.
func (q queue) Swap(a, b int) { q[a], q[b] = q[b], q[a] }

// Push appends a candidate.
func (q *queue) Push(x any) { *q = append(*q, x.(candidate)) }

// Pop removes the last candidate and returns it.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// Less reports whether candidate a comes before candidate b.
func (q queue) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(q[a].cost, q[b].cost), cmp.Compare(q[a].set[0], q[b].set[0])) < 0
}

// allowed returns the members of a set that may be merged: unlabelled super-nodes, and the first 1 + fall super-nodes
// of one class. This is the class of the centre, or the most frequent class if the centre has none.
func (c *coarse) allowed(set []int32, classes, fall int) []int32 {
	class := c.class[set[0]]
	if class == graph.Unlabelled {
		count := make([]int, classes)
		for _, i := range set {
			if y := c.class[i]; y >= 0 {
				count[y]++
			}
		}
		for y, n := range count {
			if n > 0 && (class == graph.Unlabelled || n > count[class]) {
				class = int32(y)
			}
		}
	}
	labelled := 0
	return slices.DeleteFunc(slices.Clone(set), func(i int32) bool {
		if c.class[i] == graph.Unlabelled {
			return false
		}
		if c.class[i] != class || labelled > fall {
			return true
		}
		labelled++
		return false
	})
}

// level returns disjoint closed neighbourhoods to merge, the cheapest first. If a set overlaps a chosen one, its
// remaining members are queued again with a new cost. At least nodes labelled super-nodes remain.
func (c *coarse) level(ctx context.Context, rows [][]float64, classes, nodes int) (groups [][]int32, err error) {
	n := c.nodes()
	degrees, inside, taken := degrees(c.edges), make([]bool, n), make([]bool, n)
	fall := c.labelled - nodes
	q := make(queue, 0, n)
	add := func(set []int32) bool {
		if set = c.allowed(set, classes, fall); len(set) < 2 {
			return false
		}
		q = append(q, candidate{set, c.cost(rows, degrees, set, inside)})
		return true
	}
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		set := []int32{int32(i)}
		for _, e := range c.edges[i] {
			set = append(set, e.to)
		}
		add(set)
	}
	heap.Init(&q)
	for steps := 0; len(q) > 0; steps++ {
		if steps%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		best := heap.Pop(&q).(candidate)
		free := slices.DeleteFunc(slices.Clone(best.set), func(i int32) bool { return taken[i] })
		if len(free) > 1 {
			free = c.allowed(free, classes, fall)
		}
		switch {
		case len(free) < 2:
		case len(free) < len(best.set):
			if add(free) {
				heap.Fix(&q, len(q)-1)
			}
		default:
			labelled := 0
			for _, i := range free {
				taken[i] = true
				if c.class[i] != graph.Unlabelled {
					labelled++
				}
			}
			fall -= max(0, labelled-1)
			groups = append(groups, free)
		}
	}
	return groups, nil
}

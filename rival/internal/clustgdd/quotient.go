package clustgdd

import (
	"cmp"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// quotient compresses weighted graphs over the original nodes to graphs over their clusters.
type quotient struct {
	clusters int
	of       []int32   // the cluster of each node
	size     []float64 // of each cluster
	entries  []entry   // the entries of Â on and above the diagonal
}

// entry is entry (u, v) of Â, where u ≤ v.
type entry struct {
	u, v   int32
	weight float32
}

func newQuotient(g *graph.Graph, members *mat.CSR) *quotient {
	q := &quotient{clusters: members.Rows, of: make([]int32, members.Cols), size: make([]float64, members.Rows)}
	for a := range members.Rows {
		for v := range members.Row(a) {
			q.of[v] = int32(a)
			q.size[a]++
		}
	}
	scale := graph.Symmetric(g.Adj).Left
	for u := range g.Nodes() {
		q.entries = append(q.entries, entry{int32(u), int32(u), scale[u] * scale[u]})
		for v, w := range g.Adj.Row(u) {
			if v > u {
				q.entries = append(q.entries, entry{int32(u), int32(v), scale[u] * w * scale[v]})
			}
		}
	}
	return q
}

// compress returns Σ_{u∈a,v∈b} w_uv/(|a||b|) for all pairs of clusters, with a zero diagonal. each yields entries on
// and above the diagonal.
func (q *quotient) compress(each func(yield func(entry) bool)) *mat.Dense {
	k := q.clusters
	sums := make([]float64, k*k)
	for e := range each {
		if a, b := int(q.of[e.u]), int(q.of[e.v]); a != b {
			sums[min(a, b)*k+max(a, b)] += float64(e.weight)
		}
	}
	s := mat.NewDense(k, k)
	for a := range k {
		for b := a + 1; b < k; b++ {
			w := float32(sums[a*k+b] / (q.size[a] * q.size[b]))
			s.Row(a)[b], s.Row(b)[a] = w, w
		}
	}
	return s
}

// classGraphs returns S_c for each class c. z holds the logits of all nodes.
func (q *quotient) classGraphs(z *mat.Dense, share float64) []*mat.Dense {
	norm, p := make([]float64, z.Rows), softmax(z)
	for v := range norm {
		norm[v] = max(1e-8, math.Sqrt(dot(z.Row(v), z.Row(v)))) // the ε of the authors' library
	}
	similar := make([]entry, len(q.entries))
	degree := make([]float64, z.Rows)
	count := 0 // the number of entries of Â
	for i, e := range q.entries {
		e.weight *= float32(dot(z.Row(int(e.u)), z.Row(int(e.v))) / (norm[e.u] * norm[e.v]))
		similar[i] = e
		degree[e.u] += float64(e.weight)
		if count++; e.u != e.v {
			degree[e.v] += float64(e.weight)
			count++
		}
	}
	resistance := make([]float32, len(similar))
	for i, e := range similar {
		for _, d := range []float64{degree[e.u], degree[e.v]} {
			if d != 0 {
				resistance[i] += float32(float64(e.weight) / d)
			}
		}
	}
	limit := int(float64(count) * share)
	score, order := make([]float32, len(similar)), memory.Range(0, len(similar))
	graphs := make([]*mat.Dense, z.Cols)
	for c := range graphs {
		for i, e := range similar {
			score[i] = p.Row(int(e.u))[c] * p.Row(int(e.v))[c] * resistance[i]
		}
		slices.SortFunc(order, func(i, j int32) int { return cmp.Or(cmp.Compare(score[j], score[i]), cmp.Compare(i, j)) })
		graphs[c] = q.compress(func(yield func(entry) bool) {
			taken := 0
			for _, i := range order {
				e := similar[i]
				if taken++; e.u != e.v { // also the entry below the diagonal
					taken++
				}
				if taken > limit || !yield(e) {
					return
				}
			}
		})
	}
	return graphs
}

// series returns (1−α) Σ_{t<T′} αᵗSᵗ.
func (m clustGDD) series(s *mat.Dense) *mat.Dense {
	identity := func(p *mat.Dense) *mat.Dense {
		for a := range p.Rows {
			p.Row(a)[a] += float32(1 - m.Alpha)
		}
		return p
	}
	p := identity(mat.NewDense(s.Rows, s.Cols))
	for range m.CondensedTerms - 1 {
		next := new(mat.Dense)
		mat.Mul(next, s, p)
		kernel.Scale(next.Data, float32(m.Alpha), next.Data)
		p = identity(next)
	}
	return p
}

func softmax(z *mat.Dense) *mat.Dense {
	p := mat.NewDense(z.Rows, z.Cols)
	for i := range p.Rows {
		row, sum := p.Row(i), 0.0
		top := slices.Max(z.Row(i))
		for j, v := range z.Row(i) {
			e := math.Exp(float64(v - top))
			row[j] = float32(e)
			sum += e
		}
		for j := range row {
			row[j] = float32(float64(row[j]) / sum)
		}
	}
	return p
}

// dot returns the inner product of a and b.
func dot(a, b []float32) (sum float64) {
	for j, v := range a {
		sum += float64(v) * float64(b[j])
	}
	return sum
}

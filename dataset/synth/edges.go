package synth

import (
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// edges draws edges until Edges of them differ, and drops the surplus.
func (m *maker) edges() *mat.CSR {
	var drawn graph.Edges
	for want := m.Edges + m.Edges/32; ; {
		drawn = m.lengthen(drawn, want)
		adj, _, err := graph.Adjacency(m.Nodes, drawn)
		if err != nil {
			panic(err) // nodes are drawn from 0 to N−1
		}
		surplus := adj.NNZ()/2 - m.Edges
		if surplus >= 0 {
			thin(adj, surplus)
			return adj
		}
		want += -2*surplus + 16
	}
}

// lengthen draws more edges, until there are length of them.
func (m *maker) lengthen(e graph.Edges, length int) graph.Edges {
	const chunk = 1 << 16
	done := e.Len() / chunk * chunk // a chunk that was cut short is drawn again, in full
	e.From = slices.Grow(e.From[:done], length-done)[:length]
	e.To = slices.Grow(e.To[:done], length-done)[:length]
	same := uint64(m.Homophily / 2 * (1 << 32))
	class := uint64(m.Homophily * (1 << 32))
	groups := uint64(m.Groups)
	parallel.For(length-done, chunk, func(lo, hi int) {
		random := m.stream(forEdges, (done+lo)/chunk)
		for i := done + lo; i < done+hi; i++ {
			u := int32(i)
			if i >= m.Nodes {
				u = m.stub[uint64(uint32(random.Uint64()))*uint64(len(m.stub))>>32]
			}
			r, k := random.Uint64(), uint64(m.group[u])
			from, to := uint64(0), uint64(len(m.stub))
			switch kind := r >> 32; {
			case kind < same:
				from, to = m.start[k], m.start[k+1]
			case kind < class:
				from, to = m.start[k/groups*groups], m.start[k/groups*groups+groups]
			}
			e.From[i], e.To[i] = u, m.stub[from+uint64(uint32(r))*(to-from)>>32]
		}
	})
	return e
}

// thin drops n edges from a symmetric adjacency without weights. They are evenly spaced in the order of rows.
func thin(adj *mat.CSR, n int) {
	if n == 0 {
		return
	}
	edges := adj.NNZ() / 2
	rank, dropped := 0, 0
	due := func() int { return int((int64(2*dropped+1) * int64(edges)) / int64(2*n)) }
	drop := make([]int64, 0, 2*n)
	for i := range adj.Rows {
		lo, hi := adj.Indptr[i], adj.Indptr[i+1]
		at, _ := slices.BinarySearch(adj.Indices[lo:hi], int32(i))
		upper := lo + int64(at) // the first entry above the diagonal, where each edge is met once
		for dropped < n && due() < rank+int(hi-upper) {
			e := upper + int64(due()-rank)
			j := adj.Indices[e]
			back, _ := slices.BinarySearch(adj.Indices[adj.Indptr[j]:adj.Indptr[j+1]], int32(i))
			drop = append(drop, e, adj.Indptr[j]+int64(back))
			dropped++
		}
		rank += int(hi - upper)
	}
	slices.Sort(drop)
	at := int64(0)
	for i, lo := 0, int64(0); i < adj.Rows; i++ {
		hi := adj.Indptr[i+1]
		for ; len(drop) > 0 && drop[0] < hi; drop = drop[1:] {
			at += int64(copy(adj.Indices[at:], adj.Indices[lo:drop[0]]))
			lo = drop[0] + 1
		}
		at += int64(copy(adj.Indices[at:], adj.Indices[lo:hi]))
		lo, adj.Indptr[i+1] = hi, at
	}
	adj.Indices = adj.Indices[:at:at]
}

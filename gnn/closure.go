package gnn

import (
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
)

// extent holds the sizes of the neighbourhoods of the requested rows.
type extent struct {
	nodes   []int64 // the number of nodes within j hops
	entries []int64 // the number of entries of the adjacency in the rows of these nodes
}

// grow extends e to the given number of hops.
func (e *extent) grow(adj *mat.CSR, rows []int32, hops int) {
	if len(e.nodes) > hops {
		return
	}
	*e = extent{}
	if rows == nil {
		for range hops + 1 {
			e.nodes, e.entries = append(e.nodes, int64(adj.Rows)), append(e.entries, int64(adj.NNZ()))
		}
		return
	}
	set := reach.New(adj, rows)
	for j := range hops + 1 {
		if j > 0 {
			if at := j - 1; at > 0 && e.nodes[at] == e.nodes[at-1] { // all reachable nodes are included
				e.nodes, e.entries = append(e.nodes, e.nodes[at]), append(e.entries, e.entries[at])
				continue
			}
			set.Grow()
		}
		e.nodes, e.entries = append(e.nodes, int64(set.Count())), append(e.entries, set.Entries())
	}
}

// mostly reports whether the rows of the nodes within hops−1 hops contain most entries of the adjacency. A copy is then
// not worth its cost.
func (s *scope) mostly(e *extent, hops int) bool {
	return hops == 0 || s.rows == nil || 2*e.entries[hops-1] > int64(s.adj.NNZ())
}

// closure returns the part of a scope that determines the logits of its rows, and the nodes of the part in ascending
// order. The part has the adjacency rows of the nodes within r.hops−1 hops; the nodes at the last hop have empty rows.
// If the part would contain most of the adjacency, closure returns the full graph and nil nodes. The entries of a part
// are stored in one of the files.
//
// The operators use the degrees of the full graph, and each sum adds its terms in the order of the full graph. Results
// on the part are therefore bit-identical to results on the full graph.
func (s *scope) closure(r *region, files *files) (p *scope, nodes []int32, err error) {
	if r.whole {
		return newScope(s.adj, nil, s.rows, false), nil, nil
	}
	set := reach.New(s.adj, s.rows)
	for range r.hops {
		set.Grow()
	}
	nodes = memory.Make[int32](int(r.nodes))[:0]
	distance := memory.Make[uint8](int(r.nodes))[:0]
	place := set.Distance // from here on, the index of a node in nodes, or −1 if it is not among them
	for v, t := range place {
		if t != reach.Unreached {
			place[v] = int32(len(nodes))
			nodes, distance = append(nodes, int32(v)), append(distance, uint8(t))
		}
	}
	adj, err := s.induced(nodes, place, func(i int) bool { return int(distance[i]) < r.hops }, files)
	if err != nil {
		return nil, nil, err
	}
	rows := make([]int32, len(s.rows))
	for i, v := range s.rows {
		rows[i] = place[v]
	}
	p = newScope(adj, nil, rows, false)
	p.fields = fieldsOf(distance, rows, r.hops, &p.whole)
	degrees := s.degrees(nodes)
	for _, rule := range r.rules {
		op := rule.operator(adj, degrees)
		p.operators[rule] = &op
	}
	return p, nodes, nil
}

// induced returns the adjacency of nodes, with columns renumbered by place and entries stored in one of the files. If
// has(i) is false, node i has no entries. Otherwise, all its neighbours must be among nodes.
func (s *scope) induced(nodes, place []int32, has func(i int) bool, files *files) (adj *mat.CSR, err error) {
	n := len(nodes)
	adj = &mat.CSR{Rows: n, Cols: n, Indptr: memory.Make[int64](n + 1)}
	for i, v := range nodes {
		adj.Indptr[i+1] = adj.Indptr[i]
		if has(i) {
			adj.Indptr[i+1] += s.adj.Indptr[v+1] - s.adj.Indptr[v]
		}
	}
	if adj.Indices, err = scratch[int32](files, int(adj.Indptr[n])); err != nil {
		return nil, err
	}
	if s.adj.Data != nil {
		if adj.Data, err = scratch[float32](files, int(adj.Indptr[n])); err != nil {
			return nil, err
		}
	}
	parallel.For(n, 1<<12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to, from := adj.Indptr[i], s.adj.Indptr[nodes[i]]
			for k, j := range s.adj.Indices[from:][:adj.Indptr[i+1]-to] {
				adj.Indices[to+int64(k)] = place[j]
			}
			if adj.Data != nil {
				copy(adj.Data[to:adj.Indptr[i+1]], s.adj.Data[from:])
			}
		}
	})
	return adj, nil
}

// files are temporary files that are mapped into memory.
type files struct {
	free []func()
}

// scratch returns a slice of n zeros in a new file of f.
func scratch[T int32 | float32](f *files, n int) ([]T, error) {
	s, err := memory.Scratch[T](n)
	if err != nil {
		return nil, err
	}
	f.free = append(f.free, func() { memory.Free(s) })
	return s, nil
}

// release discards the files. Their contents must not be used afterwards.
func (f *files) release() {
	for _, free := range f.free {
		free()
	}
	f.free = nil
}

// panels returns a rows×d matrix of zeros in a new file, in panels of width columns.
func (f *files) panels(rows, d, width int) (*paneled.Matrix, error) {
	data, err := scratch[float32](f, rows*d)
	if err != nil {
		return nil, err
	}
	var panels [][]float32
	for lo := 0; lo < d; lo += width {
		panels = append(panels, data[rows*lo:rows*min(lo+width, d)])
	}
	return paneled.OfFloats(rows, d, width, panels)
}

// fieldsOf returns the sets of nodes within 0, 1, …, hops hops of rows, given each node's distance. The last set is the
// argument whole.
func fieldsOf(distance []uint8, rows []int32, hops int, whole *field) []*field {
	fields := []*field{{nodes: rows, graph: len(distance)}}
	for j := 1; j < hops; j++ {
		count := 0
		for _, t := range distance {
			if int(t) <= j {
				count++
			}
		}
		nodes := make([]int32, 0, count)
		for r, t := range distance {
			if int(t) <= j {
				nodes = append(nodes, int32(r))
			}
		}
		fields = append(fields, &field{nodes: nodes, graph: len(distance)})
	}
	return append(fields, whole)
}

// degrees returns Σ_j A_ij of the given nodes, added in the same order as in graph.Symmetric.
func (s *scope) degrees(nodes []int32) []float64 {
	degrees := make([]float64, len(nodes))
	parallel.For(len(nodes), 1<<14, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			from, to := s.adj.Indptr[nodes[r]], s.adj.Indptr[nodes[r]+1]
			if s.adj.Data == nil {
				degrees[r] = float64(to - from)
				continue
			}
			for _, w := range s.adj.Data[from:to] {
				degrees[r] += float64(w)
			}
		}
	})
	return degrees
}

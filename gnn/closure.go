package gnn

import (
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// extent tells how much of a graph lies near the rows that are asked for.
type extent struct {
	nodes   []int64 // within j hops
	entries []int64 // of the adjacency, in the rows of these nodes
}

// grow makes e reach the given number of hops.
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
	reach := graph.NewReach(adj, rows)
	for j := range hops + 1 {
		if j > 0 {
			if at := j - 1; at > 0 && e.nodes[at] == e.nodes[at-1] { // all that can be reached is reached
				e.nodes, e.entries = append(e.nodes, e.nodes[at]), append(e.entries, e.entries[at])
				continue
			}
			reach.Grow()
		}
		within := parallel.Sum(adj.Rows, 1<<16, func(lo, hi int) (count float64) {
			for _, t := range reach.Distance[lo:hi] {
				if t != graph.Unreached {
					count++
				}
			}
			return count
		})
		e.nodes, e.entries = append(e.nodes, int64(within)), append(e.entries, reach.Entries())
	}
}

// mostly reports whether the rows of the nodes within hops−1 are most of the adjacency. Then a copy does not pay.
func (s *scope) mostly(e *extent, hops int) bool {
	return hops == 0 || s.rows == nil || 2*e.entries[hops-1] > int64(s.adj.NNZ())
}

// closure returns the part of a scope that decides what is found for its rows by the given number of hops, and the
// nodes of the part, ascending. It has the rows of the adjacency of the nodes within hops−1. The nodes at the last hop
// have none. If the rows are most of the adjacency, the part is the whole, and nodes is nil.
//
// The operators are those of the whole. So each sum has its terms in the order of the whole, and is the same bits.
// inFile says that the entries go into one of the files.
func (s *scope) closure(
	e *extent, hops int, used []rule, files *files, inFile bool,
) (p *scope, nodes []int32, err error) {
	if s.mostly(e, hops) {
		return newScope(s.adj, nil, s.rows, false), nil, nil
	}
	reach := graph.NewReach(s.adj, s.rows)
	for range hops {
		reach.Grow()
	}
	nodes = memory.Make[int32](int(e.nodes[hops]))[:0]
	distance := memory.Make[uint8](int(e.nodes[hops]))[:0]
	place := reach.Distance // from here on, the place of a node among nodes, −1 if it has none
	for v, t := range place {
		if t != graph.Unreached {
			place[v] = int32(len(nodes))
			nodes, distance = append(nodes, int32(v)), append(distance, uint8(t))
		}
	}
	n := len(nodes)
	adj := &mat.CSR{Rows: n, Cols: n, Indptr: memory.Make[int64](n + 1)}
	for r, v := range nodes {
		adj.Indptr[r+1] = adj.Indptr[r]
		if int(distance[r]) < hops {
			adj.Indptr[r+1] += s.adj.Indptr[v+1] - s.adj.Indptr[v]
		}
	}
	count := int(adj.Indptr[n])
	if !inFile {
		adj.Indices = memory.Make[int32](count)
		if s.adj.Data != nil {
			adj.Data = memory.Make[float32](count)
		}
	} else {
		if adj.Indices, err = files.indices(count); err == nil && s.adj.Data != nil {
			adj.Data, err = files.numbers(count)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	parallel.For(n, 1<<12, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			to, from := adj.Indptr[r], s.adj.Indptr[nodes[r]]
			for k, j := range s.adj.Indices[from:][:adj.Indptr[r+1]-to] {
				adj.Indices[to+int64(k)] = place[j]
			}
			if adj.Data != nil {
				copy(adj.Data[to:adj.Indptr[r+1]], s.adj.Data[from:])
			}
		}
	})
	rows := make([]int32, len(s.rows))
	for i, v := range s.rows {
		rows[i] = place[v]
	}
	p = newScope(adj, nil, rows, false)
	p.fields = fieldsOf(distance, rows, hops, &p.whole)
	degrees := s.degrees(nodes)
	for _, r := range used {
		op := r.given(adj, degrees)
		p.operators[r] = &op
	}
	return p, nodes, nil
}

// files are temporary files that are mapped into memory.
type files struct {
	ints   [][]int32
	floats [][]float32
}

// indices returns n zeros in a new file.
func (f *files) indices(n int) ([]int32, error) {
	s, err := memory.Scratch[int32](n)
	if err != nil {
		return nil, fmt.Errorf("gnn: %w", err)
	}
	f.ints = append(f.ints, s)
	return s, nil
}

// numbers returns n zeros in a new file.
func (f *files) numbers(n int) ([]float32, error) {
	s, err := memory.Scratch[float32](n)
	if err != nil {
		return nil, fmt.Errorf("gnn: %w", err)
	}
	f.floats = append(f.floats, s)
	return s, nil
}

// free gives the files back. Nothing in them may be used any more.
func (f *files) free() {
	for _, s := range f.ints {
		memory.Free(s)
	}
	for _, s := range f.floats {
		memory.Free(s)
	}
	*f = files{}
}

// fieldsOf returns the nodes within 0 to hops of rows, by their distances. The last field is the whole.
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

// degrees returns Σ_j A_ij of the given nodes, summed as graph.Symmetric sums.
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

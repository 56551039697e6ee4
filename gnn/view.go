package gnn

import (
	"sync"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// view is a graph of which some nodes are asked for. What does not depend on weights is computed once and kept. It is safe
// for concurrent use.
type view struct {
	adj  *mat.CSR
	x    mat.Matrix
	rows []int32 // the nodes asked for; nil means all

	// keep says that propagated features are kept for the next call: worth their memory where calls are many.
	keep bool
	// units is the number of hidden units, over all nodes, that are kept at a time where X is sparse.
	units int

	mu        sync.Mutex
	operators map[bool]graph.Operator
	fields    []*field
	whole     field

	keptMu sync.Mutex
	kept   []kept
	room   int // how many more numbers may be kept
}

// keptNumbers is where view.room starts: 2 GiB of them, enough for one or two filters at 2.4 million nodes with 100 features. What finds
// no room is computed anew in each call, at the price of its propagations.
const keptNumbers = 1 << 29

// kept is P·X for a filter, at the nodes within some hops of the rows.
type kept struct {
	filter filter
	hops   int
	px     *mat.Dense
}

// field is the set of nodes within some hops of the rows that are asked for.
type field struct {
	nodes    []int32 // ascending from one hop on; nil means all nodes
	position []int32 // of each node of the graph in nodes, −1 where it is not; nil with nodes
}

// place returns where node i of the graph stands in the field.
func (f *field) place(i int32) int32 {
	if f.nodes == nil {
		return i
	}
	return f.position[i]
}

func newView(adj *mat.CSR, x mat.Matrix, rows []int32, keep bool) *view {
	return &view{adj: adj, x: x, rows: rows, keep: keep, units: sparseUnits, room: keptNumbers, operators: map[bool]graph.Operator{}}
}

func (v *view) size(f *field) int {
	if f.nodes == nil {
		return v.adj.Rows
	}
	return len(f.nodes)
}

func (v *view) operator(f filter) graph.Operator {
	v.mu.Lock()
	defer v.mu.Unlock()
	op, ok := v.operators[f.mean]
	if !ok {
		op = f.operator(v.adj)
		v.operators[f.mean] = op
	}
	return op
}

// field returns the nodes within the given number of hops of the rows. A field that holds nine tenths of the graph is taken
// as the whole of it, since choosing rows then costs more than it saves.
func (v *view) field(hops int) *field {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.fields) == 0 {
		v.fields = append(v.fields, v.newField(v.rows, v.rows == nil))
	}
	for len(v.fields) <= hops {
		from := v.fields[len(v.fields)-1]
		if from.nodes == nil {
			v.fields = append(v.fields, from)
			continue
		}
		in := make([]bool, v.adj.Rows)
		count := 0
		enter := func(i int32) {
			if !in[i] {
				in[i] = true
				count++
			}
		}
		for _, i := range from.nodes {
			enter(i)
			for _, j := range v.adj.Indices[v.adj.Indptr[i]:v.adj.Indptr[i+1]] {
				enter(j)
			}
		}
		var nodes []int32
		if whole := 10*count >= 9*v.adj.Rows; !whole {
			nodes = make([]int32, 0, count)
			for i, is := range in {
				if is {
					nodes = append(nodes, int32(i))
				}
			}
		}
		v.fields = append(v.fields, v.newField(nodes, nodes == nil))
	}
	return v.fields[hops]
}

func (v *view) newField(nodes []int32, whole bool) *field {
	if whole {
		return &v.whole
	}
	f := &field{nodes: nodes, position: make([]int32, v.adj.Rows)}
	for i := range f.position {
		f.position[i] = -1
	}
	for r, i := range nodes {
		f.position[i] = int32(r)
	}
	return f
}

// restrict returns those rows of x, known on the field from, that stand in the field to, which from contains: memory of w, or x
// itself.
func (v *view) restrict(w *workspace, x *mat.Dense, from, to *field) *mat.Dense {
	if from == to {
		return x
	}
	index := to.nodes
	if from.nodes != nil {
		w.index = w.index[:0]
		for _, i := range to.nodes {
			w.index = append(w.index, from.position[i])
		}
		index = w.index
	}
	dst := w.take()
	mat.Rows(dst, x, index)
	return dst
}

// workspace is memory that is used again from one call to the next: matrices in the order in which they are taken.
type workspace struct {
	matrices []*mat.Dense
	taken    int
	index    []int32
}

func (w *workspace) reset() { w.taken = 0 }

// take returns a matrix of arbitrary shape and contents.
func (w *workspace) take() *mat.Dense {
	if w.taken == len(w.matrices) {
		w.matrices = append(w.matrices, &mat.Dense{})
	}
	w.taken++
	return w.matrices[w.taken-1]
}

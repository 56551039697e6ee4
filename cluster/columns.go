package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
	"github.com/graph-condensation/cgc/propagate/stored"
)

// columns is the task "columns".
func columns(ctx context.Context, t Task, in io.Reader, out string) error {
	p, err := readPart(t, in)
	if err != nil {
		return err
	}
	ctx, stop := watched(ctx, in)
	defer stop()
	f := &stored.File{Origin: t.Origin, Lo: t.Lo, Hi: t.Hi, Train: p.names(p.train), X: new(mat.Dense), IDs: p.ids}
	for _, v := range p.train {
		f.Y = append(f.Y, p.class[v])
	}
	if len(p.train) == 0 {
		return errors.New("cluster: the input has 0 training nodes, want at least 1")
	}
	var x mat.Matrix = p.x
	if err := mat.Rows(f.X, x, p.train); err != nil {
		return err
	}
	g := &graph.Graph{Adj: p.adj, X: x}
	if t.Standardize {
		scaling, err := graph.FitScaling(x, p.train)
		if err != nil {
			return err
		}
		g = g.Scaled(scaling)
	}
	views, err := propagate.Run(ctx, blocked.Engine{Memory: t.Memory}, t.Propagation(), propagate.Input{
		Adj: p.adj, X: g.X, Rows: p.train, Classes: f.Y, Degrees: p.degrees,
	})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	for _, h := range views[1:] {
		f.H = append(f.H, h.Dense())
	}
	return f.Write(ctx, out)
}

// part is the part of a graph that a worker holds. Its nodes are numbered by their numbers in the graph, ascending, so
// that sums run in the order in which one machine would take them.
type part struct {
	numbers []int32 // of each node in the graph, ascending
	train   []int32 // of the part
	class   []int32 // −1 unless the node trains
	degrees []float64
	adj     *mat.CSR
	x       *arrived
	ids     []string
}

// names returns the numbers in the graph of nodes of the part.
func (p *part) names(nodes []int32) []int32 {
	numbers := make([]int32, len(nodes))
	for i, v := range nodes {
		numbers[i] = p.numbers[v]
	}
	return numbers
}

// readPart reads nodes, names and entries. All nodes come before the first entry.
func readPart(t Task, in io.Reader) (*part, error) {
	var nodes gathered
	var a *assembly
	named := map[int32]string{}
	for {
		kind, raw, err := readFrame(in)
		if err != nil {
			return nil, err
		}
		p := &payload{kind: kind, rest: raw}
		switch kind {
		case NodeFrame:
			if a != nil {
				return nil, errors.New("cluster: a node comes after an entry")
			}
			err = nodes.add(p, t)
		case NameFrame:
			err = addNames(named, p)
		case EntryFrame, EndFrame:
			if a == nil {
				if a, err = nodes.sort(t); err != nil {
					return nil, err
				}
			}
			if kind == EndFrame {
				return a.finish(named)
			}
			err = a.add(p)
		default:
			err = fmt.Errorf("cluster: a frame of kind %q, want nodes, names or entries", byte(kind))
		}
		if err != nil {
			return nil, err
		}
	}
}

// addNames reads a NameFrame.
func addNames(named map[int32]string, p *payload) error {
	n := p.count()
	numbers, offsets := p.int32s(n), p.int32s(n+1)
	text := p.take(len(p.rest), 1)
	if p.err != nil {
		return p.err
	}
	for i, v := range numbers {
		if offsets[i] < 0 || offsets[i] > offsets[i+1] || int(offsets[i+1]) > len(text) {
			return fmt.Errorf("cluster: name of node %d runs from byte %d to %d of %d", v, offsets[i], offsets[i+1], len(text))
		}
		named[v] = string(text[offsets[i]:offsets[i+1]])
	}
	return nil
}

// gathered is nodes in the order in which they came.
type gathered struct {
	numbers, counts, class []int32
	degrees                []float64
	chunks                 [][]float32 // features, as they came
	first                  []int       // of each chunk, its first node
}

// add reads a NodeFrame.
func (g *gathered) add(p *payload, t Task) error {
	n := p.count()
	g.first = append(g.first, len(g.numbers))
	g.numbers = append(g.numbers, p.int32s(n)...)
	g.counts = append(g.counts, p.int32s(n)...)
	g.degrees = append(g.degrees, p.float64s(n)...)
	g.class = append(g.class, p.int32s(n)...)
	g.chunks = append(g.chunks, p.float32s(n*(t.Hi-t.Lo)))
	return p.end()
}

// sort puts the nodes into the order of their numbers, and makes room for their entries.
func (g *gathered) sort(t Task) (*assembly, error) {
	n := len(g.numbers)
	order := make([]int32, n) // by number, the place in the order of coming
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return int(g.numbers[i]) - int(g.numbers[j]) })
	p := &part{
		numbers: make([]int32, n), class: make([]int32, n), degrees: make([]float64, n),
		adj: &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)},
		x:   &arrived{width: t.Hi - t.Lo, chunk: make([]int32, n), row: make([]int32, n), chunks: g.chunks},
	}
	for c, first := range g.first {
		end := n
		if c+1 < len(g.first) {
			end = g.first[c+1]
		}
		for i := first; i < end; i++ {
			p.x.chunk[i], p.x.row[i] = int32(c), int32(i-first)
		}
	}
	p.x.chunk, p.x.row = permuted(p.x.chunk, order), permuted(p.x.row, order)
	for v, i := range order {
		number := g.numbers[i]
		switch {
		case number < 0 || int(number) >= t.Nodes:
			return nil, fmt.Errorf("cluster: node %d, want 0 to %d", number, t.Nodes-1)
		case v > 0 && number == p.numbers[v-1]:
			return nil, fmt.Errorf("cluster: node %d came twice", number)
		case g.counts[i] < 0:
			return nil, fmt.Errorf("cluster: node %d has %d entries, want at least 0", number, g.counts[i])
		}
		p.numbers[v], p.class[v], p.degrees[v] = number, g.class[i], g.degrees[i]
		p.adj.Indptr[v+1] = p.adj.Indptr[v] + int64(g.counts[i])
		if p.class[v] >= 0 {
			p.train = append(p.train, int32(v))
		}
	}
	p.adj.Indices = make([]int32, p.adj.Indptr[n])
	return &assembly{part: p, rank: newRank(p.numbers, t.Nodes), at: slices.Clone(p.adj.Indptr[:n])}, nil
}

func permuted(list, order []int32) []int32 {
	out := make([]int32, len(list))
	for v, i := range order {
		out[v] = list[i]
	}
	return out
}

// assembly puts entries, which come in any order, into the rows of a part.
type assembly struct {
	*part
	rank *rank
	at   []int64 // of each row, the place of its next entry
}

// add reads an EntryFrame.
func (a *assembly) add(p *payload) error {
	m, weighted := p.count(), p.count() == 1
	rows, cols := p.int32s(m), p.int32s(m)
	var weights []float32
	if weighted {
		weights = p.float32s(m)
	}
	if err := p.end(); err != nil {
		return err
	}
	if weighted && a.adj.Data == nil {
		a.adj.Data = make([]float32, len(a.adj.Indices))
	}
	for k, row := range rows {
		r, c := a.rank.of(row), a.rank.of(cols[k])
		if r < 0 || c < 0 {
			return fmt.Errorf("cluster: entry (%d, %d) is of a node that did not come", row, cols[k])
		}
		at := a.at[r]
		if at == a.adj.Indptr[r+1] {
			return fmt.Errorf("cluster: node %d has more than the %d entries that were told", row, at-a.adj.Indptr[r])
		}
		a.adj.Indices[at] = c
		if weighted {
			a.adj.Data[at] = weights[k]
		}
		a.at[r]++
	}
	return nil
}

// finish sorts each row, and returns the part if all came that was told.
func (a *assembly) finish(named map[int32]string) (*part, error) {
	adj := a.adj
	const chunk = 1024
	errs := make([]error, (adj.Rows+chunk-1)/chunk)
	parallel.For(adj.Rows, chunk, func(lo, hi int) {
		var order []int
		for r := lo; r < hi; r++ {
			from, to := adj.Indptr[r], adj.Indptr[r+1]
			if a.at[r] != to {
				errs[lo/chunk] = fmt.Errorf("cluster: %d of %d entries of node %d came", a.at[r]-from, to-from, a.numbers[r])
				return
			}
			columns := adj.Indices[from:to]
			if adj.Data == nil {
				slices.Sort(columns)
			} else {
				order = sortBoth(order, columns, adj.Data[from:to])
			}
			for k := 1; k < len(columns); k++ {
				if columns[k] == columns[k-1] {
					errs[lo/chunk] = fmt.Errorf("cluster: entry (%d, %d) came twice", a.numbers[r], a.numbers[columns[k]])
					return
				}
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if len(named) > 0 {
		for _, v := range a.train {
			a.ids = append(a.ids, named[a.numbers[v]])
		}
	}
	return a.part, nil
}

// sortBoth sorts columns and the weights with them. order is memory that it may use, and returns.
func sortBoth(order []int, columns []int32, weights []float32) []int {
	order = order[:0]
	for k := range columns {
		order = append(order, k)
	}
	slices.SortFunc(order, func(i, j int) int { return int(columns[i]) - int(columns[j]) })
	c, w := make([]int32, len(columns)), make([]float32, len(columns))
	for k, from := range order {
		c[k], w[k] = columns[from], weights[from]
	}
	copy(columns, c)
	copy(weights, w)
	return order
}

// arrived is features in the chunks in which they came. Row i is row row[i] of chunk chunk[i].
type arrived struct {
	width      int
	chunk, row []int32
	chunks     [][]float32
}

// Dims returns the numbers of rows and columns.
func (x *arrived) Dims() (rows, cols int) { return len(x.row), x.width }

// ReadBlock sets dst to columns lo to hi−1 of rows.
func (x *arrived) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	dst.Reshape(len(rows), hi-lo)
	for i, v := range rows {
		first := int(x.row[v]) * x.width
		copy(dst.Row(i), x.chunks[x.chunk[v]][first+lo:first+hi])
	}
	return nil
}

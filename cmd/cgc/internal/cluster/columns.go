package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// columns runs the task "columns".
func columns(ctx context.Context, t Task, in io.Reader, _ io.Writer, out string) error {
	p, err := readPart(t, in)
	if err != nil {
		return err
	}
	ctx, stop := watched(ctx, in)
	defer stop()
	if len(p.train) == 0 {
		return errors.New("the input has 0 training nodes, must have at least 1")
	}
	f := p.file(t)
	f.X = new(mat.Dense)
	if err := mat.Rows(f.X, p.x, p.train); err != nil {
		return err
	}
	whole := &graph.Graph{Adj: p.adj, X: p.features(), Split: graph.Split{Train: p.train}}
	g, _, err := condense.Setting{Standardize: t.Standardize}.Features(ctx, whole)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	views, err := propagate.Run(ctx, blocked.Engine{Memory: t.Memory}, t.Propagation(), propagate.Input{
		Adj: p.adj, X: g.X, Rows: p.train, Classes: f.Y, Degrees: p.degrees,
	})
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	for _, h := range views[1:] {
		f.H = append(f.H, h.Dense())
	}
	return f.Write(ctx, out)
}

// part is the part of a graph that a worker has. Its nodes are in the order of their numbers in the graph, so that sums
// are added in the same order as on one machine.
type part struct {
	numbers []int32 // number of each node in the graph, ascending
	train   []int32 // positions of the training nodes in the part
	class   []int32 // class of each node; −1 unless it is a training node
	degrees []float64
	adj     *mat.CSR
	x       *arrived
	sizes   []float64 // Σ_k |x_ik| over all columns, nil unless features are normalised
	ids     []string
}

// file returns a stored.File for the training nodes, without their features and embeddings.
func (p *part) file(t Task) *stored.File {
	return &stored.File{
		Origin: t.Origin, Lo: t.Lo, Hi: t.Hi, Train: permuted(p.numbers, p.train), Y: permuted(p.class, p.train), IDs: p.ids,
	}
}

// name sets the names of the training nodes, unless nodes have no names.
func (p *part) name(named map[int32]string) {
	if len(named) == 0 {
		return
	}
	for _, v := range p.train {
		p.ids = append(p.ids, named[p.numbers[v]])
	}
}

// readPart reads nodes, features, names and entries, in any order. Entries are stored as they arrive until the last
// frame, when all nodes are known.
func readPart(t Task, in io.Reader) (*part, error) {
	nodes := gathered{width: t.Hi - t.Lo, sized: t.NormalizeFeatures}
	var entries [][]byte
	var came int64 // bytes of entries
	named := map[int32]string{}
	err := frames(in, func(p *payload) error {
		switch p.kind {
		case NodeFrame:
			return nodes.add(p)
		case FeatureFrame:
			return nodes.addFeatures(p)
		case NameFrame:
			return addNames(named, p)
		case EntryFrame:
			entries = append(entries, p.rest)
			came += int64(len(p.rest))
			return nil
		}
		return fmt.Errorf("a frame of kind %q, expected nodes, names or entries", byte(p.kind))
	})
	if err != nil {
		return nil, err
	}
	a, err := assemble(&nodes, t, came)
	if err != nil {
		return nil, err
	}
	for i, held := range entries {
		if err := a.add(&payload{kind: EntryFrame, rest: held}); err != nil {
			return nil, err
		}
		entries[i] = nil // free its memory
	}
	return a.finish(named)
}

// assembly puts entries, which arrive in any order, into the rows of a part.
type assembly struct {
	*part
	rank *rank
	at   []int64 // position of the next entry of each row
}

// assemble sorts the nodes and allocates memory for their entries. came is the number of bytes of entries received.
func assemble(nodes *gathered, t Task, came int64) (*assembly, error) {
	p, counts, err := nodes.sort(t)
	if err != nil {
		return nil, err
	}
	n := len(counts)
	p.adj = &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
	for v, count := range counts {
		p.adj.Indptr[v+1] = p.adj.Indptr[v] + int64(count)
	}
	if entries := p.adj.Indptr[n]; entries > came/4 {
		return nil, fmt.Errorf("%d nodes announce %d entries of 4 bytes, received %d bytes of entries", n, entries,
			came)
	}
	if err := t.fits("entries", 4*float64(p.adj.Indptr[n])); err != nil {
		return nil, err
	}
	p.adj.Indices = make([]int32, p.adj.Indptr[n])
	return &assembly{part: p, rank: newRank(p.numbers, t.Nodes), at: slices.Clone(p.adj.Indptr[:n])}, nil
}

// add reads an EntryFrame.
func (a *assembly) add(p *payload) error {
	l, err := p.lists()
	if err != nil {
		return err
	}
	if l.weights != nil && a.adj.Data == nil {
		a.adj.Data = make([]float32, len(a.adj.Indices))
	}
	k := 0
	for i, row := range l.nodes {
		r, length := a.rank.of(row), int(l.lengths[i])
		if r < 0 {
			return fmt.Errorf("received a list of node %d, but not the node", row)
		}
		at := a.at[r]
		if most := a.adj.Indptr[r+1]; at+int64(length) > most {
			return fmt.Errorf("node %d has more than the %d entries that it announced", row, most-a.adj.Indptr[r])
		}
		for _, column := range l.neighbours[k : k+length] {
			c := a.rank.of(column)
			if c < 0 {
				return fmt.Errorf("entry (%d, %d) is of a node that is missing", row, column)
			}
			a.adj.Indices[at] = c
			at++
		}
		if l.weights != nil {
			copy(a.adj.Data[a.at[r]:at], l.weights[k:k+length])
		}
		a.at[r] = at
		k += length
	}
	return nil
}

// finish sorts each row, and returns the part if all announced entries arrived.
func (a *assembly) finish(named map[int32]string) (*part, error) {
	adj := a.adj
	const chunk = 1024
	err := parallel.Try(context.Background(), adj.Rows, chunk, func(lo, hi int) error {
		var order []int32
		for r := lo; r < hi; r++ {
			from, to := adj.Indptr[r], adj.Indptr[r+1]
			if a.at[r] != to {
				return fmt.Errorf("received %d of the %d entries of node %d", a.at[r]-from, to-from, a.numbers[r])
			}
			columns := adj.Indices[from:to]
			if adj.Data == nil {
				slices.Sort(columns)
			} else {
				order = sortBoth(order, columns, adj.Data[from:to])
			}
			for k := 1; k < len(columns); k++ {
				if columns[k] == columns[k-1] {
					return fmt.Errorf("entry (%d, %d) came twice", a.numbers[r], a.numbers[columns[k]])
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.name(named)
	return a.part, nil
}

// sortBoth sorts columns, and weights with them. It uses order as scratch memory and returns it.
func sortBoth(order, columns []int32, weights []float32) []int32 {
	order = order[:0]
	for k := range columns {
		order = append(order, int32(k))
	}
	slices.SortFunc(order, func(i, j int32) int { return int(columns[i]) - int(columns[j]) })
	copy(columns, permuted(columns, order))
	copy(weights, permuted(weights, order))
	return order
}

// rank finds the position of a number in an ascending list of numbers below n. It needs 3n/16 bytes, or none if the
// list is sparse: an input that claims a large graph but has few nodes must not cost memory for all of it.
type rank struct {
	words   []uint64
	below   []uint32 // for each word, how many numbers are in earlier words
	numbers []int32  // a sparse list, instead of words
}

// sparseRank is the share of numbers below which a list is sparse.
const sparseRank = 1. / 1024

func newRank(numbers []int32, n int) *rank {
	if float64(len(numbers)) < sparseRank*float64(n) {
		return &rank{numbers: numbers}
	}
	r := &rank{words: make([]uint64, n/64+1), below: make([]uint32, n/64+1)}
	for _, v := range numbers {
		r.words[v/64] |= 1 << (v % 64)
	}
	sum := 0
	for i, w := range r.words {
		r.below[i] = uint32(sum)
		sum += bits.OnesCount64(w)
	}
	return r
}

// of returns the position of v, or −1 if v is not in the list.
func (r *rank) of(v int32) int32 {
	if r.words == nil {
		if i, is := slices.BinarySearch(r.numbers, v); is {
			return int32(i)
		}
		return -1
	}
	if v < 0 || int(v/64) >= len(r.words) {
		return -1
	}
	word, bit := r.words[v/64], uint64(1)<<(v%64)
	if word&bit == 0 {
		return -1
	}
	return int32(r.below[v/64]) + int32(bits.OnesCount64(word&(bit-1)))
}

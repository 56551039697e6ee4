package dataset

import (
	"math"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// arcs is a list of edges as files have them: in one direction or both, repeated or not, with self-loops or not.
// Its nodes are in range and its weights positive and finite: readers check that where they know the place.
type arcs struct {
	from, to []int32
	weight   []float32 // nil: all 1
}

const (
	// arcChunk is the number of arcs that one task takes; bucketArcs is the number of entries that a bucket should have,
	// so that its rows are sorted within a core's cache; maxBuckets keeps the scattered writes within the reach of the TLB.
	arcChunk   = 1 << 20
	bucketArcs = 1 << 16
	maxBuckets = 1 << 10
)

// adjacency returns the symmetric n×n adjacency of a: both directions of every arc, repeats merged into the largest weight,
// self-loops dropped and counted. Data is nil if all weights are 1.
//
// It is a counting sort in two levels: arcs go to buckets of consecutive rows, then each bucket is sorted on its own. The result does
// not depend on the order of the arcs.
func adjacency(n int, a arcs) (adj *mat.CSR, loops int) {
	adj = &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
	if n == 0 || len(a.from) == 0 {
		return adj, 0
	}
	b := newBuckets(n, a)
	kept := make([]int, len(b.start)-1)
	parallel.For(len(kept), 1, func(k, _ int) { kept[k] = b.sort(k, adj.Indptr[1:]) })
	for i := range n {
		adj.Indptr[i+1] += adj.Indptr[i]
	}
	adj.Indices = make([]int32, adj.Indptr[n])
	if b.weight != nil {
		adj.Data = make([]float32, adj.Indptr[n])
	}
	parallel.For(len(kept), 1, func(k, _ int) {
		at, from := adj.Indptr[min(n, k<<b.shift)], b.start[k]
		for i, p := range b.pair[from : from+kept[k]] {
			adj.Indices[at+int64(i)] = int32(p)
		}
		if adj.Data != nil {
			copy(adj.Data[at:], b.weight[from:from+kept[k]])
		}
	})
	if !slices.ContainsFunc(adj.Data, func(w float32) bool { return w != 1 }) {
		adj.Data = nil
	}
	return adj, b.loops
}

// buckets holds both directions of each arc, by row>>shift.
type buckets struct {
	rows   int
	shift  int
	start  []int     // bucket k is pair[start[k]:start[k+1]]
	pair   []uint64  // row<<32 | column
	weight []float32 // nil: all 1
	loops  int
}

func newBuckets(n int, a arcs) *buckets {
	b := &buckets{rows: n}
	for want := max(1, min(maxBuckets, 2*len(a.from)/bucketArcs)); (n-1)>>b.shift >= want; b.shift++ {
	}
	k := (n-1)>>b.shift + 1
	chunks := (len(a.from) + arcChunk - 1) / arcChunk
	at := make([]int, chunks*k) // entries of chunk c in bucket j, then where the next one goes
	loops := make([]int, chunks)
	parallel.For(len(a.from), arcChunk, func(lo, hi int) {
		count := at[lo/arcChunk*k:][:k]
		for i, u := range a.from[lo:hi] {
			v := a.to[lo+i]
			if u == v {
				loops[lo/arcChunk]++
				continue
			}
			count[u>>b.shift]++
			count[v>>b.shift]++
		}
	})
	total := 0
	for j := range k {
		b.start = append(b.start, total)
		for c := range chunks {
			at[c*k+j], total = total, total+at[c*k+j]
		}
	}
	b.start = append(b.start, total)
	for _, l := range loops {
		b.loops += l
	}
	b.pair = make([]uint64, total)
	if a.weight != nil {
		b.weight = make([]float32, total)
	}
	parallel.For(len(a.from), arcChunk, func(lo, hi int) {
		next := at[lo/arcChunk*k:][:k]
		put := func(u, v int32, i int) {
			p := &next[u>>b.shift]
			b.pair[*p] = uint64(u)<<32 | uint64(v)
			if b.weight != nil {
				b.weight[*p] = a.weight[i]
			}
			*p++
		}
		for i := lo; i < hi; i++ {
			if u, v := a.from[i], a.to[i]; u != v {
				put(u, v, i)
				put(v, u, i)
			}
		}
	})
	return b
}

// scratch holds the entries of a bucket while it is sorted.
var scratch = sync.Pool{New: func() any { return new([]uint64) }}

// sort puts bucket k in the order of rows and columns, merges repeats, leaves the columns (and weights) at the front of the
// bucket and returns their number; degree[i] gets the number of entries of row i.
func (b *buckets) sort(k int, degree []int64) (kept int) {
	from := b.start[k]
	pair := b.pair[from:b.start[k+1]]
	first := k << b.shift
	rows := min(1<<b.shift, b.rows-first)
	next := make([]int, rows+1)
	for _, p := range pair {
		next[int(p>>32)-first+1]++
	}
	for i := range rows {
		next[i+1] += next[i]
	}
	sorted := scratch.Get().(*[]uint64)
	defer scratch.Put(sorted)
	if cap(*sorted) < len(pair) {
		*sorted = make([]uint64, len(pair))
	}
	entry := (*sorted)[:len(pair)]
	for i, p := range pair {
		e := p << 32
		if b.weight != nil {
			e |= uint64(math.Float32bits(b.weight[from+i])) // positive floats are ordered as their bits are
		}
		r := int(p>>32) - first
		entry[next[r]] = e
		next[r]++
	}
	lo := 0
	for r := range rows {
		row := entry[lo:next[r]]
		lo = next[r]
		slices.Sort(row)
		before := kept
		for i, e := range row {
			if i+1 < len(row) && row[i+1]>>32 == e>>32 {
				continue // the last of equal columns has the largest weight
			}
			pair[kept] = e >> 32
			if b.weight != nil {
				b.weight[from+kept] = math.Float32frombits(uint32(e))
			}
			kept++
		}
		degree[first+r] = int64(kept - before)
	}
	return kept
}

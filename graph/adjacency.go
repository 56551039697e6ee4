package graph

import (
	"math"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

const (
	// edgeChunk is the number of edges that one task takes.
	edgeChunk = 1 << 20
	// bucketEntries is the number of entries that a bucket should have: its rows are then sorted within a core's cache.
	bucketEntries = 1 << 16
	// maxBuckets bounds the number of buckets. Writes to more of them would miss the TLB.
	maxBuckets = 1 << 10
)

// buckets is the first level of a counting sort in two levels. It holds both directions of each edge, by row>>shift.
// The second level sorts each bucket on its own.
type buckets struct {
	rows   int
	shift  int
	start  []int     // bucket k is pair[start[k]:start[k+1]]
	pair   []uint64  // row<<32 | column
	weight []float32 // nil: all 1
	loops  int
}

// newBuckets distributes edges, of which there is at least one. It checks them where it counts them.
func newBuckets(n int, edges Edges) (*buckets, error) {
	b := &buckets{rows: n}
	wanted := max(1, min(maxBuckets, 2*edges.Len()/bucketEntries))
	for (n-1)>>b.shift >= wanted {
		b.shift++
	}
	k := (n-1)>>b.shift + 1
	chunks := (edges.Len() + edgeChunk - 1) / edgeChunk
	at := make([]int, chunks*k) // entries of chunk c in bucket j; later the place of the next one
	loops, faults := make([]int, chunks), make([]error, chunks)
	parallel.For(edges.Len(), edgeChunk, func(lo, hi int) {
		c := lo / edgeChunk
		count := at[c*k:][:k]
		if faults[c] = edges.check(lo, hi, n); faults[c] != nil {
			return
		}
		from, to, shift := edges.From[lo:hi], edges.To[lo:hi], b.shift
		for i, u := range from {
			v := to[i]
			if u == v {
				loops[c]++
				continue
			}
			count[u>>shift]++
			count[v>>shift]++
		}
	})
	for c, err := range faults {
		if err != nil {
			return nil, err
		}
		b.loops += loops[c]
	}
	total := 0
	for j := range k {
		b.start = append(b.start, total)
		for c := range chunks {
			at[c*k+j], total = total, total+at[c*k+j]
		}
	}
	b.start = append(b.start, total)
	b.pair = make([]uint64, total)
	if edges.Weight != nil {
		b.weight = make([]float32, total)
	}
	parallel.For(edges.Len(), edgeChunk, func(lo, hi int) {
		next := at[lo/edgeChunk*k:][:k]
		put := func(u, v int32, i int) {
			p := &next[u>>b.shift]
			b.pair[*p] = uint64(u)<<32 | uint64(v)
			if b.weight != nil {
				b.weight[*p] = edges.Weight[i]
			}
			*p++
		}
		from, to := edges.From, edges.To
		for i := lo; i < hi; i++ {
			if u, v := from[i], to[i]; u != v {
				put(u, v, i)
				put(v, u, i)
			}
		}
	})
	return b, nil
}

// matrix sorts the buckets and returns their entries as a matrix.
func (b *buckets) matrix() *mat.CSR {
	n := b.rows
	adj := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
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
	return adj
}

// scratch holds the entries of a bucket while it is sorted.
var scratch = sync.Pool{New: func() any { return new([]uint64) }}

// sort orders bucket k by rows and columns and merges repeats. It leaves the columns (and weights) at the front of the
// bucket and returns their number. degree[i] becomes the number of entries of row i.
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

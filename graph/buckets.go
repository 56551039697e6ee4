package graph

import (
	"math/bits"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/radix"
	"github.com/graph-condensation/cgc/mat"
)

const (
	// bucketEntries is the target number of entries of a bucket, so that its rows are sorted within a core's cache.
	bucketEntries = 1 << 16
	// maxBuckets bounds the number of buckets. Writes to more of them would miss the TLB.
	maxBuckets = 1 << 10
)

// buckets is the first level of a two-level radix sort. It holds the entries of the matrix, grouped by row>>shift. The
// second level sorts each bucket separately.
type buckets struct {
	rows   int
	shift  int
	start  []int     // bucket k is entry[start[k]:start[k+1]]
	entry  []uint64  // row<<32 | column
	weight []float32 // nil: all 1
}

// newBuckets distributes the edges. There must be at least one, and examine must have found them valid. Each edge
// becomes one entry if the edges are mirrored, else two. Self-loops are dropped. newBuckets returns nil if the work is
// stopped.
func newBuckets(w *work, n int, edges Edges, mirrored bool) *buckets {
	b := &buckets{rows: n}
	entries := edges.Len()
	if !mirrored {
		entries *= 2
	}
	wanted := max(1, min(maxBuckets, entries/bucketEntries))
	for (n-1)>>b.shift >= wanted {
		b.shift++
	}
	k := (n-1)>>b.shift + 1
	chunks := (edges.Len() + edgeChunk - 1) / edgeChunk
	at := make([]int, chunks*k) // entries of chunk c in bucket j; later the position of the next entry
	w.each(edges.Len(), edgeChunk, 1, func(lo, hi int) {
		count, shift := at[lo/edgeChunk*k:][:k], b.shift
		from, to := edges.From[lo:hi], edges.To[lo:hi]
		for i, u := range from {
			v := to[i]
			if u == v {
				continue
			}
			count[u>>shift]++
			if !mirrored {
				count[v>>shift]++
			}
		}
	})
	if w.stopped() {
		return nil
	}
	total := 0
	for j := range k {
		b.start = append(b.start, total)
		for c := range chunks {
			at[c*k+j], total = total, total+at[c*k+j]
		}
	}
	b.start = append(b.start, total)
	b.entry = memory.Make[uint64](total)
	if edges.Weight != nil {
		b.weight = memory.Make[float32](total)
	}
	w.each(edges.Len(), edgeChunk, passes-2, func(lo, hi int) {
		next := at[lo/edgeChunk*k:][:k]
		put := func(u, v int32, i int) {
			p := &next[u>>b.shift]
			b.entry[*p] = uint64(u)<<32 | uint64(v)
			if b.weight != nil {
				b.weight[*p] = edges.Weight[i]
			}
			*p++
		}
		from, to := edges.From, edges.To
		for i := lo; i < hi; i++ {
			if u, v := from[i], to[i]; u != v {
				put(u, v, i)
				if !mirrored {
					put(v, u, i)
				}
			}
		}
	})
	if w.stopped() {
		return nil
	}
	return b
}

// matrix sorts the buckets and returns their entries as a matrix, or nil if the work is stopped.
func (b *buckets) matrix(w *work) *mat.CSR {
	n := b.rows
	adj := &mat.CSR{Rows: n, Cols: n, Indptr: memory.Make[int64](n + 1)}
	kept := make([]int, len(b.start)-1)
	w.each(len(kept), 1, passes, func(k, _ int) { kept[k] = b.merge(k, adj.Indptr[1:]) })
	if w.stopped() {
		return nil
	}
	for i := range n {
		adj.Indptr[i+1] += adj.Indptr[i]
	}
	adj.Indices = memory.Make[int32](int(adj.Indptr[n]))
	if b.weight != nil {
		adj.Data = memory.Make[float32](int(adj.Indptr[n]))
	}
	parallel.For(len(kept), 1, func(k, _ int) {
		at, from := adj.Indptr[min(n, k<<b.shift)], b.start[k]
		columns := adj.Indices[at:][:kept[k]]
		for i, e := range b.entry[from:][:kept[k]] {
			columns[i] = int32(e)
		}
		if adj.Data != nil {
			copy(adj.Data[at:], b.weight[from:from+kept[k]])
		}
	})
	adj.Data = unlessOne(adj.Data)
	return adj
}

// merge sorts bucket k by row and column, with a radix sort by column and then by row. Of repeated entries it keeps the
// one with the largest weight. It leaves the entries at the front of the bucket and returns their number. degree[i]
// becomes the number of entries of row i.
func (b *buckets) merge(k int, degree []int64) (kept int) {
	lo, hi := b.start[k], b.start[k+1]
	entry, weight := b.entry[lo:hi], []float32(nil)
	if b.weight != nil {
		weight = b.weight[lo:hi]
	}
	radix.Sort(entry, weight, radix.Bits{Low: 0, Width: bits.Len(uint(b.rows - 1))}, radix.Bits{Low: 32, Width: b.shift})
	kept = radix.Merge(entry, weight)
	for _, e := range entry[:kept] {
		degree[e>>32]++
	}
	return kept
}

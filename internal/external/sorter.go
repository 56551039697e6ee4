// Package external makes the adjacency of a graph whose edges may exceed memory. It is the radix sort of package graph,
// with files in place of buckets:
//
//	Add    distributes both directions of each edge over buckets of rows, which are files
//	Sort   sorts each bucket in memory and drops self-loops and repeats
//	Write  delivers the rows in order, and thins them out where a number of edges is asked for
//
// An entry is written twice and read twice, always in blocks of many. Where a bucket exceeds the memory that it is
// sorted in, it is distributed over smaller ones. The result is that of graph.Adjacency: it depends on the set of edges
// alone.
package external

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/radix"
	"github.com/graph-condensation/cgc/progress"
)

// Sorter takes edges and delivers an adjacency. Add may be called by several goroutines at a time.
type Sorter struct {
	folder   string
	nodes    int
	columns  int // bits of a node
	weighted bool
	plan     plan
	level    *level
	units    [][]unit // of each bucket, in order
	entries  atomic.Int64
	loops    atomic.Int64
	kept     int64 // entries that are left after Sort
	ones     atomic.Bool
	files    atomic.Int64 // numbers the files
}

// plan says how memory is divided.
type plan struct {
	buckets int // of a level, at most
	block   int // entries of a bucket that are written at a time
	limit   int // entries that are sorted in memory by one goroutine
}

const (
	// mostBuckets bounds the open files, and the places that a chunk of edges is scattered to.
	mostBuckets = 512
	// mostBlock is the largest number of entries of a block: 1 MB of keys.
	mostBlock = 1 << 17
	// leastBlock is the smallest, and leastSort the fewest entries that are sorted in memory, for bounds that are tight.
	leastBlock, leastSort = 16, 512
	// sortedBytes is what an entry takes while it is sorted: key and weight, both twice.
	sortedBytes = 24
)

// newPlan divides memory for a number of entries: half for sorting, a quarter for the blocks of the buckets. A bucket
// is meant to be half as large as what can be sorted, since no graph fills its buckets evenly.
func newPlan(entries, memory int64) plan {
	workers := int64(runtime.GOMAXPROCS(0))
	p := plan{limit: int(max(leastSort, min(memory/2/workers/sortedBytes, 1<<24)))}
	p.buckets = int(max(2, min(mostBuckets, 2*entries/int64(p.limit)+1)))
	p.block = int(max(leastBlock, min(mostBlock, memory/4/12/int64(p.buckets))))
	return p
}

// New returns a sorter for edges between nodes 0 to nodes−1. Its files stand in folder. entries is how many edges to
// expect: the result does not depend on it. Of memory, in bytes, it takes what it can, and at least some megabytes.
func New(folder string, nodes int, entries, memory int64, weighted bool) *Sorter {
	s := &Sorter{folder: folder, nodes: nodes, weighted: weighted, plan: newPlan(2*entries, memory)}
	s.columns = bits.Len(uint(max(0, nodes-1)))
	s.ones.Store(true)
	s.level = s.newLevel(0, 2*s.columns, s.plan.buckets)
	return s
}

// Changes tells what became of the edges. It is complete after Sort.
func (s *Sorter) Changes() graph.Changes {
	c := graph.Changes{Entries: int(s.entries.Load()), Loops: int(s.loops.Load())}
	c.Merged = c.Entries - c.Loops - int(s.kept/2)
	return c
}

// Weighted reports whether a weight that was kept is not 1. It is complete after Sort.
func (s *Sorter) Weighted() bool { return !s.ones.Load() }

// Entries returns the number of entries of the adjacency, two for an edge. It is complete after Sort.
func (s *Sorter) Entries() int64 { return s.kept }

// sides is memory for the entries of a chunk of edges, by buckets.
type sides struct {
	key    []uint64
	weight []float32
	next   []int32
}

var idle = sync.Pool{New: func() any { return new(sides) }}

// addChunk is the number of edges that are distributed at a time.
const addChunk = 1 << 16

// Add adds edges, which it does not keep. The nodes of an edge are in range, and weights are positive and finite.
func (s *Sorter) Add(edges graph.Edges) error {
	s.entries.Add(int64(edges.Len()))
	for lo := 0; lo < edges.Len(); lo += addChunk {
		if err := s.addChunk(edges, lo, min(lo+addChunk, edges.Len())); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sorter) addChunk(edges graph.Edges, lo, hi int) error {
	local := idle.Get().(*sides)
	defer idle.Put(local)
	l := s.level
	local.next = append(local.next[:0], make([]int32, len(l.buckets)+1)...)
	loops, next := 0, local.next
	for i := lo; i < hi; i++ {
		u, v := edges.From[i], edges.To[i]
		if u == v {
			loops++
			continue
		}
		next[1+l.of(s.key(u, v))]++
		next[1+l.of(s.key(v, u))]++
	}
	s.loops.Add(int64(loops))
	for k := range l.buckets {
		next[k+1] += next[k]
	}
	total := int(next[len(l.buckets)])
	local.key = grown(local.key, total)
	if s.weighted {
		local.weight = grown(local.weight, total)
	}
	put := func(u, v int32, i int) {
		at := &next[l.of(s.key(u, v))]
		local.key[*at] = s.key(u, v)
		if s.weighted {
			local.weight[*at] = 1
			if edges.Weight != nil {
				local.weight[*at] = edges.Weight[i]
			}
		}
		*at++
	}
	for i := lo; i < hi; i++ {
		if u, v := edges.From[i], edges.To[i]; u != v {
			put(u, v, i)
			put(v, u, i)
		}
	}
	begin := int32(0) // next holds the ends now
	for k := range l.buckets {
		end := next[k]
		weight := weights(local.weight, s.weighted, int(begin), int(end))
		if err := s.append(&l.buckets[k], local.key[begin:end], weight); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// key returns the entry in row u and column v. Keys ascend as entries do.
func (s *Sorter) key(u, v int32) uint64 { return uint64(u)<<s.columns | uint64(v) }

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// weights returns weights lo to hi−1, or nil if there are none.
func weights(w []float32, weighted bool, lo, hi int) []float32 {
	if !weighted {
		return nil
	}
	return w[lo:hi]
}

// Sort sorts what was added. It may be called again after more was added.
func (s *Sorter) Sort(ctx context.Context) error {
	l := s.level
	again := s.units
	s.units = make([][]unit, len(l.buckets))
	s.kept = 0
	s.ones.Store(true)
	var done, kept atomic.Int64
	errs := make([]error, len(l.buckets))
	err := parallel.ForContext(ctx, len(l.buckets), 1, func(k, _ int) {
		if again != nil {
			if errs[k] = s.reopen(&l.buckets[k], again[k]); errs[k] != nil {
				return
			}
		}
		s.units[k], errs[k] = s.sortBucket(ctx, &l.buckets[k])
		for _, u := range s.units[k] {
			kept.Add(int64(u.count))
		}
		progress.Report(ctx, progress.Event{Stage: "sorting edges", Done: done.Add(1), Total: int64(len(l.buckets))})
	})
	if err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	s.kept = kept.Load()
	return nil
}

// sortBucket sorts a bucket into units, and removes its file. Where the bucket is too large, it is distributed first.
func (s *Sorter) sortBucket(ctx context.Context, b *bucket) ([]unit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch {
	case b.count <= int64(s.plan.limit):
		u, err := s.sortInMemory(b)
		return []unit{u}, err
	case b.shift == 0:
		u, err := s.sortOne(b)
		return []unit{u}, err
	}
	l := s.newLevel(b.first, b.shift, int(min(int64(s.plan.buckets), 2*b.count/int64(s.plan.limit)+2)))
	err := s.blocks(b, func(key []uint64, weight []float32) error {
		for i, e := range key {
			if err := s.append(&l.buckets[l.of(e)], key[i:i+1], weights(weight, s.weighted, i, i+1)); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	b.reset()
	var units []unit
	for k := range l.buckets {
		some, err := s.sortBucket(ctx, &l.buckets[k])
		if err != nil {
			return nil, err
		}
		units = append(units, some...)
	}
	return units, nil
}

// sorting is memory for a bucket while it is sorted.
type sorting struct {
	key    []uint64
	weight []float32
}

var idleSorts = sync.Pool{New: func() any { return new(sorting) }}

func (s *Sorter) sortInMemory(b *bucket) (unit, error) {
	m := idleSorts.Get().(*sorting)
	defer idleSorts.Put(m)
	m.key, m.weight = m.key[:0], m.weight[:0]
	if cap(m.key) < int(b.count) {
		m.key = make([]uint64, 0, b.count)
	}
	err := s.blocks(b, func(key []uint64, weight []float32) error {
		m.key, m.weight = append(m.key, key...), append(m.weight, weight...)
		return nil
	})
	if err != nil {
		return unit{}, err
	}
	b.reset()
	weight := weights(m.weight, s.weighted, 0, len(m.weight))
	radix.Sort(m.key, weight, radix.Bits{Low: 0, Width: b.shift})
	kept := radix.Merge(m.key, weight)
	return s.writeUnit(b, m.key[:kept], weights(weight, s.weighted, 0, kept))
}

// sortOne is sortInMemory for a bucket of one entry, which repeats more often than memory holds.
func (s *Sorter) sortOne(b *bucket) (unit, error) {
	one, largest := []uint64{b.first}, []float32{0}
	err := s.blocks(b, func(_ []uint64, weight []float32) error {
		for _, w := range weight {
			largest[0] = max(largest[0], w)
		}
		return nil
	})
	if err != nil {
		return unit{}, err
	}
	b.reset()
	return s.writeUnit(b, one, weights(largest, s.weighted, 0, 1))
}

// create makes a file of its own.
func (s *Sorter) create(kind string) (*os.File, error) {
	return os.Create(fmt.Sprintf("%s%c%s%d", s.folder, os.PathSeparator, kind, s.files.Add(1)))
}

// Close closes what files are open. The folder is the caller's to remove.
func (s *Sorter) Close() {
	for k := range s.level.buckets {
		s.level.buckets[k].reset()
	}
	for _, units := range s.units {
		for _, u := range units {
			if u.file != nil {
				_ = u.file.Close() // again, if it was written
			}
		}
	}
}

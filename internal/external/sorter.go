// Package external builds the adjacency of a graph whose edges may exceed memory. It is the radix sort of package
// graph, with files in place of buckets:
//
//	Add    distributes both directions of each edge over buckets of rows, which are files
//	Sort   sorts each bucket in memory and drops self-loops and repeats
//	Write  delivers the rows in order, and drops edges if a number of edges is requested
//
// Each entry is written twice and read twice, in large blocks. A bucket that exceeds the memory for sorting is
// distributed over smaller ones. The adjacency equals the result of graph.Adjacency, and depends only on the set of
// edges.
package external

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/radix"
	"github.com/graph-condensation/cgc/progress"
)

// Sorter collects edges and delivers an adjacency. Add may be called concurrently.
type Sorter struct {
	folder   string
	nodes    int
	columns  int // bits of a node
	weighted bool
	plan     plan
	level    *level
	units    [][]unit // the units of each bucket, in order
	entries  atomic.Int64
	loops    atomic.Int64
	kept     int64 // entries that remain after Sort
	ones     atomic.Bool
	files    atomic.Int64 // numbers the files
}

// plan is a division of the available memory.
type plan struct {
	buckets int // largest number of buckets in a level
	block   int // entries of a bucket that are written at once
	limit   int // entries that one goroutine sorts in memory
}

const (
	// mostBuckets limits the number of open files, and the number of places that a chunk of edges is written to.
	mostBuckets = 512
	// mostBlock is the largest number of entries of a block: 1 MB of keys.
	mostBlock = 1 << 17
	// leastBlock is the smallest number of entries of a block, and leastSort is the smallest number of entries that are
	// sorted in memory, for tight limits.
	leastBlock, leastSort = 16, 512
	// sortedBytes is the memory of an entry while it is sorted: key and weight, both twice.
	sortedBytes = 24
)

// newPlan divides memory for a number of entries: half for sorting, a quarter for the blocks of the buckets. The
// intended size of a bucket is half of what can be sorted, because no graph fills its buckets evenly.
func newPlan(entries, memory int64) plan {
	workers := int64(runtime.GOMAXPROCS(0))
	p := plan{limit: int(max(leastSort, min(memory/2/workers/sortedBytes, 1<<24)))}
	p.buckets = int(max(2, min(mostBuckets, 2*entries/int64(p.limit)+1)))
	p.block = int(max(leastBlock, min(mostBlock, memory/4/12/int64(p.buckets))))
	return p
}

// New returns a sorter for edges between nodes 0 to nodes−1, with its files in folder. entries is the expected number
// of edges; the result does not depend on it. The sorter uses the given memory, in bytes, but at least a few megabytes.
func New(folder string, nodes int, entries, memory int64, weighted bool) *Sorter {
	s := &Sorter{folder: folder, nodes: nodes, weighted: weighted, plan: newPlan(2*entries, memory)}
	s.columns = bits.Len(uint(max(0, nodes-1)))
	s.ones.Store(true)
	s.level = s.newLevel(0, 2*s.columns, s.plan.buckets)
	return s
}

// Changes returns the changes to the edges. It is complete after Sort.
func (s *Sorter) Changes() graph.Changes {
	c := graph.Changes{Entries: int(s.entries.Load()), Loops: int(s.loops.Load())}
	c.Merged = c.Entries - c.Loops - int(s.kept/2)
	return c
}

// Weighted reports whether a remaining weight is not 1. It is complete after Sort.
func (s *Sorter) Weighted() bool { return !s.ones.Load() }

// Entries returns the number of entries of the adjacency, two for an edge. It is complete after Sort.
func (s *Sorter) Entries() int64 { return s.kept }

// entries is memory for the entries of a chunk of edges, grouped by bucket, or of a bucket while it is sorted.
type entries struct {
	key    []uint64
	weight []float32
	next   []int32
}

// idleChunks and idleSorts hold unused memory. There are two pools, because a bucket has many more entries than a
// chunk.
var (
	idleChunks = sync.Pool{New: func() any { return new(entries) }}
	idleSorts  = sync.Pool{New: func() any { return new(entries) }}
)

// addChunk is the number of edges that are distributed at once.
const addChunk = 1 << 16

// Add adds edges, without keeping the slices. The nodes must be in range, and weights positive and finite.
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
	local := idleChunks.Get().(*entries)
	defer idleChunks.Put(local)
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
	local.key = memory.Resized(local.key, total)
	if s.weighted {
		local.weight = memory.Resized(local.weight, total)
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
	begin := int32(0) // next[k] is now the end of bucket k
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

// key returns the key of the entry in row u and column v. Keys are ordered like entries.
func (s *Sorter) key(u, v int32) uint64 { return uint64(u)<<s.columns | uint64(v) }

// weights returns weights lo to hi−1, or nil for unweighted edges.
func weights(w []float32, weighted bool, lo, hi int) []float32 {
	if !weighted {
		return nil
	}
	return w[lo:hi]
}

// Sort sorts the edges added so far. It may be called again after more are added.
func (s *Sorter) Sort(ctx context.Context) error {
	l := s.level
	again := s.units
	s.units = make([][]unit, len(l.buckets))
	s.kept = 0
	s.ones.Store(true)
	var kept atomic.Int64
	done := progress.NewCounter(0, len(l.buckets))
	err := parallel.Try(ctx, len(l.buckets), 1, func(k, _ int) (err error) {
		if again != nil {
			if err := s.reopen(&l.buckets[k], again[k]); err != nil {
				return err
			}
		}
		s.units[k], err = s.sortBucket(ctx, &l.buckets[k])
		for _, u := range s.units[k] {
			kept.Add(int64(u.count))
		}
		done.Add(ctx, "sorting edges")
		return err
	})
	s.kept = kept.Load()
	return err
}

// sortBucket sorts a bucket into units, and removes its file. It first distributes a bucket that is too large.
func (s *Sorter) sortBucket(ctx context.Context, b *bucket) ([]unit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if b.count <= int64(s.plan.limit) || b.shift == 0 {
		u, err := s.sortInMemory(b)
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

// sortInMemory sorts a bucket into a unit. A bucket that is larger than the memory limit contains one key, repeated.
func (s *Sorter) sortInMemory(b *bucket) (unit, error) {
	m := idleSorts.Get().(*entries)
	defer idleSorts.Put(m)
	m.key, m.weight = slices.Grow(m.key[:0], int(min(b.count, int64(s.plan.limit)))), m.weight[:0]
	merge := func() {
		weight := weights(m.weight, s.weighted, 0, len(m.weight))
		radix.Sort(m.key, weight, radix.Bits{Low: 0, Width: b.shift})
		m.key = m.key[:radix.Merge(m.key, weight)]
		m.weight = m.weight[:min(len(m.weight), len(m.key))]
	}
	err := s.blocks(b, func(key []uint64, weight []float32) error {
		if len(m.key)+len(key) > s.plan.limit {
			merge()
		}
		m.key, m.weight = append(m.key, key...), append(m.weight, weight...)
		return nil
	})
	if err != nil {
		return unit{}, err
	}
	b.reset()
	merge()
	return s.writeUnit(b, m.key, weights(m.weight, s.weighted, 0, len(m.key)))
}

// create creates a file in the folder of the sorter, with a name that no other file of the sorter has.
func (s *Sorter) create(kind string) (*os.File, error) {
	return os.Create(fmt.Sprintf("%s%c%s%d", s.folder, os.PathSeparator, kind, s.files.Add(1)))
}

// Close closes open files. The caller removes the folder.
func (s *Sorter) Close() {
	for k := range s.level.buckets {
		s.level.buckets[k].reset()
	}
	for _, units := range s.units {
		for _, u := range units {
			if u.file != nil {
				_ = u.file.Close() // Write has already closed the files that it wrote
			}
		}
	}
}

package external

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/graph-condensation/cgc/progress"
)

// Sink receives an adjacency in parts. The arguments are valid only during the call.
type Sink interface {
	// Pointers receives Indptr[first], Indptr[first+1], …. A later call may replace the last pointer.
	Pointers(first int, indptr []int64) error
	// Indices receives Indices[at], Indices[at+1], … and, if the graph has weights, Data[at], Data[at+1], ….
	Indices(at int64, indices []int32, data []float32) error
}

// Write delivers the adjacency to sink, row by row, and removes each sorted file once it is written. edges, if not
// negative, is the number of edges to keep, at most the number that exist. The dropped edges are evenly spaced in the
// order of rows. Entries have Data only if Weighted returns true.
func (s *Sorter) Write(ctx context.Context, edges int64, sink Sink) error {
	t := thinning{s: s, edges: s.kept / 2}
	for _, units := range s.units {
		t.units = append(t.units, units...)
	}
	if edges >= 0 {
		if t.drop = t.edges - edges; t.drop < 0 || t.drop > 0 && s.weighted {
			return fmt.Errorf("%d edges, expected to keep %d", t.edges, edges)
		}
	}
	t.pending = make([][]uint64, len(t.units))
	var r rows
	var pointers []int64
	total := int64(0)
	if err := sink.Pointers(0, []int64{0}); err != nil {
		return err
	}
	for k, u := range t.units {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.readUnit(&r, u); err != nil {
			return err
		}
		if u.file != nil {
			if err := remove(u.file); err != nil {
				return err
			}
		}
		t.thin(k, &r)
		data := r.weights
		if s.ones.Load() {
			data = nil
		}
		if err := sink.Indices(total, r.columns, data); err != nil {
			return err
		}
		pointers = pointers[:0]
		for _, degree := range r.degrees {
			total += int64(degree)
			pointers = append(pointers, total)
		}
		if err := sink.Pointers(r.first+1, pointers); err != nil {
			return err
		}
		progress.Report(ctx, progress.Event{Stage: "writing edges", Done: int64(k + 1), Total: int64(len(t.units))})
	}
	s.units = nil
	return nil
}

// thinning drops edges. The entry of an edge above the diagonal comes first, and is counted. The entry below the
// diagonal is in a later row, or later in the same unit.
type thinning struct {
	s           *Sorter
	units       []unit
	edges, drop int64
	rank        int64 // entries above the diagonal before the current row
	dropped     int64
	pending     [][]uint64 // the entries to drop from each following unit
	places      []int
}

// due returns the rank of the edge to drop next.
func (t *thinning) due() int64 { return (2*t.dropped + 1) * t.edges / (2 * t.drop) }

// thin drops entries of r, which is unit k.
func (t *thinning) thin(k int, r *rows) {
	if t.drop == 0 {
		return
	}
	t.places = t.places[:0]
	at := 0
	for i, degree := range r.degrees {
		row := int32(r.first + i)
		columns := r.columns[at : at+int(degree)]
		upper, _ := slices.BinarySearch(columns, row)
		count := int64(len(columns) - upper)
		for t.dropped < t.drop && t.due() < t.rank+count {
			e := upper + int(t.due()-t.rank)
			t.places = append(t.places, at+e)
			back := t.s.key(columns[e], row)
			to := sort.Search(len(t.units), func(u int) bool { return t.units[u].first > back }) - 1
			t.pending[to] = append(t.pending[to], back)
			t.dropped++
		}
		t.rank += count
		at += int(degree)
	}
	t.mirrored(k, r)
	t.compact(r)
}

// mirrored adds the positions of the entries below the diagonal that must be dropped.
func (t *thinning) mirrored(k int, r *rows) {
	pending := t.pending[k]
	t.pending[k] = nil
	slices.Sort(pending)
	mask := uint64(1)<<t.s.columns - 1
	at, row := 0, r.first
	for _, key := range pending {
		for ; row < int(key>>t.s.columns); row++ {
			at += int(r.degrees[row-r.first])
		}
		columns := r.columns[at : at+int(r.degrees[row-r.first])]
		e, _ := slices.BinarySearch(columns, int32(key&mask))
		t.places = append(t.places, at+e)
	}
	slices.Sort(t.places)
}

// compact closes the gaps at t.places.
func (t *thinning) compact(r *rows) {
	to, from, end, next := 0, 0, 0, t.places
	for i, degree := range r.degrees {
		end += int(degree)
		for ; len(next) > 0 && next[0] < end; next = next[1:] {
			to += copy(r.columns[to:], r.columns[from:next[0]])
			from = next[0] + 1
			r.degrees[i]--
		}
	}
	to += copy(r.columns[to:], r.columns[from:])
	r.columns = r.columns[:to]
}

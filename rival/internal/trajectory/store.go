package trajectory

import (
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// store holds numbered snapshots of weights, in memory or in a temporary file.
type store struct {
	size   int // the number of values in a snapshot
	values []float32
	onDisk bool // values are a mapped file
}

// newStore returns a store for n snapshots. If onDisk is set, they are in a temporary file, which is removed by close
// or at the end of the process.
func newStore(n, size int, onDisk bool) (*store, error) {
	if !onDisk {
		return &store{size, memory.Make[float32](n * size), false}, nil
	}
	values, err := memory.Scratch[float32](n * size)
	if err != nil {
		return nil, err
	}
	return &store{size, values, true}, nil
}

// weightNumbers returns the number of values in a snapshot.
func weightNumbers(features, hidden, classes int) int {
	return features*hidden + hidden + hidden*classes + classes
}

// put stores w as snapshot i.
func (s *store) put(i int, w learn.Weights) {
	at := s.values[i*s.size:]
	for _, m := range w.All() {
		at = at[copy(at, m.Data):]
	}
}

// get sets w to snapshot i.
func (s *store) get(i int, w learn.Weights) {
	at := s.values[i*s.size:]
	for _, m := range w.All() {
		at = at[copy(m.Data, at):]
	}
}

// close removes the file, if there is one.
func (s *store) close() {
	if s != nil && s.onDisk {
		memory.Free(s.values)
		s.values = nil
	}
}

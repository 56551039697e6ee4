package trajectory

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// store holds numbered snapshots of weights, in memory or in a temporary file.
type store struct {
	size   int // the number of values in a snapshot
	memory []float32
	file   *os.File
	done   func() // closes and removes the file
	buffer []byte
}

// newStore returns a store for n snapshots. If onDisk is set, they are in a temporary file. It is removed by close, or
// by the operating system when the process ends.
func newStore(n, size int, onDisk bool) (*store, error) {
	s := &store{size: size}
	if !onDisk {
		s.memory = memory.Make[float32](n * size)
		return s, nil
	}
	var err error
	if s.file, s.done, err = memory.TemporaryFile(); err != nil {
		return nil, fmt.Errorf("trajectory: %w", err)
	}
	s.buffer = make([]byte, 4*size)
	return s, nil
}

// weightNumbers returns the number of values in a snapshot.
func weightNumbers(features, hidden, classes int) int {
	return features*hidden + hidden + hidden*classes + classes
}

// put stores w as snapshot i.
func (s *store) put(i int, w weights) error {
	if s.file == nil {
		at := s.memory[i*s.size:]
		for _, m := range w.all() {
			at = at[copy(at, m.Data):]
		}
		return nil
	}
	at := 0
	for _, m := range w.all() {
		for _, v := range m.Data {
			binary.LittleEndian.PutUint32(s.buffer[at:], math.Float32bits(v))
			at += 4
		}
	}
	if _, err := s.file.WriteAt(s.buffer, int64(i)*int64(len(s.buffer))); err != nil {
		return fmt.Errorf("trajectory: writing experts: %w", err)
	}
	return nil
}

// get sets w to snapshot i.
func (s *store) get(i int, w weights) error {
	if s.file == nil {
		at := s.memory[i*s.size:]
		for _, m := range w.all() {
			at = at[copy(m.Data, at[:len(m.Data)]):]
		}
		return nil
	}
	if _, err := s.file.ReadAt(s.buffer, int64(i)*int64(len(s.buffer))); err != nil {
		return fmt.Errorf("trajectory: reading experts: %w", err)
	}
	at := 0
	for _, m := range w.all() {
		read(m, s.buffer[at:])
		at += 4 * len(m.Data)
	}
	return nil
}

func read(m *mat.Dense, bytes []byte) {
	for i := range m.Data {
		m.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
	}
}

// close removes the file, if there is one.
func (s *store) close() {
	if s != nil && s.file != nil {
		s.done()
	}
}

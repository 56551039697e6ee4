package cluster

import (
	"encoding/binary"
	"io"
	"math"
)

// sender writes frames for the next step. Each consists of the number of the receiving block, an int32, and a frame as
// a worker reads it.
type sender struct {
	w       io.Writer
	head    [13]byte
	payload []byte
}

// begin starts a frame for a block.
func (s *sender) begin(kind Kind, block int) {
	binary.LittleEndian.PutUint32(s.head[:], uint32(block))
	s.head[4] = byte(kind)
	s.payload = s.payload[:0]
}

func (s *sender) count(n int) { s.payload = binary.LittleEndian.AppendUint32(s.payload, uint32(n)) }

func (s *sender) int32s(list []int32) {
	for _, v := range list {
		s.payload = binary.LittleEndian.AppendUint32(s.payload, uint32(v))
	}
}

func (s *sender) float32s(list []float32) {
	for _, v := range list {
		s.payload = binary.LittleEndian.AppendUint32(s.payload, math.Float32bits(v))
	}
}

// end writes the frame.
func (s *sender) end() error {
	binary.LittleEndian.PutUint64(s.head[5:], uint64(len(s.payload)))
	if _, err := s.w.Write(s.head[:]); err != nil {
		return err
	}
	_, err := s.w.Write(s.payload)
	return err
}

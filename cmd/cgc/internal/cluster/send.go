package cluster

import (
	"encoding/binary"
	"io"
)

// sender writes frames for the next step. Before each frame, it writes the number of the receiving block as an int32.
type sender struct {
	w     io.Writer
	frame []byte // memory for frames
}

// send writes a frame whose payload is the given values: numbers of fixed size and lists of them.
func (s *sender) send(kind Kind, block int, values ...any) error {
	const head = 4 + 1 + 8
	frame := append(s.frame[:0], make([]byte, head)...)
	for _, v := range values {
		frame, _ = binary.Append(frame, binary.LittleEndian, v)
	}
	binary.LittleEndian.PutUint32(frame, uint32(block))
	frame[4] = byte(kind)
	binary.LittleEndian.PutUint64(frame[5:], uint64(len(frame)-head))
	s.frame = frame
	_, err := s.w.Write(frame)
	return err
}

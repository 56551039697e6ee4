// Package cluster implements a worker of a cluster. The worker reads a part of a graph from its standard input and
// propagates features over it. It writes embeddings to a file, or frames for the next step to its standard output. A
// program on the cluster, such as python/cgc/spark.py, starts the worker and sends its input. The worker does not
// depend on that program.
//
// The input is a sequence of frames: one byte for the kind, the length of the payload in 8 bytes, and the payload. All
// numbers are little-endian. The first frame is a Task, and the last is an EndFrame. If the feeder is killed, the
// EndFrame is missing, and the worker does not mistake its input for complete.
package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind is the kind of a frame.
type Kind byte

// The kinds of frames.
const (
	// TaskFrame is the JSON of a Task.
	TaskFrame Kind = 'T'
	// NodeFrame contains n nodes: a uint32 n, then n int32 numbers, n int32 counts of their entries, n float64 degrees Σ_j
	// A_ij, n int32 classes (−1 except for training nodes), and their features as in a FeatureFrame. If the features are
	// left out, they come in FeatureFrames. In the task "rows", the distance to the training nodes replaces the count.
	NodeFrame Kind = 'N'
	// FeatureFrame contains features of n nodes: a uint32 n, n int32 numbers, and n×w float32. If features are to be
	// normalised, n float64 sums Σ_k |x_ik| over all columns, with 1 instead of 0, precede the n×w float32. After step 0
	// of "rows" there are no sums, and w is 0 unless the rule uses X in each hop. In "rows", all NodeFrames and
	// FeatureFrames come before other frames.
	FeatureFrame Kind = 'X'
	// NameFrame contains the names of n training nodes: a uint32 n, n int32 numbers, n+1 uint32 offsets, and text.
	NameFrame Kind = 'I'
	// EntryFrame contains entries of A, as lists of neighbours: a uint32 n, a uint32 that is 1 if entries have weights, n
	// int32 numbers of nodes, n int32 lengths of their lists, the int32 numbers of the neighbours in these lists, one list
	// after the other, and a float32 weight for each of them if there are weights. A list may be split into pieces. In the
	// task "columns", a list is a row of A. In the task "rows", it is a column: A is symmetric.
	EntryFrame Kind = 'A'
	// HopFrame contains rows of H⁽ˡ⁾: a uint32 l, a uint32 n, n int32 numbers of training nodes, and n×w float32.
	HopFrame Kind = 'H'
	// SumFrame contains partial sums Σ_j A_ij·Right_j·H_j over the nodes j of one block: a uint32 n, n int32 numbers of
	// nodes i, and n×w float32.
	SumFrame Kind = 'S'
	// ScalingFrame contains the mean and the deviation of each column over the training nodes: 2w float32.
	ScalingFrame Kind = 'F'
	// EndFrame is empty.
	EndFrame Kind = 'Z'
)

// maxFrame limits the size of a frame, so that a damaged length cannot exhaust memory. Cells of Spark tables are
// smaller.
const maxFrame = 1 << 30

// errCut is the error for an input that ends before its EndFrame.
var errCut = errors.New("the input ends before its last frame: the sender was stopped")

// readFrame returns the next frame.
func readFrame(r io.Reader) (Kind, []byte, error) {
	var head [9]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = errCut
		}
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint64(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes, must be at most %d", n, maxFrame)
	}
	var payload bytes.Buffer // it grows with the bytes that arrive, not with the claimed length
	payload.Grow(int(min(n, 1<<22)))
	if _, err := io.CopyN(&payload, r, int64(n)); err != nil {
		if err == io.EOF {
			err = errCut
		}
		return 0, nil, err
	}
	return Kind(head[0]), payload.Bytes(), nil
}

// frames calls use with each frame of in before its EndFrame.
func frames(in io.Reader, use func(*payload) error) error {
	for {
		kind, raw, err := readFrame(in)
		if err != nil || kind == EndFrame {
			return err
		}
		if err := use(&payload{kind: kind, rest: raw}); err != nil {
			return err
		}
	}
}

// payload parses the payload of a frame, and keeps the first error.
type payload struct {
	kind Kind
	rest []byte
	err  error
}

// take returns the next n elements of size bytes each.
func (p *payload) take(n, size int) []byte {
	if p.err == nil && (n < 0 || n > len(p.rest)/size) {
		p.err = fmt.Errorf("a frame of kind %c has %d bytes left, expected %d elements of %d", p.kind, len(p.rest),
			n, size)
	}
	if p.err != nil {
		return nil
	}
	out := p.rest[:n*size]
	p.rest = p.rest[n*size:]
	return out
}

// end returns the error, or an error if bytes are left over.
func (p *payload) end() error {
	if p.err == nil && len(p.rest) > 0 {
		p.err = fmt.Errorf("a frame of kind %c is %d bytes too long", p.kind, len(p.rest))
	}
	return p.err
}

// numbers parses the next n numbers. If there are fewer, it returns none.
func numbers[T int32 | uint32 | float32 | float64](p *payload, n int) []T {
	size := binary.Size(T(0))
	raw := p.take(n, size)
	list := make([]T, len(raw)/size)
	_, _ = binary.Decode(raw, binary.LittleEndian, list) // their sizes are equal
	return list
}

func (p *payload) count() int {
	if n := numbers[uint32](p, 1); len(n) > 0 {
		return int(n[0])
	}
	return 0
}

func (p *payload) int32s(n int) []int32     { return numbers[int32](p, n) }
func (p *payload) float32s(n int) []float32 { return numbers[float32](p, n) }

// lists is the content of an EntryFrame. Node nodes[i] has the next lengths[i] neighbours. weights is nil if entries
// have no weights.
type lists struct {
	nodes, lengths, neighbours []int32
	weights                    []float32
}

// lists parses a complete EntryFrame.
func (p *payload) lists() (l lists, err error) {
	n, weighted := p.count(), p.count() == 1
	l.nodes, l.lengths = p.int32s(n), p.int32s(n)
	entries := 0
	for i, length := range l.lengths {
		if length < 0 {
			return l, fmt.Errorf("a list of node %d has the length %d, must be at least 0", l.nodes[i], length)
		}
		entries += int(length)
	}
	l.neighbours = p.int32s(entries)
	if weighted {
		l.weights = p.float32s(entries)
	}
	return l, p.end()
}

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

package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"

	"github.com/graph-condensation/cgc/mat"
)

// Identity identifies the graph of a record. Its JSON keys are stable.
type Identity struct {
	// Name is the name of the graph.
	Name string `json:"name"`
	// Fingerprint is a hash of adjacency, features, labels, classes and split, as 32 hexadecimal digits.
	//
	// It is empty unless it was requested.
	Fingerprint string `json:"fingerprint"`
	// Nodes, Edges (undirected), Features and Classes are its sizes; Train, Val and Test are the sizes of its split.
	Nodes    int `json:"nodes"`
	Edges    int `json:"edges"`
	Features int `json:"features"`
	Classes  int `json:"classes"`
	Train    int `json:"train"`
	Val      int `json:"val"`
	Test     int `json:"test"`
}

// Sizes returns the identity of g without the fingerprint, at no cost.
func (g *Graph) Sizes() Identity {
	return Identity{
		Name: g.Name, Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes,
		Train: len(g.Split.Train), Val: len(g.Split.Val), Test: len(g.Split.Test),
	}
}

// Identify returns the identity of g. Its cost is one pass over the data. The fingerprint is the first half of a
// SHA-256 of adjacency, features, classes, labels and split. Sparse features have another fingerprint than the same
// features stored densely. Features of other types have the fingerprint of dense ones; errors of reading them are
// returned.
func Identify(g *Graph) (Identity, error) {
	id := g.Sizes()
	sum := sha256.New()
	h := hashing{w: sum}
	h.sparse(g.Adj)
	if err := h.features(g.X); err != nil {
		return Identity{}, fmt.Errorf("graph: reading the features of %s: %w", g.Name, err)
	}
	h.ints(int64(g.Classes))
	for _, list := range [][]int32{g.Y, g.Split.Train, g.Split.Val, g.Split.Test} {
		h.int32s(list)
	}
	h.flush()
	id.Fingerprint = hex.EncodeToString(sum.Sum(nil)[:16])
	return id, nil
}

// hashing writes numbers in little-endian order, and each list after its length.
type hashing struct {
	w      io.Writer // does not fail
	buffer []byte
}

func (h *hashing) features(x mat.Matrix) error {
	switch x := x.(type) {
	case *mat.CSR:
		h.sparse(x)
		return nil
	case *mat.Dense:
		h.ints(int64(x.Rows), int64(x.Cols))
		h.floats(x.Data)
		return nil
	}
	rows, cols := x.Dims()
	h.ints(int64(rows), int64(cols))
	h.word(uint64(rows) * uint64(cols))
	for block, err := range mat.Blocks(x) {
		if err != nil {
			return err
		}
		h.numbers(block.Data)
	}
	return nil
}

func (h *hashing) sparse(m *mat.CSR) {
	h.ints(int64(m.Rows), int64(m.Cols))
	h.ints(m.Indptr...)
	h.int32s(m.Indices)
	h.floats(m.Data)
}

func (h *hashing) ints(list ...int64) {
	h.word(uint64(len(list)))
	for _, v := range list {
		h.word(uint64(v))
	}
}

func (h *hashing) int32s(list []int32) {
	h.word(uint64(len(list)))
	for _, v := range list {
		h.half(uint32(v))
	}
}

func (h *hashing) floats(list []float32) {
	h.word(uint64(len(list)))
	h.numbers(list)
}

func (h *hashing) numbers(list []float32) {
	for _, v := range list {
		h.half(math.Float32bits(v))
	}
}

func (h *hashing) word(v uint64) { h.half(uint32(v)); h.half(uint32(v >> 32)) }

func (h *hashing) half(v uint32) {
	if len(h.buffer) >= 1<<16 {
		h.flush()
	}
	h.buffer = binary.LittleEndian.AppendUint32(h.buffer, v)
}

func (h *hashing) flush() {
	h.w.Write(h.buffer)
	h.buffer = h.buffer[:0]
}

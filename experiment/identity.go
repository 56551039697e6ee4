package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Identity says which graph a record is of.
type Identity struct {
	Name string `json:"name"`
	// Fingerprint depends on all that the graph holds, and not on its name.
	Fingerprint string `json:"fingerprint"`
	// Nodes, Edges (undirected), Features and Classes are its sizes; Train, Val and Test those of its split.
	Nodes    int `json:"nodes"`
	Edges    int `json:"edges"`
	Features int `json:"features"`
	Classes  int `json:"classes"`
	Train    int `json:"train"`
	Val      int `json:"val"`
	Test     int `json:"test"`
}

// Identify returns the identity of g. Its cost is one pass over the data.
func Identify(g *graph.Graph) Identity {
	id := identify(g)
	h := hashing{Hash: sha256.New()}
	h.sparse(g.Adj)
	switch x := g.X.(type) {
	case *mat.CSR:
		h.sparse(x)
	case *mat.Dense:
		h.ints(int64(x.Rows), int64(x.Cols))
		h.floats(x.Data)
	}
	h.ints(int64(g.Classes))
	for _, list := range [][]int32{g.Y, g.Split.Train, g.Split.Val, g.Split.Test} {
		h.int32s(list)
	}
	h.flush()
	id.Fingerprint = hex.EncodeToString(h.Sum(nil)[:16])
	return id
}

// identify leaves the fingerprint out.
func identify(g *graph.Graph) Identity {
	s := g.Split
	return Identity{Name: g.Name, Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes, Train: len(s.Train), Val: len(s.Val), Test: len(s.Test)}
}

// hashing writes numbers in little-endian order, each list after its length.
type hashing struct {
	hash.Hash
	buffer []byte
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
	h.Write(h.buffer)
	h.buffer = h.buffer[:0]
}

package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"github.com/graph-condensation/cgc/mat"
)

// Identity identifies the graph of a record. Its JSON keys are stable.
type Identity struct {
	// Name is the name of the graph.
	Name string `json:"name"`
	// Fingerprint is a hash of adjacency, features, labels, classes and split, as 32 hexadecimal digits.
	//
	// It is empty, and absent in JSON, unless it was requested.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Nodes, Edges (undirected), Features and Classes are the sizes of the graph. Train, Val and Test are the sizes of its
	// split.
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
// SHA-256 of adjacency, features, classes, labels and split. The same features have different fingerprints if stored
// sparsely or densely. Features of other types have the fingerprint of dense ones; errors of reading them are returned.
func Identify(g *Graph) (Identity, error) {
	id := g.Sizes()
	h := newHashing()
	h.sparse(g.Adj)
	if err := h.features(g.X); err != nil {
		return Identity{}, fmt.Errorf("reading the features of %s: %w", g.Name, err)
	}
	hashList(h, []int64{int64(g.Classes)})
	for _, list := range [][]int32{g.Y, g.Split.Train, g.Split.Val, g.Split.Test} {
		hashList(h, list)
	}
	id.Fingerprint = hex.EncodeToString(h.Sum(nil)[:16])
	return id, nil
}

// hashing is a SHA-256 of numbers in little-endian order.
type hashing struct{ hash.Hash }

func newHashing() hashing { return hashing{sha256.New()} }

func (h hashing) features(x mat.Matrix) error {
	rows, cols := x.Dims()
	switch x := x.(type) {
	case *mat.CSR:
		h.sparse(x)
		return nil
	case *mat.Dense:
		hashList(h, []int64{int64(rows), int64(cols)})
		hashList(h, x.Data)
		return nil
	}
	hashList(h, []int64{int64(rows), int64(cols)})
	hashNumbers(h, []int64{int64(rows) * int64(cols)})
	for block, err := range mat.Blocks(x) {
		if err != nil {
			return err
		}
		hashNumbers(h, block.Data)
	}
	return nil
}

func (h hashing) sparse(m *mat.CSR) {
	hashList(h, []int64{int64(m.Rows), int64(m.Cols)})
	hashList(h, m.Indptr)
	hashList(h, m.Indices)
	hashList(h, m.Data)
}

// hashList hashes the length of a list and then its numbers.
func hashList[E int32 | int64 | float32](h hashing, list []E) {
	hashNumbers(h, []int64{int64(len(list))})
	hashNumbers(h, list)
}

func hashNumbers[E int32 | int64 | uint32 | float32](h hashing, list []E) {
	for some := range slices.Chunk(list, 1<<14) {
		_ = binary.Write(h, binary.LittleEndian, some) // a hash does not fail
	}
}

package graph

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
)

// Digest identifies a graph and its split by content. Names, the file format and the storage of the features (dense,
// sparse, in panels, in a file) do not matter. It is cheap, and it consists of parts, so that a comparison can name
// what differs. Identity.Fingerprint instead hashes every value.
//
// Each part is 16 hexadecimal digits, the first quarter of a SHA-256. The JSON keys are stable.
type Digest struct {
	// Nodes, Edges (undirected), Features and Classes are the sizes of the graph.
	Nodes    int `json:"nodes"`
	Edges    int `json:"edges"`
	Features int `json:"features"`
	Classes  int `json:"classes"`
	// TrainNodes, ValNodes and TestNodes are the sizes of the split.
	TrainNodes int `json:"train_nodes"`
	ValNodes   int `json:"val_nodes"`
	TestNodes  int `json:"test_nodes"`
	// Adjacency is the digest of the degrees of all nodes, and of the neighbours and weights of sampled nodes.
	Adjacency string `json:"adjacency"`
	// X is the digest of the features of sampled nodes, as float32 and before any scaling.
	X string `json:"x"`
	// Labels is the digest of the labels of the training nodes. Labels of other nodes may be added later.
	Labels string `json:"labels"`
	// Train, Val and Test are the digests of the lists of nodes.
	Train string `json:"train"`
	Val   string `json:"val"`
	Test  string `json:"test"`
}

const (
	// digestedAll is the largest number of feature values for which a Digest covers all nodes.
	digestedAll = 1 << 16
	// Larger graphs are sampled at evenly spaced nodes. Their number is mostDigested, or fewer (but at least
	// leastDigested) if their rows would otherwise have more than digestedValues values in total.
	mostDigested, leastDigested = 256, 16
	digestedValues              = 1 << 18
)

// DigestOf returns the digest of g. It costs O(N) for degrees and split. If X has more than 2¹⁶ values, it reads at
// most 256 rows of the adjacency and of the features. Errors of reading features are returned.
func DigestOf(g *Graph) (Digest, error) {
	d := Digest{
		Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes,
		TrainNodes: len(g.Split.Train), ValNodes: len(g.Split.Val), TestNodes: len(g.Split.Test),
	}
	sample := digested(d.Nodes, d.Features)
	if g.Mapped { // the system would read up to megabytes around each row
		defer memory.Sparsely(g.Adj.Indices)()
		defer memory.Sparsely(g.Adj.Data)()
		defer paneled.Sparsely(g.X)()
	}
	d.Adjacency = digestAdjacency(g.Adj, sample)
	var err error
	if d.X, err = digestNonzeros(g.X, sample); err != nil {
		return Digest{}, fmt.Errorf("reading the features of %s: %w", g.Name, err)
	}
	d.Labels = digestList(g.Labels(g.Split.Train))
	d.Train, d.Val, d.Test = digestList(g.Split.Train), digestList(g.Split.Val), digestList(g.Split.Test)
	return d, nil
}

// digested returns the nodes whose rows are hashed, ascending.
func digested(nodes, features int) []int32 {
	count := nodes
	if nodes*features > digestedAll {
		count = min(nodes, max(leastDigested, min(mostDigested, digestedValues/max(features, 1))))
	}
	sample := make([]int32, count)
	for i := range sample {
		sample[i] = int32(i * nodes / count)
	}
	return sample
}

// digest returns the digest of what has been hashed so far.
func (h hashing) digest() string { return hex.EncodeToString(h.Sum(nil)[:8]) }

func digestList(list []int32) string {
	h := newHashing()
	hashList(h, list)
	return h.digest()
}

// digestAdjacency hashes the degrees of all nodes, and the given rows.
func digestAdjacency(a *mat.CSR, rows []int32) string {
	h := newHashing()
	const chunk = 1 << 14
	words := make([]uint32, 0, chunk)
	for lo := 0; lo < a.Rows; lo += chunk {
		words = words[:0]
		for i := lo; i < min(lo+chunk, a.Rows); i++ {
			words = append(words, uint32(a.Indptr[i+1]-a.Indptr[i]))
		}
		hashNumbers(h, words)
	}
	for _, i := range rows {
		words = words[:0]
		for j, w := range a.Row(int(i)) {
			words = append(words, uint32(j), math.Float32bits(w))
		}
		hashNumbers(h, words)
	}
	return h.digest()
}

// digestNonzeros hashes the nonzero entries of the given rows, so that dense and sparse features have the same hash.
func digestNonzeros(x mat.Matrix, rows []int32) (string, error) {
	h := newHashing()
	const atOnce = 16
	var block mat.Dense
	for chunk := range slices.Chunk(rows, atOnce) {
		if err := mat.Rows(&block, x, chunk); err != nil {
			return "", err
		}
		for i, node := range chunk {
			words := []uint32{uint32(node)}
			for j, v := range block.Row(i) {
				if v != 0 {
					words = append(words, uint32(j), math.Float32bits(v))
				}
			}
			hashNumbers(h, words)
		}
	}
	return h.digest(), nil
}

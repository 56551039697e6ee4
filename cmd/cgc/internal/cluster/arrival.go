package cluster

import (
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/radix"
	"github.com/graph-condensation/cgc/mat"
)

// addNames reads a NameFrame.
func addNames(named map[int32]string, p *payload) error {
	n := p.count()
	nodes, offsets := p.int32s(n), p.int32s(n+1)
	text := p.take(len(p.rest), 1)
	if p.err != nil {
		return p.err
	}
	for i, v := range nodes {
		if offsets[i] < 0 || offsets[i] > offsets[i+1] || int(offsets[i+1]) > len(text) {
			return fmt.Errorf("name of node %d runs from byte %d to %d of %d", v, offsets[i], offsets[i+1], len(text))
		}
		named[v] = string(text[offsets[i]:offsets[i+1]])
	}
	return nil
}

// gathered contains nodes and features in the order in which they arrived.
type gathered struct {
	width                  int  // number of features
	sized                  bool // whether sizes arrive
	numbers, counts, class []int32
	degrees                []float64
	owners                 []int32     // number of the node of each row of features
	sizes                  []float64   // Σ_k |x_ik| of each row of features
	chunks                 [][]float32 // features, as they arrived
	first                  []int       // first row of each chunk
}

// add reads a NodeFrame.
func (g *gathered) add(p *payload) error {
	n := p.count()
	owners := p.int32s(n)
	g.numbers = append(g.numbers, owners...)
	g.counts = append(g.counts, p.int32s(n)...)
	g.degrees = append(g.degrees, numbers[float64](p, n)...)
	g.class = append(g.class, p.int32s(n)...)
	if p.err == nil && len(p.rest) == 0 {
		return nil // features come in separate frames
	}
	return g.addRows(p, owners)
}

// addFeatures reads a FeatureFrame.
func (g *gathered) addFeatures(p *payload) error {
	n := p.count()
	return g.addRows(p, p.int32s(n))
}

// addRows reads the features of nodes, with their sums if features are to be normalised.
func (g *gathered) addRows(p *payload, owners []int32) error {
	g.first = append(g.first, len(g.owners))
	g.owners = append(g.owners, owners...)
	if g.sized {
		g.sizes = append(g.sizes, numbers[float64](p, len(owners))...)
	}
	g.chunks = append(g.chunks, p.float32s(len(owners)*g.width))
	return p.end()
}

// sort orders the nodes by number. It returns the part without entries, and the count that arrived with each node.
func (g *gathered) sort(t Task) (p *part, counts []int32, err error) {
	order := ascending(g.numbers)
	p = &part{
		numbers: permuted(g.numbers, order), class: permuted(g.class, order), degrees: permuted(g.degrees, order),
	}
	counts = permuted(g.counts, order)
	for v, number := range p.numbers {
		switch c := p.class[v]; {
		case number < 0 || int(number) >= t.Nodes:
			return nil, nil, fmt.Errorf("node %d, must be 0 to %d", number, t.Nodes-1)
		case v > 0 && number == p.numbers[v-1]:
			return nil, nil, fmt.Errorf("node %d came twice", number)
		case counts[v] < 0:
			return nil, nil, fmt.Errorf("node %d has the count %d, must be at least 0", number, counts[v])
		case c < -1 || int(c) >= t.Classes:
			return nil, nil, fmt.Errorf("node %d has the class %d, must be -1 to %d", number, c, t.Classes-1)
		case c >= 0:
			p.train = append(p.train, int32(v))
		}
	}
	return p, counts, g.sortFeatures(p)
}

// sortFeatures assigns features to the nodes of a part.
func (g *gathered) sortFeatures(p *part) error {
	n := len(p.numbers)
	p.x = &arrived{width: g.width, chunk: make([]int32, n), row: make([]int32, n), chunks: g.chunks}
	if g.width == 0 {
		return nil
	}
	if len(g.owners) != n {
		return fmt.Errorf("received the features of %d nodes, expected %d", len(g.owners), n)
	}
	for v, i := range ascending(g.owners) {
		if g.owners[i] != p.numbers[v] {
			return fmt.Errorf("received the features of node %d, expected node %d", g.owners[i], p.numbers[v])
		}
		c, is := slices.BinarySearch(g.first, int(i))
		if !is {
			c--
		}
		for c+1 < len(g.first) && g.first[c+1] == int(i) { // chunks without rows
			c++
		}
		p.x.chunk[v], p.x.row[v] = int32(c), i-int32(g.first[c])
		if g.sized {
			if !(g.sizes[i] > 0) {
				return fmt.Errorf("features of node %d have the sum %v, must be above 0", p.numbers[v], g.sizes[i])
			}
			p.sizes = append(p.sizes, g.sizes[i])
		}
	}
	return nil
}

// ascending returns the indices that sort numbers in ascending order.
func ascending(numbers []int32) []int32 {
	keys := make([]uint64, len(numbers))
	for i, v := range numbers {
		keys[i] = uint64(uint32(v)^1<<31)<<32 | uint64(i)
	}
	radix.Sort(keys, nil, radix.Bits{Low: 32, Width: 32})
	order := make([]int32, len(keys))
	for i, key := range keys {
		order[i] = int32(uint32(key))
	}
	return order
}

func permuted[T any](list []T, order []int32) []T {
	out := make([]T, len(order))
	for v, i := range order {
		out[v] = list[i]
	}
	return out
}

// arrived is a feature matrix in the chunks in which it arrived. Row i is row row[i] of chunk chunk[i].
type arrived struct {
	width      int
	chunk, row []int32
	chunks     [][]float32
}

// features returns the features, normalised if the task requires it but not standardised.
func (p *part) features() mat.Matrix {
	if p.sizes == nil {
		return p.x
	}
	return graph.Divided(p.x, p.sizes)
}

// Dims returns the numbers of rows and columns.
func (x *arrived) Dims() (rows, cols int) { return len(x.row), x.width }

// ReadBlock sets dst to columns lo to hi−1 of rows.
func (x *arrived) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	dst.Reshape(len(rows), hi-lo)
	for i, v := range rows {
		first := int(x.row[v]) * x.width
		copy(dst.Row(i), x.chunks[x.chunk[v]][first+lo:first+hi])
	}
	return nil
}

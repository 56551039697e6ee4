package dataset

import (
	"math"
	"slices"
	"unsafe"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/scales"
	"github.com/graph-condensation/cgc/mat"
)

// features summarises the features of a graph.
type features struct {
	// filled is the number of elements that are not 0.
	filled int
	// constant is the number of features that are equal in all nodes, and first is the first such feature.
	constant, first int
	// ratio is scales.Ratio of the norms of the features. largest is the feature with the largest norm. norm is the root
	// mean square of the nodes' feature norms.
	ratio   float64
	largest int
	norm    float64
	// hash holds a hash of the features of each node: 0 if all of them are 0. Equal features have equal hashes.
	hash []uint64
	// telling lists the features that telling finds.
	telling []int32
}

// column summarises a feature, zeros excluded.
type column struct {
	least, most float32
	square      float64
	filled      int
}

// readFeatures reads x once. An error comes from reading x. It panics with a *memory.Exceeded if there are too many
// features.
func readFeatures(x mat.Matrix) (features, error) {
	n, d := x.Dims()
	f := features{hash: make([]uint64, n)}
	const parts, least = 16, 4096 // bounds the memory of the columns
	chunk := max(least, (n+parts-1)/parts)
	columns := make([][]column, (n+chunk-1)/chunk)
	begin := func(part int) []column {
		if columns[part] == nil {
			memory.Check(d * int(unsafe.Sizeof(column{})))
			columns[part] = slices.Repeat([]column{{least: math.MaxFloat32, most: -math.MaxFloat32}}, d)
		}
		return columns[part]
	}
	switch x := x.(type) {
	case *mat.Dense:
		parallel.For(n, chunk, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				f.hash[i] = addRow(begin(lo/chunk), nil, x.Row(i))
			}
		})
	case *mat.CSR:
		_, _, longest := degrees(x)
		ones := slices.Repeat([]float32{1}, longest)
		parallel.For(n, chunk, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				from, to := x.Indptr[i], x.Indptr[i+1]
				values := ones[:to-from]
				if x.Data != nil {
					values = x.Data[from:to]
				}
				f.hash[i] = addRow(begin(lo/chunk), x.Indices[from:to], values)
			}
		})
	default:
		at := 0
		for block, err := range mat.Blocks(x) {
			if err != nil {
				return f, err
			}
			for i := range block.Rows {
				f.hash[at] = addRow(begin(0), nil, block.Row(i))
				at++
			}
		}
	}
	f.join(columns, n, d)
	return f, nil
}

// addRow adds the values of a node to the summaries of their features, and returns a hash of the values. at holds the
// feature of each value; nil means 0, 1, ….
func addRow(columns []column, at []int32, values []float32) (hash uint64) {
	for k, v := range values {
		if v == 0 {
			continue
		}
		j := k
		if at != nil {
			j = int(at[k])
		}
		c := &columns[j]
		c.least, c.most = min(c.least, v), max(c.most, v)
		c.square += float64(v) * float64(v)
		c.filled++
		hash += scramble(uint64(j)<<32 | uint64(math.Float32bits(v)))
	}
	return hash
}

// scramble is the finaliser of SplitMix64 (Steele et al. 2014), a permutation of the 64-bit numbers.
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// join combines the summaries of the parts.
func (f *features) join(parts [][]column, n, d int) {
	norms := memory.Make[float64](d)
	widest, squares := 0.0, 0.0
	for j := range d {
		all := column{least: math.MaxFloat32, most: -math.MaxFloat32}
		for _, columns := range parts {
			if columns != nil {
				c := columns[j]
				all.least, all.most = min(all.least, c.least), max(all.most, c.most)
				all.square, all.filled = all.square+c.square, all.filled+c.filled
			}
		}
		f.filled += all.filled
		if all.filled == 0 || all.filled == n && all.least == all.most {
			if f.constant++; f.constant == 1 {
				f.first = j
			}
		}
		norms[j] = math.Sqrt(all.square)
		squares += all.square
		if all.square > widest {
			f.largest, widest = j, all.square
		}
	}
	f.ratio, f.norm = scales.Ratio(norms), math.Sqrt(squares/float64(max(1, n)))
}

// twins counts nodes that have the same features as another node, except all-zero nodes. copied counts the test nodes
// with the features of a training node. contrary counts the labelled nodes with the features of a node of another
// class.
func (f *features) twins(y []int32, train, test []int32) (copied, contrary int) {
	learnt := make(map[uint64]bool, len(train))
	for _, v := range train {
		learnt[f.hash[v]] = true
	}
	delete(learnt, 0)
	for _, v := range test {
		if learnt[f.hash[v]] {
			copied++
		}
	}
	const several = -2
	class := make(map[uint64]int32, len(y)) // the class of the labelled nodes with this hash, or several
	for i, h := range f.hash {
		if y[i] == graph.Unlabelled || h == 0 {
			continue
		}
		if c, known := class[h]; !known {
			class[h] = y[i]
		} else if c != y[i] {
			class[h] = several
		}
	}
	for i, h := range f.hash {
		if y[i] != graph.Unlabelled && h != 0 && class[h] == several {
			contrary++
		}
	}
	return copied, contrary
}

// telling returns the features that are constant within each class but differ between classes. It looks at labelled
// nodes, and compares only classes with at least tinyClass of them. An error comes from reading x.
func telling(x mat.Matrix, y []int32) (found []int32, err error) {
	_, d := x.Dims()
	live := memory.Range(0, d)      // features with one value in each class so far
	first := map[int32][]float32{}  // the first labelled row of each class
	nodes, lo := map[int32]int{}, 0 // labelled nodes of each class
	for block, err := range mat.Blocks(x) {
		if err != nil {
			return nil, err
		}
		for i := range block.Rows {
			c := y[lo+i]
			if c == graph.Unlabelled {
				continue
			}
			row := block.Row(i)
			if nodes[c]++; nodes[c] == 1 {
				first[c] = memory.Clone(row)
				continue
			}
			of := first[c]
			live = slices.DeleteFunc(live, func(j int32) bool { return row[j] != of[j] })
		}
		if lo += block.Rows; len(live) == 0 {
			return nil, nil
		}
	}
	for _, j := range live {
		distinct := map[float32]bool{}
		for c, row := range first {
			if nodes[c] >= tinyClass {
				distinct[row[j]] = true
			}
		}
		if len(distinct) > 1 {
			found = append(found, j)
		}
	}
	return found, nil
}

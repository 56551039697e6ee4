package dataset

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// demoShape is the graph called demo. Classes are told by their mean features, but weakly: a node's own features are mostly noise,
// and averaging over its neighbourhood, two thirds of which is of its class, is what brings the class out. A third of the
// signal is in the sub-classes, so a class is several clouds.
func demoShape() Shape {
	return Shape{
		Name: demoName, Nodes: 4000, Edges: 12000, Features: 96, Classes: 7, Train: 140, Val: 500, Test: 1000,
		Balanced: true, Groups: 3, Homophily: 0.6, Signal: 2,
	}
}

// Demo returns the built-in graph: 4000 nodes, 7 classes, always the same. Structure matters in it: a linear model on the
// neighbourhoods' mean features is far better than one on a node's own, and neither is near perfect.
func Demo() *graph.Graph {
	g, err := Make(demoShape(), rand.NewPCG(2025, 0))
	if err != nil {
		panic(err) // the shape is a constant
	}
	return g
}

// Make returns a graph of the given shape, drawn from a degree-corrected stochastic block model (Karrer and Newman 2011):
// every node has a class, a sub-class and a weight with a power-law tail (exponent 2.5); an edge joins a node drawn by weight,
// or each node in turn, so that none is isolated, to one drawn by weight from the same sub-class, the same class or all nodes. Numbers of nodes, edges and split are exact. The same
// shape and source give the same graph for any number of threads; src is read twice.
func Make(s Shape, src rand.Source) (*graph.Graph, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	m := &maker{Shape: s, seed: [2]uint64{src.Uint64(), src.Uint64()}}
	m.Groups = max(1, m.Groups)
	g := &graph.Graph{Name: s.Name, Classes: s.Classes, Y: make([]int32, s.Nodes)}
	m.draw()
	for i, k := range m.group {
		g.Y[i] = k / int32(m.Groups)
	}
	g.Adj = m.edges()
	m.stub = nil
	g.Split = m.split(g.Y)
	if s.Words > 0 {
		g.X = m.words()
	} else {
		g.X = m.features()
	}
	return g, nil
}

// maker holds what the steps of Make share.
type maker struct {
	Shape
	seed  [2]uint64
	group []int32  // group[i] is the sub-class of node i, counted over all classes
	stub  []int32  // nodes, repeated in proportion to their weight, by sub-class
	start []uint64 // stub[start[k]:start[k+1]] is sub-class k
}

// What a stream of random numbers is for.
const (
	forNodes = iota
	forEdges
	forSplit
	forCentres
	forFeatures
)

// stream returns the chunk-th generator for a purpose. Chunks have generators of their own, so any worker can do any chunk.
func (m *maker) stream(purpose, chunk int) *rand.ChaCha8 {
	var key [32]byte
	for i, v := range []uint64{m.seed[0], m.seed[1], uint64(purpose), uint64(chunk)} {
		binary.LittleEndian.PutUint64(key[8*i:], v)
	}
	return rand.NewChaCha8(key)
}

const (
	tail      = 1.5 // a node's weight is above w with probability w^-tail: degrees of exponent 2.5, as citation graphs have
	maxWeight = 100 // cuts the tail: above it, few nodes would have most of the edges
	stubs     = 2   // stubs of a node of weight 1
)

// draw draws the sub-class and the weight of each node. Classes have sizes from 1 to 1/4 of the largest.
func (m *maker) draw() {
	random := rand.New(m.stream(forNodes, 0))
	m.group = make([]int32, 0, m.Nodes)
	total := 0.0
	size := func(c int) float64 { return 1 / (1 + 3*float64(c)/float64(m.Classes)) }
	for c := range m.Classes {
		total += size(c)
	}
	before := 0.0
	spare := m.Nodes - m.Classes*m.Groups // one node for each sub-class, the others by the sizes of the classes
	for c := range m.Classes {
		lo, hi := int(float64(spare)*before/total), int(float64(spare)*(before+size(c))/total)
		if before += size(c); c == m.Classes-1 {
			hi = spare
		}
		for i := range hi - lo + m.Groups {
			m.group = append(m.group, int32(c*m.Groups+i%m.Groups))
		}
	}
	random.Shuffle(m.Nodes, func(i, j int) { m.group[i], m.group[j] = m.group[j], m.group[i] })
	count := make([]uint8, m.Nodes)
	m.start = make([]uint64, m.Classes*m.Groups+1)
	for i, k := range m.group {
		weight := min(maxWeight, math.Pow(1-random.Float64(), -1/tail))
		count[i] = uint8(stubs * weight)
		m.start[k+1] += uint64(count[i])
	}
	for k := range m.Classes * m.Groups {
		m.start[k+1] += m.start[k]
	}
	m.stub = make([]int32, m.start[len(m.start)-1])
	next := slices.Clone(m.start)
	for i, k := range m.group {
		for range count[i] {
			m.stub[next[k]] = int32(i)
			next[k]++
		}
	}
}

// edges draws edges until Edges of them differ, and drops the surplus.
func (m *maker) edges() *mat.CSR {
	var a arcs
	for want := m.Edges + m.Edges/32; ; {
		a = m.arcs(a, want)
		adj, _ := adjacency(m.Nodes, a)
		surplus := adj.NNZ()/2 - m.Edges
		if surplus >= 0 {
			thin(adj, surplus)
			return adj
		}
		want += -2*surplus + 16
	}
}

// arcs lengthens a to the given number of arcs.
func (m *maker) arcs(a arcs, length int) arcs {
	const chunk = 1 << 16
	done := len(a.from) / chunk * chunk // a chunk that was cut short is drawn again, in full
	a.from = slices.Grow(a.from[:done], length-done)[:length]
	a.to = slices.Grow(a.to[:done], length-done)[:length]
	same := uint64(m.Homophily / 2 * (1 << 32))
	class := uint64(m.Homophily * (1 << 32))
	groups := uint64(m.Groups)
	parallel.For(length-done, chunk, func(lo, hi int) {
		random := m.stream(forEdges, (done+lo)/chunk)
		for i := done + lo; i < done+hi; i++ {
			u := int32(i)
			if i >= m.Nodes {
				u = m.stub[uint64(uint32(random.Uint64()))*uint64(len(m.stub))>>32]
			}
			r, k := random.Uint64(), uint64(m.group[u])
			from, to := uint64(0), uint64(len(m.stub))
			switch kind := r >> 32; {
			case kind < same:
				from, to = m.start[k], m.start[k+1]
			case kind < class:
				from, to = m.start[k/groups*groups], m.start[k/groups*groups+groups]
			}
			a.from[i], a.to[i] = u, m.stub[from+uint64(uint32(r))*(to-from)>>32]
		}
	})
	return a
}

// thin drops n edges from a symmetric adjacency without weights, evenly spaced among its edges in the order of rows.
func thin(adj *mat.CSR, n int) {
	if n == 0 {
		return
	}
	edges := adj.NNZ() / 2
	rank, dropped := 0, 0
	due := func() int { return int((int64(2*dropped+1) * int64(edges)) / int64(2*n)) }
	drop := make([]int64, 0, 2*n)
	for i := range adj.Rows {
		lo, hi := adj.Indptr[i], adj.Indptr[i+1]
		at, _ := slices.BinarySearch(adj.Indices[lo:hi], int32(i))
		upper := lo + int64(at) // the first entry above the diagonal: each edge is met once there
		for dropped < n && due() < rank+int(hi-upper) {
			e := upper + int64(due()-rank)
			j := adj.Indices[e]
			back, _ := slices.BinarySearch(adj.Indices[adj.Indptr[j]:adj.Indptr[j+1]], int32(i))
			drop = append(drop, e, adj.Indptr[j]+int64(back))
			dropped++
		}
		rank += int(hi - upper)
	}
	slices.Sort(drop)
	at := int64(0)
	for i, lo := 0, int64(0); i < adj.Rows; i++ {
		hi := adj.Indptr[i+1]
		for ; len(drop) > 0 && drop[0] < hi; drop = drop[1:] {
			at += int64(copy(adj.Indices[at:], adj.Indices[lo:drop[0]]))
			lo = drop[0] + 1
		}
		at += int64(copy(adj.Indices[at:], adj.Indices[lo:hi]))
		lo, adj.Indptr[i+1] = hi, at
	}
	adj.Indices = adj.Indices[:at:at]
}

// split draws Train, Val and Test nodes.
func (m *maker) split(y []int32) (split graph.Split) {
	random := rand.New(m.stream(forSplit, 0))
	order := make([]int32, m.Nodes)
	for i := range order {
		order[i] = int32(i)
	}
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	quota := make([]int, m.Classes) // training nodes that a class gets before the draw is free
	for c := range quota {
		if m.Balanced {
			quota[c] = (m.Train + m.Classes - 1 - c) / m.Classes
		} else if m.Train >= m.Classes {
			quota[c] = 1
		}
	}
	rest := order[:0]
	for _, v := range order {
		if quota[y[v]] > 0 {
			quota[y[v]]--
			split.Train = append(split.Train, v)
		} else {
			rest = append(rest, v)
		}
	}
	free := m.Train - len(split.Train)
	split.Train = append(split.Train, rest[:free]...)
	split.Val = slices.Clone(rest[free : free+m.Val])
	split.Test = slices.Clone(rest[free+m.Val : free+m.Val+m.Test])
	slices.Sort(split.Train)
	slices.Sort(split.Val)
	slices.Sort(split.Test)
	return split
}

// featureChunk is the number of rows of X that one generator fills.
const featureChunk = 1024

// features returns dense features: centre of the class + centre of the sub-class + noise of unit variance.
func (m *maker) features() *mat.Dense {
	random := rand.New(m.stream(forCentres, 0))
	centre := mat.NewDense(m.Classes*m.Groups, m.Features)
	class := make([]float32, m.Features)
	unit := m.Signal / math.Sqrt(float64(m.Features)) // a centre is then Signal from the origin
	for k := range centre.Rows {
		if k%m.Groups == 0 {
			for j := range class {
				class[j] = float32(unit * random.NormFloat64())
			}
		}
		for j, v := range class {
			centre.Row(k)[j] = v + float32(unit/2*random.NormFloat64())
		}
	}
	x := mat.NewDense(m.Nodes, m.Features)
	parallel.For(m.Nodes, featureChunk, func(lo, hi int) {
		random := rand.New(m.stream(forFeatures, lo/featureChunk))
		for i := lo; i < hi; i++ {
			row := x.Row(i)
			for j, c := range centre.Row(int(m.group[i])) {
				row[j] = c + float32(random.NormFloat64())
			}
		}
	})
	return x
}

// topic is the number of words that tell a class, and of those that tell a sub-class.
const topic = 30

// words returns sparse features of ones: words of the class, of the sub-class, or of the language, where the rank of a word
// decides how often it is used.
func (m *maker) words() *mat.CSR {
	random := rand.New(m.stream(forCentres, 0))
	topics := make([][]int32, m.Classes*m.Groups)
	var class []int32
	for k := range topics {
		if k%m.Groups == 0 {
			class = make([]int32, topic)
			for i := range class {
				class[i] = random.Int32N(int32(m.Features))
			}
		}
		topics[k] = slices.Clone(class)
		for range topic {
			topics[k] = append(topics[k], random.Int32N(int32(m.Features)))
		}
	}
	rows := make([][]int32, m.Nodes)
	parallel.For(m.Nodes, featureChunk, func(lo, hi int) {
		random := rand.New(m.stream(forFeatures, lo/featureChunk))
		for i := lo; i < hi; i++ {
			var row []int32
			for range 1 + m.Words/2 + random.IntN(m.Words+1) {
				u := random.Float64()
				w := int32(u * u * float64(m.Features))
				if random.Float64() < m.Signal {
					w = topics[m.group[i]][random.IntN(2*topic)]
				}
				row = append(row, w)
			}
			slices.Sort(row)
			rows[i] = slices.Compact(row)
		}
	})
	x := &mat.CSR{Rows: m.Nodes, Cols: m.Features, Indptr: make([]int64, 1, m.Nodes+1)}
	for _, row := range rows {
		x.Indices = append(x.Indices, row...)
		x.Indptr = append(x.Indptr, int64(len(x.Indices)))
	}
	return x
}

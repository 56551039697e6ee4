// Package synth makes synthetic graphs from a seeded block model, of any size or with the sizes of a real data set.
//
// Synthetic graphs are for examples and for measuring time. Accuracies on them say nothing about real graphs. To avoid
// confusion, the names of the shapes that Like returns begin with Prefix.
package synth

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/progress"
)

// DemoShape returns the shape of the built-in graph. Classes differ in their mean features, but weakly: the features of
// one node are mostly noise. The mean over a node's neighbourhood reveals the class, since two thirds of the neighbours
// are of its class. A third of the signal is in the sub-classes, so a class consists of several clusters.
func DemoShape() Shape {
	return Shape{
		Name: "demo", Nodes: 4000, Edges: 12000, Features: 96, Classes: 7, Train: 140, Val: 500, Test: 1000,
		Balanced: true, Groups: 3, Homophily: 0.6, Signal: 2,
	}
}

// Demo returns the built-in graph: 4000 nodes, 7 classes, always the same. A linear model on the mean features of
// neighbourhoods is far better than one on the features of single nodes, and neither is near perfect.
func Demo() *graph.Graph {
	g, err := Make(context.Background(), DemoShape(), rand.NewPCG(2025, 0))
	if err != nil {
		panic(err) // the shape is a constant
	}
	return g
}

// Make returns a graph of the given shape, drawn from a degree-corrected stochastic block model (Karrer and Newman
// 2011). Every node has a class, a sub-class and a weight with a power-law tail (exponent 2.5). The first end of an
// edge is drawn by weight; the first N edges start at each node once, so that few nodes are isolated. The other end is
// drawn by weight from the same sub-class, the same class or all nodes. The numbers of nodes and edges and the sizes of
// the split are exact. The same shape and source give the same graph for any number of threads. Make draws two numbers
// from src. It reports to package progress, and returns ctx.Err() soon after ctx is done.
func Make(ctx context.Context, s Shape, src rand.Source) (_ *graph.Graph, err error) {
	defer memory.Recover(&err)
	m, err := newMaker(ctx, s, src)
	if err != nil {
		return nil, err
	}
	g := &graph.Graph{Name: s.Name, Classes: s.Classes}
	if g.Adj, err = m.edges(ctx); err != nil {
		return nil, err
	}
	m.stub = nil
	if g.Y, g.Split, err = m.labels(ctx); err != nil {
		return nil, err
	}
	if s.Words > 0 {
		g.X, err = m.words(ctx)
	} else {
		g.X, err = m.dense(ctx)
	}
	if err != nil {
		return nil, err
	}
	return g, g.Seal(ctx)
}

// newMaker draws the nodes of a graph.
func newMaker(ctx context.Context, s Shape, src rand.Source) (*maker, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	m := &maker{Shape: s, seed: [2]uint64{src.Uint64(), src.Uint64()}}
	m.Groups = max(1, m.Groups)
	return m, m.draw(ctx)
}

// labels returns the labels and the split.
func (m *maker) labels(ctx context.Context) ([]int32, graph.Split, error) {
	y := memory.Make[int32](m.Nodes)
	for i, k := range m.group {
		y[i] = k / int32(m.Groups)
	}
	split, err := m.split(ctx, y)
	if m.Partial {
		known := y
		y = memory.Filled[int32](m.Nodes, graph.Unlabelled)
		for _, part := range [][]int32{split.Train, split.Val, split.Test} {
			for _, v := range part {
				y[v] = known[v]
			}
		}
	}
	return y, split, err
}

// maker holds the state that the steps of Make share.
type maker struct {
	Shape
	seed  [2]uint64
	group []int32  // group[i] is the sub-class of node i; sub-classes are numbered across all classes
	stub  []int32  // nodes, repeated in proportion to their weight, by sub-class
	start []uint64 // stub[start[k]:start[k+1]] is sub-class k
}

// Purposes of the streams of random numbers.
const (
	forNodes = iota
	forEdges
	forSplit
	forCentres
	forFeatures
)

// stream returns the generator of a chunk for a purpose. Each chunk has its own generator, so that any worker can draw
// it.
func (m *maker) stream(purpose, chunk int) *rand.ChaCha8 {
	var key [32]byte
	for i, v := range []uint64{m.seed[0], m.seed[1], uint64(purpose), uint64(chunk)} {
		binary.LittleEndian.PutUint64(key[8*i:], v)
	}
	return rand.NewChaCha8(key)
}

const (
	// A node's weight is above w with probability w^-tail. Degrees then have exponent 2.5, as in citation graphs.
	tail = 1.5
	// maxWeight cuts the tail. Without this limit, a few nodes would have most of the edges.
	maxWeight = 100
	// stubs is the number of half-edges per unit of a node's weight, rounded down for each node.
	stubs = 2
)

// draw draws the sub-class and the weight of each node. The smallest class is about a quarter of the largest.
func (m *maker) draw(ctx context.Context) error {
	random := rand.New(m.stream(forNodes, 0))
	m.group = memory.Make[int32](m.Nodes)[:0]
	total := 0.0
	size := func(c int) float64 { return 1 / (1 + 3*float64(c)/float64(m.Classes)) }
	for c := range m.Classes {
		total += size(c)
	}
	before := 0.0
	spare := m.Nodes - m.Classes*m.Groups // nodes beyond one per sub-class; classes share them by size
	for c := range m.Classes {
		lo, hi := int(float64(spare)*before/total), int(float64(spare)*(before+size(c))/total)
		if before += size(c); c == m.Classes-1 {
			hi = spare
		}
		for i := range hi - lo + m.Groups {
			m.group = append(m.group, int32(c*m.Groups+i%m.Groups))
		}
	}
	if err := shuffle(ctx, "drawing nodes", random, m.group); err != nil {
		return err
	}
	count := memory.Make[uint8](m.Nodes)
	m.start = make([]uint64, m.Classes*m.Groups+1)
	for i, k := range m.group {
		if i%often == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		weight := min(maxWeight, math.Pow(1-random.Float64(), -1/tail))
		count[i] = uint8(stubs * weight)
		m.start[k+1] += uint64(count[i])
	}
	for k := range m.Classes * m.Groups {
		m.start[k+1] += m.start[k]
	}
	m.stub = memory.Make[int32](int(m.start[len(m.start)-1]))
	next := slices.Clone(m.start)
	for i, k := range m.group {
		if i%often == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for range count[i] {
			m.stub[next[k]] = int32(i)
			next[k]++
		}
	}
	return nil
}

// often is the number of nodes between context checks, which are milliseconds apart.
const often = 1 << 18

// shuffle shuffles a list as random.Shuffle does, but stops when ctx is done.
func shuffle(ctx context.Context, stage string, random *rand.Rand, list []int32) error {
	for i := len(list) - 1; i > 0; i-- {
		if i%often == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			progress.Report(ctx, progress.Event{Stage: stage, Done: int64(len(list) - i), Total: int64(len(list))})
		}
		j := random.Uint64N(uint64(i + 1))
		list[i], list[j] = list[j], list[i]
	}
	return ctx.Err()
}

// split draws Train, Val and Test nodes.
func (m *maker) split(ctx context.Context, y []int32) (split graph.Split, err error) {
	random := rand.New(m.stream(forSplit, 0))
	order := memory.Range(0, m.Nodes)
	if err := shuffle(ctx, "drawing the split", random, order); err != nil {
		return split, err
	}
	quota := make([]int, m.Classes) // training nodes that are reserved for a class
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
	return split, nil
}

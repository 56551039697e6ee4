package condensetest

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// shape describes a graph that made builds.
type shape struct {
	name     string
	train    []int // training nodes of each class
	outside  int   // other nodes: a third for validation, a third for testing, the rest unlabelled
	sparse   bool  // features are sparse
	weighted bool  // edges have weights
	degree   int   // edges drawn for each node
	isolated int   // number of nodes without edges, at the end
}

// ordinary is the graph of most rules. Its classes differ in size.
var ordinary = shape{name: "ordinary", train: []int{36, 18, 6}, outside: 36, degree: 4}

// shapes are the graphs that every method must condense.
var shapes = []shape{
	ordinary,
	{name: "sparse features", train: []int{15, 10, 20}, outside: 30, degree: 3, sparse: true},
	{name: "weighted edges", train: []int{15, 10, 20}, outside: 30, degree: 3, weighted: true},
	{name: "no edges", train: []int{15, 10}, outside: 12},
	{name: "isolated nodes", train: []int{15, 10}, outside: 30, degree: 3, isolated: 20},
	{name: "one class", train: []int{20}, outside: 15, degree: 3},
	{name: "a class with one training node", train: []int{20, 1, 9}, outside: 30, degree: 3},
	{name: "a class without a node", train: []int{12, 0, 12}, outside: 18, degree: 3},
	{name: "all nodes train", train: []int{12, 12}, degree: 3},
}

// made returns a graph of that shape. Each call returns an equal graph. It has 8 features, and one more for each class.
func (s shape) made() *graph.Graph {
	random := rand.New(rand.NewPCG(uint64(len(s.name)), 7))
	var y, present []int32
	for c, n := range s.train {
		y = append(y, slices.Repeat([]int32{int32(c)}, n)...)
		if n > 0 {
			present = append(present, int32(c))
		}
	}
	train, classes := len(y), len(s.train)
	for i := range s.outside {
		y = append(y, present[i%len(present)])
	}
	n := len(y)
	places := random.Perm(n) // shuffled numbers of the nodes above, to mix classes and splits
	b := graph.Builder{Name: s.name, Y: make([]int32, n), Classes: classes}
	class := make([]int32, n)
	for i, c := range y {
		v := int32(places[i])
		class[v], b.Y[v] = c, c
		switch {
		case i < train:
			b.Split.Train = append(b.Split.Train, v)
		case i%3 == 0:
			b.Split.Val = append(b.Split.Val, v)
		case i%3 == 1:
			b.Split.Test = append(b.Split.Test, v)
		default:
			b.Y[v] = graph.Unlabelled
		}
	}
	x := mat.NewDense(n, 8+classes)
	for v := range n {
		row := x.Row(v)
		for j := range row {
			if !s.sparse || random.IntN(3) == 0 {
				row[j] = float32(random.NormFloat64())
			}
		}
		row[8+class[v]] += 2
	}
	b.X = x
	if s.sparse {
		b.X = x.Sparse()
	}
	for u := range n - s.isolated {
		for range s.degree {
			v := random.IntN(n - s.isolated)
			switch {
			case u == v || class[u] != class[v] && random.IntN(3) > 0:
			case s.weighted:
				b.AddWeightedEdge(u, v, 0.1+random.Float32())
			default:
				b.AddEdge(u, v)
			}
		}
	}
	g, _, err := b.Graph(context.Background())
	if err != nil {
		panic(err)
	}
	return g
}

// sizesOf returns the smallest, a middle and the largest valid number of condensed nodes of g.
func sizesOf(g *graph.Graph) []int {
	least, most := bounds(g)
	return []int{least, (least + most) / 2, most}
}

// bounds returns the number of classes with training nodes, and the number of training nodes.
func bounds(g *graph.Graph) (least, most int) {
	return g.TrainClasses(), len(g.Split.Train)
}

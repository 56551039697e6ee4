package overview

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/layout"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/graph-condensation/cgc/mat"
)

// spring lays out the nodes of a component around the origin by Eades' spring embedder. Marks have a radius of at most
// 1. Most marks do not touch.
func spring(ctx context.Context, a *mat.CSR, nodes []int32) ([][2]float64, error) {
	places := make([][2]float64, len(nodes))
	switch len(nodes) {
	case 1:
		return places, nil
	case 2:
		return [][2]float64{{-1.2, 0}, {1.2, 0}}, nil
	}
	c := newComponent(a, nodes)
	for rate := 0.05; ; rate /= 2 { // a step is too long where nodes have many edges, and then they fly apart
		settled, err := c.settle(ctx, rate, places)
		if err != nil {
			return nil, err
		}
		if settled {
			break
		}
	}
	var middle [2]float64
	for _, at := range places {
		middle[0] += at[0] / float64(len(nodes))
		middle[1] += at[1] / float64(len(nodes))
	}
	nearest := make([]float64, len(nodes)) // the distance from each node to its nearest node
	for i := range places {
		nearest[i] = math.Inf(1)
		for j := range places {
			if i != j {
				nearest[i] = min(nearest[i], math.Hypot(places[i][0]-places[j][0], places[i][1]-places[j][1]))
			}
		}
	}
	slices.Sort(nearest)
	scale := 1.0
	if usual := nearest[len(nearest)/2]; usual > 0 { // with the minimum, one close pair would enlarge everything
		scale = 1.6 / usual
	}
	for i := range places {
		for x := range 2 {
			places[i][x] = (places[i][x] - middle[x]) * scale
		}
	}
	return places, nil
}

// settle writes positions of the nodes to places. It returns false if a node gets farther away than any layout
// is wide: then rounding soon gives nodes equal positions, with which Gonum's quadtree recurses without end.
func (c component) settle(ctx context.Context, rate float64, places [][2]float64) (settled bool, err error) {
	const farthest = 1e6
	// A few hundred updates converge. Large components get fewer, because an update costs n·log n and visits all edges.
	work := len(places)
	for _, near := range c.near {
		work += len(near) / 10
	}
	eades := layout.EadesR2{
		Updates: max(30, min(300, 60_000/work)), Repulsion: 1, Rate: rate, Theta: 0.3, Src: rand.NewPCG(0, 0),
	}
	o := layout.NewOptimizerR2(c, eades.Update)
	for o.Update() {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		for i := range places {
			at := o.Coord2(int64(i))
			if !(math.Hypot(at.X, at.Y) < farthest) { // also if it is not a number
				return false, nil
			}
			places[i] = [2]float64{at.X, at.Y}
		}
	}
	return true, nil
}

// component is a connected component as a Gonum graph. It implements only what layouts use, and iterates over nodes and
// neighbours in ascending order, so that layouts are deterministic.
type component struct {
	gonum.Graph // nil: other methods are not called
	near        [][]gonum.Node
}

func newComponent(a *mat.CSR, nodes []int32) component {
	place := map[int]int{}
	for i, v := range nodes {
		place[int(v)] = i
	}
	c := component{near: make([][]gonum.Node, len(nodes))}
	for i, v := range nodes {
		for j := range a.Row(int(v)) {
			c.near[i] = append(c.near[i], simple.Node(place[j]))
		}
	}
	return c
}

// Nodes implements graph.Graph.
func (c component) Nodes() gonum.Nodes {
	return iterator.NewImplicitNodes(0, len(c.near), func(i int) gonum.Node { return simple.Node(i) })
}

// From implements graph.Graph.
func (c component) From(id int64) gonum.Nodes { return iterator.NewOrderedNodes(c.near[id]) }

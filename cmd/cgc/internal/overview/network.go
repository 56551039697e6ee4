package overview

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/layout"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
)

// mostLinks is the maximum number of edges that are drawn: those with the largest weights.
const mostLinks = 4000

// network plots the condensed graph.
func (s Subject) network(ctx context.Context, names []string) (*report.Plot, error) {
	shown := s.largest()
	c := s.Condensed
	a := (&graph.Graph{Adj: c.Operator().Adj, X: c.X, Y: c.Y, Classes: c.Classes}).Induced(shown).Adj
	links, weight, left := heaviest(a)
	marks := s.marks(shown)
	at, radius, err := arrange(ctx, a, marks.Class, marks.Size)
	if err != nil {
		return nil, err
	}
	caption := "Condensed nodes and the edges between them. Ideally, most edges join nodes of one class. " +
		"Connected nodes are drawn together and classes apart; distances mean nothing else."
	if len(shown) < s.Condensed.Nodes() || left > 0 {
		caption += fmt.Sprintf(" Shown: the %s largest of %s nodes, and the %s heaviest of %s edges.",
			report.Count(len(shown)), report.Count(s.Condensed.Nodes()), report.Count(len(links)),
			report.Count(s.Condensed.Edges()))
	}
	return &report.Plot{
		Name: "network", Title: "Edges of the condensed graph", Caption: caption,
		Data: &report.Network{Classes: names, Marks: marks, At: at, Radius: radius, Links: links, Weight: weight},
	}, nil
}

// heaviest returns the mostLinks edges with the largest weights, ordered by their endpoints, and the number of edges
// left out.
func heaviest(a *mat.CSR) (links [][2]int32, weight []float64, left int) {
	type edge struct {
		i, j int32
		w    float32
	}
	var all []edge
	for i := range a.Rows {
		for j, w := range a.Row(i) {
			if i < j {
				all = append(all, edge{int32(i), int32(j), w})
			}
		}
	}
	if left = len(all) - mostLinks; left > 0 {
		slices.SortStableFunc(all, func(x, y edge) int { return cmp.Compare(y.w, x.w) })
		all = all[:mostLinks]
		slices.SortFunc(all, func(x, y edge) int { return int(x.i-y.i)*a.Rows + int(x.j-y.j) })
	}
	links = make([][2]int32, 0, len(all))
	for _, e := range all {
		links = append(links, [2]int32{e.i, e.j})
		weight = append(weight, math.Round(1000*float64(e.w))/1000)
	}
	return links, weight, max(0, left)
}

// arrange lays out the nodes of a graph so that its components do not overlap and are grouped by class. It returns the
// positions and the radius of the largest mark.
func arrange(ctx context.Context, a *mat.CSR, class []int32, size []float64) (at [][2]float64, radius float64,
	err error) {
	parts := reach.Components(a)
	inner := make([][][2]float64, len(parts)) // positions of a component's nodes around its centre
	room := make([]float64, len(parts))
	byClass := map[int32][]int{}
	most := slices.Max(append([]float64{1}, size...))
	extent := func(v int32) float64 { // the radius of the mark, including a margin
		if size == nil {
			return 0.75
		}
		return max(0.3, math.Sqrt(size[v]/most)) + 0.25
	}
	for p, nodes := range parts {
		if inner[p], err = spring(ctx, a, nodes); err != nil {
			return nil, 0, err
		}
		separate(inner[p], func(i int) float64 { return extent(nodes[i]) })
		for i, v := range nodes {
			room[p] = max(room[p], math.Hypot(inner[p][i][0], inner[p][i][1])+extent(v))
		}
		c := commonest(class, nodes)
		byClass[c] = append(byClass[c], p)
	}
	classes := slices.Sorted(maps.Keys(byClass))
	middles := make([][][2]float64, len(classes))
	rooms := make([]float64, len(classes))
	for k, c := range classes {
		radii := make([]float64, len(byClass[c]))
		for i, p := range byClass[c] {
			radii[i] = room[p]
		}
		middles[k] = pack(radii)
		for i, m := range middles[k] {
			rooms[k] = max(rooms[k], math.Hypot(m[0], m[1])+radii[i])
		}
		rooms[k] += 0.6
	}
	at = make([][2]float64, a.Rows)
	farthest := 0.0
	for k, outer := range pack(rooms) {
		for i, p := range byClass[classes[k]] {
			for n, v := range parts[p] {
				for x := range 2 {
					at[v][x] = outer[x] + middles[k][i][x] + inner[p][n][x]
					farthest = max(farthest, math.Abs(at[v][x]))
				}
			}
		}
	}
	scale := steps / max(farthest, 1)
	for v := range at {
		for x := range 2 {
			at[v][x] = math.Round(at[v][x]*scale) + 0
		}
	}
	return at, math.Round(scale), nil
}

// commonest returns the most frequent class of the nodes; ties go to the smallest class.
func commonest(class []int32, nodes []int32) (best int32) {
	count := map[int32]int{}
	for _, v := range nodes {
		count[class[v]]++
	}
	for _, c := range slices.Backward(slices.Sorted(maps.Keys(count))) {
		if count[c] >= count[best] {
			best = c
		}
	}
	return best
}

// pack places discs without overlap: in descending order of radius, each at the first free place on a spiral.
func pack(radii []float64) [][2]float64 {
	order := memory.Range(0, len(radii))
	least := slices.Min(radii)
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(radii[b], radii[a]) })
	places := make([][2]float64, len(radii))
	const golden = 2.399963229728653 // the golden angle, which fills a disc evenly
	from, last := 0, math.Inf(1)
	for n, i := range order {
		if radii[i] < 0.9*last {
			from, last = 0, radii[i] // a smaller disc may fit between earlier ones
		}
		for ; ; from++ {
			r := 0.35 * least * math.Sqrt(float64(from))
			sin, cos := math.Sincos(golden * float64(from))
			x, y, free := r*cos, r*sin, true
			for _, j := range order[:n] {
				if dx, dy, d := x-places[j][0], y-places[j][1], radii[i]+radii[j]; dx*dx+dy*dy < d*d {
					free = false
					break
				}
			}
			if free {
				places[i] = [2]float64{x, y}
				break
			}
		}
	}
	return places
}

// spring lays out the nodes of a component around the origin by Eades' spring embedder. Marks have a radius of at most
// 1. Few marks overlap.
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

// separate moves overlapping marks apart, so that the edges between them are visible. A few marks in a crowd may still
// touch.
func separate(places [][2]float64, extent func(i int) float64) {
	const rounds = 30
	for range rounds {
		moved := false
		for i := range places {
			for j := range i {
				a, b := &places[i], &places[j]
				x, y, want := a[0]-b[0], a[1]-b[1], extent(i)+extent(j)
				if max(math.Abs(x), math.Abs(y)) > want {
					continue
				}
				apart := math.Hypot(x, y)
				if apart > 0.999*want {
					continue
				}
				if apart == 0 {
					x, apart = 1, 1
				}
				push := (want/apart - 1) / 2
				a[0], a[1], b[0], b[1] = a[0]+push*x, a[1]+push*y, b[0]-push*x, b[1]-push*y
				moved = true
			}
		}
		if !moved {
			return
		}
	}
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

package overview

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/graph"
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
	order := make([]int, len(radii))
	for i := range order {
		order[i] = i
	}
	least := slices.Min(radii)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(radii[b], radii[a]) })
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

package overview

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/ward"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

const (
	// mostPoints is the approximate maximum number of training nodes that are drawn and used to fit the projection.
	mostPoints = 2500
	// mostCondensed is the maximum number of condensed nodes that are drawn: those with the most source nodes.
	mostCondensed = 1500
	// mostListed is the maximum number of source nodes listed by name for a condensed node.
	mostListed = 12
)

// embeddings plots the embeddings of the training nodes and the condensed nodes in two dimensions.
func (s Subject) embeddings(ctx context.Context, names []string) (*report.Plot, error) {
	g, rows, err := s.seen(ctx)
	if err != nil {
		return nil, err
	}
	drawn := spread(g, g.Split.Train, mostPoints)
	p, known := s.propagation()
	labels := g.Labels(drawn)
	h, err := embed(ctx, blocked.Engine{}, p, propagate.Input{
		Adj: g.Adj, X: g.X, Rows: drawn, Classes: labels, Mapped: g.Mapped,
	})
	if err != nil {
		return nil, fmt.Errorf("embeddings of the training nodes: %w", err)
	}
	shown := s.largest()
	small, err := embed(ctx, propagate.Plain{}, p, propagate.Input{
		Adj: s.Condensed.Operator().Adj, X: s.Condensed.X, Rows: shown,
	})
	if err != nil {
		return nil, fmt.Errorf("embeddings of the condensed nodes: %w", err)
	}
	condensed := s.marks(shown)
	var unions [][2]int32 // the merges of cgc cut, if all condensed nodes are shown and have known source nodes
	if len(shown) == s.Condensed.Nodes() && condensed.Size != nil {
		if unions, err = ward.Merges(ctx, small, condensed.Class, condensed.Size); err != nil {
			return nil, err
		}
	}
	views, err := project(ctx, h, small, labels, g.Classes)
	if err != nil {
		return nil, err
	}
	for i, v := range drawn { // convert to nodes of the original graph
		if rows != nil {
			drawn[i] = rows[v]
		}
	}
	nodes := report.Layer{Marks: report.Marks{Name: "training nodes", Noun: "node", Class: labels}}
	owner := s.owners()
	for _, v := range drawn {
		nodes.Label = append(nodes.Label, s.name(v))
		at := -1
		if j, is := owner[v]; is {
			at = slices.Index(shown, j)
		}
		nodes.Owner = append(nodes.Owner, int32(at))
	}
	return &report.Plot{
		Name: "embeddings", Title: "Condensed nodes among the training nodes",
		Caption: s.embeddingsCaption(len(drawn), len(g.Split.Train), len(shown), p, known, len(unions) > 0),
		Data: &report.Scatter{
			Classes: names, Layers: []report.Layer{nodes, {Marks: condensed}}, Views: views, Unions: unions,
		},
	}, nil
}

func (s Subject) embeddingsCaption(
	drawn, all, condensed int, p propagate.Propagation, known, unites bool,
) string {
	caption := "Ideally, the condensed nodes lie inside the cloud of their class and reach all of its parts. " +
		fmt.Sprintf("Positions are node features after %s of %s propagation, which is what a GNN sees, ",
			report.Plural(p.Hops, "hop"), p.Rule) + "projected linearly to two principal components (PC). "
	if !known {
		caption += "The method is not one of cgc's own, so the propagation is the default. "
	}
	if s.balanced() {
		caption += fmt.Sprintf("Each class has %s. ", report.Plural(s.Condensed.Nodes()/max(1, s.Condensed.Classes),
			"condensed node"))
	}
	if drawn < all {
		caption += fmt.Sprintf("Shown: %s of %s training nodes, evenly spaced in each class. ", report.Count(drawn),
			report.Count(all))
	}
	if condensed < s.Condensed.Nodes() {
		caption += fmt.Sprintf("Shown: the %s largest of %s condensed nodes. ", report.Count(condensed),
			report.Count(s.Condensed.Nodes()))
	}
	if s.Condensed.Members != nil {
		caption += "Hover over a condensed node for its source nodes, the nodes that it represents. "
	}
	caption += "Zoom with Ctrl and the wheel."
	if unites {
		caption += " The slider shows smaller sizes: it merges condensed nodes as cgc cut does."
	}
	return caption
}

// seen returns the graph as the condensation saw it. rows holds the original node of each of its nodes, or is nil if
// the nodes are the same.
func (s Subject) seen(ctx context.Context) (g *graph.Graph, rows []int32, err error) {
	g = s.Graph
	if s.Condensed.Inductive {
		rows, g = g.Split.Train, g.TrainingGraph()
	}
	g, err = s.Condensed.Seen(ctx, g)
	return g, rows, err
}

// propagation returns how the condensation propagated features. If the method does not record its propagation, known is
// false and the result is the default.
func (s Subject) propagation() (p propagate.Propagation, known bool) {
	c, err := cgc.ConfigOf(s.Condensed)
	if err != nil {
		c = cgc.Defaults()
	}
	p = propagate.Propagation{Rule: c.Propagation, Hops: c.Hops, Teleport: c.Teleport}
	_, chosen := auto.AccountOf(s.Condensed) // all its candidates use the default
	return p, err == nil || chosen == nil
}

// embed returns H⁽ᴷ⁾ of the rows of in.
func embed(ctx context.Context, engine propagate.Engine, p propagate.Propagation, in propagate.Input) (
	*mat.Dense, error,
) {
	in.Last = true
	h, err := propagate.Run(ctx, engine, p, in)
	if err != nil {
		return nil, err
	}
	return h[len(h)-1].Dense(), nil
}

// spread samples about most of the given nodes: evenly spaced nodes of each class, at least one per class.
func spread(g *graph.Graph, nodes []int32, most int) []int32 {
	if len(nodes) <= most {
		return slices.Clone(nodes)
	}
	classes := make([][]int32, g.Classes)
	for _, v := range nodes {
		classes[g.Y[v]] = append(classes[g.Y[v]], v)
	}
	var picked []int32
	for _, members := range classes {
		n := min(len(members), max(1, most*len(members)/len(nodes)))
		for i := range n {
			if len(members) > 0 {
				picked = append(picked, members[i*len(members)/n])
			}
		}
	}
	slices.Sort(picked)
	return picked
}

// largest returns the mostCondensed condensed nodes with the most source nodes, in ascending order.
func (s Subject) largest() []int32 {
	all := memory.Range(0, s.Condensed.Nodes())
	if len(all) > mostCondensed {
		slices.SortStableFunc(all, func(a, b int32) int { return s.members(b) - s.members(a) })
		all = all[:mostCondensed]
		slices.Sort(all)
	}
	return all
}

// members returns the number of source nodes of a condensed node, or 1 if they are unknown.
func (s Subject) members(j int32) int {
	if m := s.Condensed.Members; m != nil {
		return int(m.Indptr[j+1] - m.Indptr[j])
	}
	return 1
}

// owners maps each source node to its condensed node: if there are several, to the one in which the source node has the
// largest weight.
func (s Subject) owners() map[int32]int32 {
	owner, weight := map[int32]int32{}, map[int32]float32{}
	if s.Condensed.Members == nil {
		return owner
	}
	for j := range s.Condensed.Nodes() {
		for v, w := range s.Condensed.Members.Row(j) {
			if before, is := weight[int32(v)]; !is || w > before {
				owner[int32(v)], weight[int32(v)] = int32(j), w
			}
		}
	}
	return owner
}

// name returns the name of a node of the original graph, or its number if it has no name.
func (s Subject) name(v int32) string {
	if s.Graph.IDs != nil {
		return s.Graph.IDs[v]
	}
	return strconv.Itoa(int(v))
}

// marks returns the marks of the given condensed nodes.
func (s Subject) marks(nodes []int32) report.Marks {
	m := report.Marks{Name: "condensed nodes", Noun: "condensed node", Unit: "source nodes"}
	for _, j := range nodes {
		m.Class = append(m.Class, s.Condensed.Y[j])
		m.Label = append(m.Label, strconv.Itoa(int(j)))
		if s.Condensed.Members != nil {
			m.Size = append(m.Size, float64(max(1, s.members(j))))
			m.Detail = append(m.Detail, s.listed(j))
		}
	}
	return m
}

// listed returns a text with the source nodes of a condensed node, in descending order of weight.
func (s Subject) listed(j int32) string {
	type member struct {
		node   int32
		weight float32
	}
	var all []member
	for v, w := range s.Condensed.Members.Row(int(j)) {
		all = append(all, member{int32(v), w})
	}
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(b.weight, a.weight) })
	var words []string
	for _, m := range all[:min(len(all), mostListed)] {
		words = append(words, s.name(m.node))
	}
	text := report.Plural(len(all), "source node") + ": " + strings.Join(words, ", ")
	if more := len(all) - len(words); more > 0 {
		text += " and " + report.Count(more) + " more"
	}
	return text
}

// project returns two views of the training nodes and the condensed nodes. The first projects them to the principal
// components of the class means, and the second to the principal components of the training nodes. The means of two
// classes have only one: then the second axis is the first component of the training nodes that is orthogonal to it.
// project scales and centres h and small in place.
func project(ctx context.Context, h, small *mat.Dense, labels []int32, classes int) ([]report.View, error) {
	level(h, small)
	centre(h, small)
	means := classMeans(h, labels, classes)
	var views []report.View
	for _, v := range []struct {
		name, axis string
		fit        *mat.Dense
	}{{"by class", "class means", means}, {"by spread", "training nodes", h}} {
		axes, shares, err := principal(ctx, v.fit)
		if err != nil {
			return nil, fmt.Errorf("projection of the embeddings: %w", err)
		}
		axis := func(k int) string {
			return fmt.Sprintf("PC %d of %s (%.0f%% of variance)", k+1, v.axis, 100*shares[k])
		}
		one := v.fit == means && shares[1] == 0
		if one {
			rest, _, err := principal(ctx, without(h, axes))
			if err != nil {
				return nil, fmt.Errorf("projection of the embeddings: %w", err)
			}
			for i := range axes.Rows {
				axes.Row(i)[1] = rest.Row(i)[0]
			}
		}
		var at, smallAt mat.Dense
		mat.Mul(&at, h, axes)
		mat.Mul(&smallAt, small, axes)
		y := axis(1)
		if one {
			y = fmt.Sprintf("orthogonal PC of training nodes (%.0f%% of variance)",
				100*squares(at.Columns(1, 2))/cmp.Or(squares(h), 1))
		}
		views = append(views, report.View{Name: v.name, X: axis(0), Y: y, At: grid(&at, &smallAt)})
	}
	return views, nil
}

// without returns the rows of h without their parts along the first column of axes.
func without(h, axes *mat.Dense) *mat.Dense {
	rest := mat.NewDense(h.Rows, h.Cols)
	for i := range h.Rows {
		along := 0.0
		for j, v := range h.Row(i) {
			along += float64(v) * float64(axes.Row(j)[0])
		}
		for j, v := range h.Row(i) {
			rest.Row(i)[j] = v - float32(along*float64(axes.Row(j)[0]))
		}
	}
	return rest
}

// squares returns the sum of the squares of all entries.
func squares(x *mat.Dense) (sum float64) {
	for i := range x.Rows {
		for _, v := range x.Row(i) {
			sum += float64(v) * float64(v)
		}
	}
	return sum
}

// level multiplies the matrices in place by a power of two that brings their largest number near 1. Squares then
// neither overflow nor vanish.
func level(layers ...*mat.Dense) {
	_, exponent := math.Frexp(magnitude(layers...))
	factor := float32(math.Ldexp(1, min(-exponent, 127))) // 2¹²⁷ is the largest power of two in float32
	for _, m := range layers {
		for i := range m.Data {
			m.Data[i] *= factor
		}
	}
}

func magnitude(layers ...*mat.Dense) (most float64) {
	for _, m := range layers {
		for _, v := range m.Data {
			most = max(most, math.Abs(float64(v)))
		}
	}
	return most
}

// centre subtracts the column means of h from the rows of both matrices, in place.
func centre(h, small *mat.Dense) {
	mean := make([]float64, h.Cols)
	for i := range h.Rows {
		for j, v := range h.Row(i) {
			mean[j] += float64(v) / float64(h.Rows)
		}
	}
	for _, m := range []*mat.Dense{h, small} {
		for i := range m.Rows {
			row := m.Row(i)
			for j := range row {
				row[j] -= float32(mean[j])
			}
		}
	}
}

// classMeans returns the mean row of each class that has rows in h.
func classMeans(h *mat.Dense, labels []int32, classes int) *mat.Dense {
	sums, counts := make([]float64, classes*h.Cols), make([]float64, classes)
	for i, c := range labels {
		counts[c]++
		for j, v := range h.Row(i) {
			sums[int(c)*h.Cols+j] += float64(v)
		}
	}
	means := &mat.Dense{Cols: h.Cols}
	for c, n := range counts {
		if n > 0 {
			for _, v := range sums[c*h.Cols : (c+1)*h.Cols] {
				means.Data = append(means.Data, float32(v/n))
			}
			means.Rows++
		}
	}
	return means
}

// principal returns the first two right singular vectors of x as columns, d×2, and their shares of the sum of squares.
// The entry of largest magnitude is positive. If x has rank below two, the missing vectors are zero.
func principal(ctx context.Context, x *mat.Dense) (axes *mat.Dense, shares [2]float64, err error) {
	axes = mat.NewDense(x.Cols, 2)
	gram := factor.Gram
	if x.Rows < x.Cols {
		gram = factor.GramRows
	}
	g, err := gram(ctx, x)
	if err != nil {
		return nil, shares, err
	}
	values, vectors, err := factor.LeadingEigen(ctx, g, 2, rand.NewPCG(0, 0))
	if err != nil {
		return nil, shares, err
	}
	found := factor.Rank(values, min(2, len(values)))
	var right mat.Dense
	switch {
	case found == 0:
		return axes, shares, nil
	case x.Rows < x.Cols:
		mat.MulTA(&right, x, vectors.Columns(0, found))
	default:
		right = *vectors.Columns(0, found)
	}
	for k := range found {
		shares[k] = values[k] / g.Trace()
		var norm, largest float64
		for i := range right.Rows {
			v := float64(right.Row(i)[k])
			norm += v * v
			if math.Abs(v) > math.Abs(largest) {
				largest = v
			}
		}
		scale := math.Copysign(1/math.Sqrt(norm), largest)
		for i := range right.Rows {
			axes.Row(i)[k] = float32(float64(right.Row(i)[k]) * scale)
		}
	}
	return axes, shares, nil
}

// steps is the number of grid steps from 0 to the outermost coordinate. The grid is finer than a screen.
const steps = 5000

// grid rounds coordinates to a grid, so that a page needs few digits.
func grid(layers ...*mat.Dense) (places [][][2]float64) {
	most := cmp.Or(magnitude(layers...), 1)
	for _, m := range layers {
		at := make([][2]float64, m.Rows)
		for i := range at {
			for k := range 2 {
				at[i][k] = math.Round(float64(m.Row(i)[k])/most*steps) + 0 // + 0 turns −0 into 0
			}
		}
		places = append(places, at)
	}
	return places
}

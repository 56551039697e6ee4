package graph

import (
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
)

// WithClasses returns g with its classes numbered as in names, and the names of other classes that nodes of g have.
// Nodes of these classes lose their labels, and are in no part of the split. If g or names has no names, classes are
// compared by number: WithClasses returns g itself. The result shares everything else with g.
func (g *Graph) WithClasses(names []string) (same *Graph, unknown []string) {
	if g.ClassNames == nil || names == nil || slices.Equal(g.ClassNames, names) {
		return g, nil
	}
	class := make([]int32, g.Classes)
	for c, name := range g.ClassNames {
		class[c] = int32(slices.Index(names, name)) // Unlabelled if there is none
	}
	view := *g
	view.Classes, view.ClassNames, view.Y = len(names), names, memory.Filled[int32](len(g.Y), Unlabelled)
	count := make([]int, g.Classes)
	for i, y := range g.Y {
		if y != Unlabelled {
			view.Y[i] = class[y]
			count[y]++
		}
	}
	for c, n := range count {
		if n > 0 && class[c] == Unlabelled {
			unknown = append(unknown, g.ClassNames[c])
		}
	}
	if unknown != nil {
		for _, part := range []*[]int32{&view.Split.Train, &view.Split.Val, &view.Split.Test} {
			*part = slices.DeleteFunc(slices.Clone(*part), func(v int32) bool { return view.Y[v] == Unlabelled })
		}
	}
	if g.untouched() {
		view.mark()
	}
	return &view, unknown
}

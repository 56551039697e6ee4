package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/internal/memory"
)

// WithClasses returns g with the given classes, which may have names. unknown names the other classes that nodes of g
// have. These nodes lose their labels, and are in no part of the split. Classes are compared by name. If only one side
// has names and the numbers of classes differ, names are compared with numbers. Otherwise, classes are compared by
// number, and WithClasses returns g itself, unless g has too few classes. The result shares everything else with g.
func (g *Graph) WithClasses(classes int, names []string) (same *Graph, unknown []string) {
	own, other := g.ClassNames, names
	if (own == nil) != (other == nil) && classes != g.Classes {
		own, other = numbered(own, g.Classes), numbered(other, classes)
	}
	if own == nil && other == nil && g.Classes < classes { // no node has the last classes
		own, other = numbered(nil, g.Classes), numbered(nil, classes)
	}
	if own == nil || other == nil || slices.Equal(own, other) {
		return g, nil
	}
	class := make([]int32, g.Classes)
	for c, name := range own {
		class[c] = int32(slices.Index(other, name)) // Unlabelled if there is none
	}
	view := *g
	view.Classes, view.ClassNames, view.Y = classes, names, memory.Filled[int32](len(g.Y), Unlabelled)
	count := make([]int, g.Classes)
	for i, y := range g.Y {
		if y != Unlabelled {
			view.Y[i] = class[y]
			count[y]++
		}
	}
	for c, n := range count {
		if n > 0 && class[c] == Unlabelled {
			unknown = append(unknown, own[c])
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

// WithFeatures returns g with the features called names, in this order; other features are left out. Features are
// compared by position, and WithFeatures returns g itself, if names is nil or those of g, or if features of g have no
// names. An error lists the features that g lacks, or names one that occurs twice. The result shares everything else
// with g. It has a copy of the features if they are a *mat.Dense or *mat.CSR.
func (g *Graph) WithFeatures(names []string) (*Graph, error) {
	if names == nil || g.FeatureNames == nil || slices.Equal(names, g.FeatureNames) {
		return g, nil
	}
	place := make(map[string]int, len(g.FeatureNames))
	for j, name := range g.FeatureNames {
		if _, twice := place[name]; twice {
			j = -1
		}
		place[name] = j
	}
	columns := make([]int, len(names))
	var missing []string
	for k, name := range names {
		j, found := place[name]
		if columns[k] = j; !found {
			missing = append(missing, strconv.Quote(name))
			continue
		}
		if j < 0 {
			return nil, fmt.Errorf("two features are called %.50q, must have different names: those of graph %s are found by "+
				"name", name, g.Name)
		}
		place[name] = -1
	}
	if missing != nil {
		return nil, fmt.Errorf("graph %s has no feature %.200s (%d of %d are missing); its features are %.200s", g.Name,
			strings.Join(missing, ", "), len(missing), len(names), strings.Join(g.FeatureNames, ", "))
	}
	view := *g
	view.X, view.FeatureNames = selectColumns(g.X, columns), names
	if g.untouched() {
		view.mark()
	}
	return &view, nil
}

// numbered returns names, or the numbers of the classes if there are no names.
func numbered(names []string, classes int) []string {
	if names != nil {
		return names
	}
	for c := range classes {
		names = append(names, strconv.Itoa(c))
	}
	return names
}

package table

import (
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
)

// labels holds the label of each node as an index into names, or graph.Unlabelled. The zero value is ready to use.
type labels struct {
	of    []int32
	names []string // in the order of the file
	first []int    // the first node with each label
	place map[string]int32
}

// add adds the label of the next node. An empty label means none.
func (l *labels) add(label []byte) {
	k := int32(graph.Unlabelled)
	if len(label) > 0 {
		known := false
		if k, known = l.place[string(label)]; !known {
			k = l.name(string(label), len(l.of))
		}
	}
	l.of = append(l.of, k)
}

// name adds a name whose first node is node.
func (l *labels) name(name string, node int) int32 {
	if l.place == nil {
		l.place = map[string]int32{}
	}
	k := int32(len(l.names))
	l.place[name] = k
	l.names, l.first = append(l.names, name), append(l.first, node)
	return k
}

// join adds the labels of the nodes that follow.
func (l *labels) join(next *labels) {
	base := len(l.of)
	place := make([]int32, len(next.names))
	for k, name := range next.names {
		known := false
		if place[k], known = l.place[name]; !known {
			place[k] = l.name(name, base+next.first[k])
		}
	}
	for _, k := range next.of {
		if k != graph.Unlabelled {
			k = place[k]
		}
		l.of = append(l.of, k)
	}
}

// beyond returns the first node whose label exceeds the number of labels, or −1. There may be one more label than
// classes, because one number may mean no label.
func (l *labels) beyond() int {
	if len(l.names) <= graph.MaxClasses+1 {
		return -1
	}
	return l.first[graph.MaxClasses+1]
}

// classes returns the class of each node of t: the label itself if labels are integers, else its index in the sorted
// labels, which are names.
func (l *labels) classes(t Table) (y []int32, names []string, err error) {
	fail := func(k int, text string, args ...any) error { return t.Fail(l.first[k], fmt.Errorf(text, args...)) }
	values, whole := make([]int64, len(l.names)), true
	for k, name := range l.names {
		v, err := decimal.Int([]byte(name))
		if k == 0 {
			whole = err == nil
		}
		if whole != (err == nil) {
			return nil, nil, fail(k, "label %.50q, and label %.50q in %s: must be only whole numbers, or only names",
				name, l.names[0], t.Place(l.first[0]))
		}
		values[k] = v
	}
	class := make([]int32, len(l.names))
	if !whole {
		names = slices.Sorted(slices.Values(l.names))
		for k, name := range l.names {
			place, _ := slices.BinarySearch(names, name)
			class[k] = int32(place)
		}
	}
	for k, v := range values {
		if !whole {
			break
		}
		if v < graph.Unlabelled || v >= graph.MaxClasses {
			return nil, nil, fail(k, "label %d, must be 0 to %d, or %d for none", v, graph.MaxClasses-1, graph.Unlabelled)
		}
		class[k] = int32(v)
	}
	y = l.of // l is not used again
	for i, k := range y {
		if k != graph.Unlabelled {
			y[i] = class[k]
		}
	}
	if whole {
		content.ShiftLabels(y)
	}
	return y, names, nil
}

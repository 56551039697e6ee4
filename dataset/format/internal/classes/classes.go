// Package classes makes the classes of a graph of labels that are text: whole numbers, or names.
package classes

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Labels collects the labels of nodes, one after the other. The zero value has none.
type Labels struct {
	of    []int32 // the label of each node, as a place in names, or graph.Unlabelled
	names []string
	first []int // the line that has each label first
	place map[string]int32
}

// Add takes the label of the next node, and its line. An empty one means none. An error says that there are too many.
func (l *Labels) Add(label []byte, line int) error {
	if len(label) == 0 {
		l.of = append(l.of, graph.Unlabelled)
		return nil
	}
	k, known := l.place[string(label)]
	if !known {
		if len(l.names) > graph.MaxClasses {
			return fmt.Errorf("more than %d different labels", graph.MaxClasses)
		}
		if l.place == nil {
			l.place = map[string]int32{}
		}
		k = int32(len(l.names))
		l.names, l.first = append(l.names, string(label)), append(l.first, line)
		l.place[string(label)] = k
	}
	l.of = append(l.of, k)
	return nil
}

// Classes returns the class of each node. If all labels are whole numbers, they are the classes, and those that start
// at 1 are moved to start at 0. Otherwise the classes are the places of the labels in sorted order, and names has them.
// NaN means no label. An error comes with the line that it is about.
func (l *Labels) Classes() (y []int32, names []string, line int, err error) {
	class := make([]int32, len(l.names))
	whole, other := -1, -1
	for k, name := range l.names {
		v, number := wholeNumber([]byte(name))
		if name == "NaN" || name == "nan" {
			class[k] = graph.Unlabelled
			continue
		}
		outside := number && (v < graph.Unlabelled || v >= graph.MaxClasses)
		switch {
		case outside && other < 0:
			return nil, nil, l.first[k], fmt.Errorf("label %d, want 0 to %d, or %d for none",
				v, graph.MaxClasses-1, graph.Unlabelled)
		case number && whole < 0:
			whole = k
		case !number && other < 0:
			other = k
		}
		if number {
			class[k] = int32(v)
		}
		if whole >= 0 && other >= 0 {
			before := min(whole, other)
			return nil, nil, l.first[k], fmt.Errorf(
				"label %.50q, and label %.50q in line %d: want only whole numbers, or only names",
				name, l.names[before], l.first[before])
		}
	}
	if other >= 0 {
		for k, name := range l.names {
			if class[k] != graph.Unlabelled {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for k, name := range l.names {
			if place, found := slices.BinarySearch(names, name); found {
				class[k] = int32(place)
			}
		}
	}
	y = memory.Make[int32](len(l.of))
	for i, k := range l.of {
		y[i] = graph.Unlabelled
		if k != graph.Unlabelled {
			y[i] = class[k]
		}
	}
	if other < 0 {
		format.ShiftLabels(y)
	}
	return y, names, 0, nil
}

// Of returns the class of each node if there are n classes, of the given names or, without names, numbers. ok is false
// if a label is none of them, or if two names are equal.
func (l *Labels) Of(n int, names []string) (y []int32, ok bool) {
	class := map[string]int32{"-1": graph.Unlabelled}
	if names != nil {
		class = map[string]int32{}
	}
	for k := range min(n, graph.MaxClasses) {
		name := strconv.Itoa(k)
		if names != nil {
			name = names[k]
		}
		class[name] = int32(k)
	}
	if names != nil && len(class) < len(names) {
		return nil, false
	}
	y = memory.Make[int32](len(l.of))
	for i, k := range l.of {
		y[i] = graph.Unlabelled
		if k == graph.Unlabelled {
			continue
		}
		if y[i], ok = class[l.names[k]]; !ok {
			return nil, false
		}
	}
	return y, true
}

// wholeNumber returns the whole number in text, which may be written with a point and zeros.
func wholeNumber(text []byte) (int64, bool) {
	if number, zeros, point := bytes.Cut(text, []byte(".")); point && len(bytes.Trim(zeros, "0")) == 0 {
		text = number
	}
	v, err := decimal.Int(text)
	return v, err == nil
}

// Part adds node to the part of s that a word names: train, val or test, or nothing or none for no part.
func Part(s *graph.Split, node int32, word string) error {
	switch word {
	case "train", "Train", "TRAIN":
		s.Train = append(s.Train, node)
	case "val", "valid", "validation", "Val", "VAL":
		s.Val = append(s.Val, node)
	case "test", "Test", "TEST":
		s.Test = append(s.Test, node)
	case "", "none":
	default:
		return fmt.Errorf("split %.50q, want train, val, test or nothing", word)
	}
	return nil
}

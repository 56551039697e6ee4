// Package classes derives classes from text labels, which are integers or names.
package classes

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Labels collects the labels of nodes, in order. The zero value is empty.
type Labels struct {
	of    []int32 // the label of each node, as an index into names, or graph.Unlabelled
	names []string
	first []int // the first line with each label
	place map[string]int32
}

// Add adds the label of the next node, in the given line. An empty label means no label. Too many distinct labels are
// an error.
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

// Classes returns the class of each node. If all labels are integers, they are the classes, shifted to start at 0 if
// they start at 1. Otherwise class k is the k-th label in sorted order, and names holds the sorted labels. NaN means no
// label. line is the line of an error.
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
			return nil, nil, l.first[k], fmt.Errorf("label %d, must be 0 to %d, or %d for none",
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
				"label %.50q, and label %.50q in line %d: must be only whole numbers, or only names",
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
		content.ShiftLabels(y)
	}
	return y, names, 0, nil
}

// Of returns the class of each node, given n classes and their names or, without names, their numbers. ok is false if a
// label is not among them, or if two names are equal.
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

// wholeNumber returns the integer in text, which may be followed by a decimal point and zeros.
func wholeNumber(text []byte) (int64, bool) {
	if number, zeros, point := bytes.Cut(text, []byte(".")); point && len(bytes.Trim(zeros, "0")) == 0 {
		text = number
	}
	v, err := decimal.Int(text)
	return v, err == nil
}

// NoPart marks a node outside the split.
const NoPart = -1

// PartOf parses the name of a part of the split, ignoring case: 0 for train, 1 for val, valid or validation, 2 for
// test, and NoPart for none or an empty word. ok is false for any other word.
func PartOf(word []byte) (part int, ok bool) {
	word = bytes.TrimSpace(word)
	switch strings.ToLower(string(word[:min(len(word), 20)])) { // a field of a file may be long
	case "train":
		return 0, true
	case "val", "valid", "validation":
		return 1, true
	case "test":
		return 2, true
	case "", "none":
		return NoPart, true
	}
	return NoPart, false
}

// Put adds node to a part of s.
func Put(s *graph.Split, node int32, part int) {
	if part != NoPart {
		list := [...]*[]int32{&s.Train, &s.Val, &s.Test}[part]
		*list = append(*list, node)
	}
}

// Part adds node to the part of s that a word names.
func Part(s *graph.Split, node int32, word string) error {
	part, ok := PartOf([]byte(word))
	if !ok {
		return fmt.Errorf("split %.50q, must be train, val, test or nothing", word)
	}
	Put(s, node, part)
	return nil
}

// Package classes derives classes from text labels, which are integers or names.
package classes

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
)

// Labels collects the labels of nodes, in order. The zero value is empty.
type Labels struct {
	// Loose accepts NaN as a missing label, and numbers such as 7.0 as integers, even if other labels are not numbers.
	Loose bool

	of    []int32 // the label of each node, as an index into names, or graph.Unlabelled
	names []string
	first []int // the line or row where each label first occurs
	place map[string]int32
}

// Add adds the label of the next node. at is its line or row. An empty label means no label. Beyond reports too many
// distinct labels.
func (l *Labels) Add(label []byte, at int) {
	if len(label) == 0 {
		l.of = append(l.of, graph.Unlabelled)
		return
	}
	l.AddName(label, at)
}

// AddName is like Add, but an empty label is the name of a class.
func (l *Labels) AddName(label []byte, at int) {
	k, known := l.place[string(label)]
	if !known {
		k = l.name(string(label), at)
	}
	l.of = append(l.of, k)
}

// name adds a new label and returns its index.
func (l *Labels) name(name string, at int) int32 {
	if l.place == nil {
		l.place = map[string]int32{}
	}
	k := int32(len(l.names))
	l.place[name] = k
	l.names, l.first = append(l.names, name), append(l.first, at)
	return k
}

// Join appends the labels in next, whose rows are counted from 0.
func (l *Labels) Join(next *Labels) {
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

// Beyond returns the line or row of the first label that exceeds the allowed number of distinct labels, or −1. The
// limit is MaxClasses + 1, because one number may mean no label.
func (l *Labels) Beyond() int {
	if len(l.names) <= graph.MaxClasses+1 {
		return -1
	}
	return l.first[graph.MaxClasses+1]
}

// Classes returns the class of each node. If all labels are integers (7 or 7.0) from 0 with few gaps, they are the
// classes, and −1 means no label. Otherwise class k is the k-th label in order, and names holds the labels: integers
// that do not start at 0, codes such as 4501, the two labels −1 and 1, or words. After an error, at is the first line
// or row of the faulty label. place describes the position of a second label in the message. l must not be used again.
func (l *Labels) Classes(place func(at int) string) (y []int32, names []string, at int, err error) {
	if at := l.Beyond(); at >= 0 {
		return nil, nil, at, fmt.Errorf("more than %d different labels", graph.MaxClasses)
	}
	l.Loose = l.Loose || l.whole()
	whole, other := -1, -1 // the first integer and the first word
	numbers := make([]int64, len(l.names))
	for k, name := range l.names {
		if l.missing(name) {
			continue
		}
		v, is := number(name, l.Loose)
		switch {
		case is && other < 0 && v < graph.Unlabelled:
			return nil, nil, l.first[k], fmt.Errorf("label %d, must be at least 0, or %d for none", v, graph.Unlabelled)
		case is && whole < 0:
			whole = k
		case !is && other < 0:
			other = k
		}
		if numbers[k] = v; whole >= 0 && other >= 0 {
			before := min(whole, other)
			return nil, nil, l.first[k], fmt.Errorf("label %.50q, and label %.50q in %s: must be only integers, or only "+
				"names", name, l.names[before], place(l.first[before]))
		}
	}
	class := make([]int32, len(l.names))
	if other >= 0 {
		names = l.words(class)
	} else {
		names = l.numbered(class, numbers)
	}
	return l.mapped(class), names, 0, nil
}

// whole reports whether each label is an integer, or a number such as 7.0.
func (l *Labels) whole() bool {
	return !slices.ContainsFunc(l.names, func(name string) bool { _, is := number(name, true); return !is })
}

// missing reports whether a label says that there is none.
func (l *Labels) missing(name string) bool { return l.Loose && (name == "NaN" || name == "nan") }

// words sets class to the place of each label in sorted order, and returns the sorted labels.
func (l *Labels) words(class []int32) (names []string) {
	for _, name := range l.names {
		if !l.missing(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for k, name := range l.names {
		class[k] = graph.Unlabelled
		if place, found := slices.BinarySearch(names, name); found {
			class[k] = int32(place)
		}
	}
	return names
}

// numbered sets class for labels that are integers. It returns nil if these are the classes, otherwise their names.
func (l *Labels) numbered(class []int32, numbers []int64) (names []string) {
	var values []int64
	for k, name := range l.names {
		if !l.missing(name) {
			values = append(values, numbers[k])
		}
	}
	slices.Sort(values)
	values = slices.Compact(values) // 7 and 7.0 are equal
	if len(values) > 0 && values[0] == graph.Unlabelled && !slices.Equal(values, []int64{-1, 1}) {
		values = values[1:]
	}
	count := len(values)
	named := count > 0 && (values[0] != 0 || values[count-1] >= 2*int64(count))
	for k, name := range l.names {
		place, found := slices.BinarySearch(values, numbers[k])
		switch {
		case !found || l.missing(name):
			class[k] = graph.Unlabelled
		case named:
			class[k] = int32(place)
		default:
			class[k] = int32(numbers[k])
		}
	}
	if named {
		for _, v := range values {
			names = append(names, strconv.FormatInt(v, 10))
		}
	}
	return names
}

// Known returns the class of each node. class maps a label to its class. If it fails, at is the line or row where the
// label first occurs. l must not be used again.
func (l *Labels) Known(class func(label string) (int32, error)) (y []int32, at int, err error) {
	of := make([]int32, len(l.names))
	for k, name := range l.names {
		if of[k], err = class(name); err != nil {
			return nil, l.first[k], err
		}
	}
	return l.mapped(of), 0, nil
}

// Distinct reports whether names can be names of classes: trimmed of white space, they are not empty and all different.
func Distinct(names []string) bool {
	seen := map[string]bool{"": true}
	for _, name := range names {
		seen[strings.TrimSpace(name)] = true
	}
	return len(seen) == len(names)+1
}

// Named returns a function for Known. It maps names of n classes, without the spaces around them, to classes. If the
// names are nil or not Distinct, it maps numbers.
func Named(n int, names []string) func(label string) (int32, error) {
	class := map[string]int32{}
	if names == nil || !Distinct(names) {
		class["-1"] = graph.Unlabelled
		for k := range min(n, graph.MaxClasses) {
			class[strconv.Itoa(k)] = int32(k)
		}
	} else {
		for k, name := range names {
			class[strings.TrimSpace(name)] = int32(k)
		}
	}
	return func(label string) (int32, error) {
		c, known := class[label]
		if !known {
			return 0, fmt.Errorf("label %.50q is not a class", label)
		}
		return c, nil
	}
}

// Described returns the number of classes and their names, if they have any, from the metadata of a graph that cgc
// wrote.
func Described(meta map[string]string) (n int, names []string, err error) {
	n, err = strconv.Atoi(meta["classes"])
	if err != nil || n < 0 || n > graph.MaxClasses {
		return 0, nil, fmt.Errorf("classes in the metadata: %.20q, must be 0 to %d", meta["classes"], graph.MaxClasses)
	}
	names, err = format.NamesOf(meta, format.ClassNames, n)
	return n, names, err
}

// Line describes a line, for Classes.
func Line(at int) string { return fmt.Sprintf("line %d", at) }

// mapped returns the class of each node. class holds the class of each label.
func (l *Labels) mapped(class []int32) []int32 {
	for i, k := range l.of {
		if k != graph.Unlabelled {
			l.of[i] = class[k]
		}
	}
	return l.of
}

// number parses a label as an integer. If loose is true, 7.0 is one too.
func number(label string, loose bool) (int64, bool) {
	if whole, zeros, point := strings.Cut(label, "."); loose && point && strings.Trim(zeros, "0") == "" {
		label = whole
	}
	v, err := content.Int([]byte(label))
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

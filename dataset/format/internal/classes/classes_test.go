package classes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/graph"
)

// of returns the labels in texts, as if read from lines 2, 3, ….
func of(texts string) *classes.Labels {
	l := &classes.Labels{Loose: true}
	for i, text := range strings.Split(texts, " ") {
		l.Add([]byte(strings.TrimSuffix(text, "-")), i+2)
	}
	return l
}

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		texts string
		y     []int32
		names []string
	}{
		{"0 2 - 2", []int32{0, 2, graph.Unlabelled, 2}, nil},
		{"1 2 - 2", []int32{0, 1, graph.Unlabelled, 1}, []string{"1", "2"}},
		{"2 3", []int32{0, 1}, []string{"2", "3"}},
		{"1.0 2.00 NaN 1", []int32{0, 1, graph.Unlabelled, 0}, []string{"1", "2"}},
		{"0 -1 1", []int32{0, graph.Unlabelled, 1}, nil},
		{"1 -1 NaN 1", []int32{1, 0, graph.Unlabelled, 1}, []string{"-1", "1"}},
		{"1 -1 2", []int32{0, graph.Unlabelled, 1}, []string{"1", "2"}},
		{"-1 -1", []int32{graph.Unlabelled, graph.Unlabelled}, nil},
		{"104777 0 4501 20000", []int32{3, 0, 1, 2}, []string{"0", "4501", "20000", "104777"}},
		{"b a - nan b", []int32{1, 0, graph.Unlabelled, graph.Unlabelled, 1}, []string{"a", "b"}},
		{"1.5 1.25", []int32{1, 0}, []string{"1.25", "1.5"}},
		{"- -", []int32{graph.Unlabelled, graph.Unlabelled}, nil},
	} {
		y, names, _, err := of(c.texts).Classes(classes.Line)
		if err != nil || !slices.Equal(y, c.y) || !slices.Equal(names, c.names) {
			t.Errorf("%s: %v %q %v, want %v %q", c.texts, y, names, err, c.y, c.names)
		}
	}
	for texts, want := range map[string][]string{ // without Loose, 7.0 is an integer if all labels are integers
		"10.0 2.0 1.0 -1.0": {"1", "2", "10"},
		"1.0 1.5":           {"1.0", "1.5"},
		"1.0 nan":           {"1.0", "nan"},
	} {
		l := of(texts)
		l.Loose = false
		if _, names, _, err := l.Classes(classes.Line); err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: %q %v, want %q", texts, names, err, want)
		}
	}
	for texts, want := range map[string]string{
		"0 x":      `label "x", and label "0" in line 2: must be only integers, or only names`,
		"x nan 70": `label "70", and label "x" in line 2: must be only integers, or only names`,
		"0 -2":     "label -2, must be at least 0, or -1 for none",
	} {
		if _, _, line, err := of(texts).Classes(classes.Line); err == nil || err.Error() != want || line < 3 {
			t.Errorf("%s: line %d: %v, want %s", texts, line, err, want)
		}
	}
}

// TestKnown checks that Known uses the given classes, and reports other labels.
func TestKnown(t *testing.T) {
	for _, c := range []struct {
		texts string
		n     int
		names []string
		want  []int32
	}{
		{"1 2 -", 4, nil, []int32{1, 2, graph.Unlabelled}},
		{"b a", 3, []string{"c", "b", "a"}, []int32{1, 2}},
		{"0 2", 3, []string{"2", "0", "1"}, []int32{1, 0}},
		{"1 4", 4, nil, nil},
		{"b x", 2, []string{"a", "b"}, nil},
		{"a b", 3, []string{"a", "a", "b"}, nil},
		{"2 0 -1", 3, []string{"a", "a ", "b"}, []int32{2, 0, graph.Unlabelled}},
		{"1 0", 2, []string{"", "b"}, []int32{1, 0}},
		{"b a", 2, []string{"a", " b"}, []int32{1, 0}},
	} {
		y, _, err := of(c.texts).Known(classes.Named(c.n, c.names))
		if (err == nil) != (c.want != nil) || !slices.Equal(y, c.want) {
			t.Errorf("%s of %d classes %q: %v %v, want %v", c.texts, c.n, c.names, y, err, c.want)
		}
	}
}

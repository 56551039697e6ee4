package ids_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/ids"
)

// Names of all lengths are found, and only they: not those that differ in one byte, or in zero bytes at an end.
func TestFind(t *testing.T) {
	var names []string
	for length := 1; length < 40; length++ {
		for fill := range 3 {
			names = append(names, strings.Repeat(string(rune('a'+fill)), length)+"é")
		}
		names = append(names, strings.Repeat("\x00", length))
	}
	x, again, _ := ids.New(t.Context(), names)
	if again >= 0 {
		t.Fatalf("node %d is said to repeat another", again)
	}
	want := map[string]int32{}
	var ask [][]byte
	for i, name := range names {
		want[name] = int32(i)
		for at := range name {
			other := []byte(name)
			other[at] ^= 1
			ask = append(ask, other)
		}
		ask = append(ask, []byte(name), []byte(name+"\x00"), []byte("\x00"+name), []byte(name+name))
	}
	got := make([]int32, len(ask))
	x.Find(ask, got)
	for i, name := range ask {
		node, known := want[string(name)]
		if !known {
			node = -1
		}
		if got[i] != node {
			t.Fatalf("%q is node %d, want %d", name, got[i], node)
		}
	}
	none, _, _ := ids.New(t.Context(), nil)
	if none.Find(ask[:1], got[:1]); got[0] != -1 {
		t.Errorf("an empty index gives node %d", got[0])
	}
}

func TestRepeats(t *testing.T) {
	for _, long := range []string{"", "a name of more than sixteen bytes "} {
		names := []string{long + "b", long + "a", long + "c", long + "a", long + "b"}
		if _, again, first := ids.New(t.Context(), names); again != 3 || first != 1 {
			t.Errorf("node %d repeats %d, want 3 and 1", again, first)
		}
	}
}

func TestNumbers(t *testing.T) {
	if !ids.Numbered([]string{"0", "1", "2"}) || ids.Numbered([]string{"0", "01"}) || ids.Numbered([]string{"1"}) {
		t.Error("Numbered is wrong")
	}
	for name, want := range map[string]bool{"0": true, "-07": true, "": false, "-": false, "7.": false, "--7": false} {
		if ids.Whole(name) != want {
			t.Errorf("%q: Whole is %v", name, !want)
		}
	}
	for _, c := range []struct {
		names       []string
		node, other int
	}{
		{[]string{"1", "2", "1a", "1.5", "-1", "x"}, -1, -1},
		{[]string{"7", "x", "007"}, 2, 0},
		{[]string{"7.0", "7"}, 0, 1},
		{[]string{"x", "07", "+7."}, 2, 1},
		{[]string{"-0", "0.00"}, 1, 0},
		{[]string{"a", " a"}, 1, 0},
	} {
		x, _, _ := ids.New(t.Context(), c.names)
		if node, other := x.SameNumber(t.Context()); node != c.node || other != c.other {
			t.Errorf("%q: nodes %d and %d, want %d and %d", c.names, node, other, c.node, c.other)
		}
	}
	x, _, _ := ids.New(t.Context(), []string{"7", "Bob", "008"})
	for name, want := range map[string]int{"7.0": 0, " bob ": 1, "8": 2, "9": -1, "": -1} {
		if node := x.Like(name); node != want {
			t.Errorf("%q is like node %d, want %d", name, node, want)
		}
	}
}

// BenchmarkFind looks up names among as many as products has nodes.
func BenchmarkFind(b *testing.B) {
	const nodes, asked = 2_449_029, 4_000_000
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("p%d", i*7)
	}
	x, _, _ := ids.New(b.Context(), names)
	random := rand.New(rand.NewPCG(1, 1))
	ask, got := make([][]byte, asked), make([]int32, asked)
	for i := range ask {
		ask[i] = []byte(names[random.IntN(nodes)])
	}
	for b.Loop() {
		x.Find(ask, got)
	}
	if slices.Contains(got, -1) {
		b.Fatal("a name was not found")
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/asked, "ns/name")
}

package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// indexOf returns an index of names, which must be distinct.
func indexOf(t testing.TB, names []string) *index {
	t.Helper()
	x := newIndex(math.MaxInt64)
	for i, name := range names {
		if first, err := x.Add(name, int64(len(names))); first >= 0 || err != nil {
			t.Fatalf("node %d is said to repeat node %d, error %v", i, first, err)
		}
	}
	return x
}

// TestFind checks that names of all lengths are found, and that names with one changed byte or additional zero bytes
// are not.
func TestFind(t *testing.T) {
	var names []string
	for length := 1; length < 40; length++ {
		for fill := range 3 {
			names = append(names, strings.Repeat(string(rune('a'+fill)), length)+"é")
		}
		names = append(names, strings.Repeat("\x00", length))
	}
	x := indexOf(t, names)
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
	none := indexOf(t, nil)
	if none.Find(ask[:1], got[:1]); got[0] != -1 {
		t.Errorf("an empty index gives node %d", got[0])
	}
}

func TestRepeats(t *testing.T) {
	for _, long := range []string{"", "a name of more than sixteen bytes "} {
		x := indexOf(t, []string{long + "b", long + "a", long + "c"})
		if first, err := x.Add(long+"a", 5); first != 1 || err != nil {
			t.Errorf("a name that repeats node 1 is said to repeat %d, error %v", first, err)
		}
	}
	x := indexOf(t, []string{"0", "1", "2"})
	if first, err := x.Add("1", 5); first != 1 || err != nil || x.Numbered() {
		t.Errorf("a number that repeats node 1 is said to repeat %d, error %v", first, err)
	}
}

func TestNumbers(t *testing.T) {
	if _, err := newIndex(100).Add("a name", 50); err == nil {
		t.Error("an index exceeds its memory")
	}
	if !numbered([]string{"0", "1", "2"}) || numbered([]string{"0", "01"}) || numbered([]string{"1"}) {
		t.Error("numbered is wrong")
	}
	for name, want := range map[string]bool{"0": true, "-07": true, "": false, "-": false, "7.": false, "--7": false} {
		if isWhole(name) != want {
			t.Errorf("%q: isWhole is %v", name, !want)
		}
	}
	for name, want := range map[string]string{
		"7": "7", "007": "7", "7.0": "7", "+7.": "7", "-0": "0", "0.00": "0", "-07": "-7", " a": "a", "1.5": "1.5", "x": "x",
	} {
		mattest.Equal(t, plainForm(name), want, "%q is", name)
	}
	if !alike("7", "7.0") || !alike("Bob", " bob ") || alike("008", "9") {
		t.Error("alike is wrong")
	}
}

// BenchmarkFind looks up names in an index with a name for each node of products.
func BenchmarkFind(b *testing.B) {
	const nodes, asked = 2_449_029, 4_000_000
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("p%d", i*7)
	}
	x := indexOf(b, names)
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

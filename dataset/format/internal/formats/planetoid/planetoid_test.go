package planetoid_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/planetoid"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

func pickleGraph(neighbours map[int][]int) string {
	body := "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R("
	for v, list := range neighbours {
		body += fixture.PickleInt(v) + "]("
		for _, u := range list {
			body += fixture.PickleInt(u)
		}
		body += "e"
	}
	return body + "u"
}

// planetoidFiles has nodes 0–2 in allx, and test nodes 5 and 3, in this order; node 4 has no row.
func planetoidFiles() map[string][]byte {
	return map[string][]byte{
		"ind.own.x": fixture.Pickled(fixture.PickleCSR(1, 4, []int32{0, 1}, []int32{0}, []int32{1})),
		"ind.own.y": fixture.Pickled(fixture.PickleArray([]int32{1, 0}, 1, 2)),
		"ind.own.allx": fixture.Pickled(
			fixture.PickleCSR(3, 4, []int32{0, 2, 2, 3}, []int32{3, 0, 1}, []int32{7, 1, 2})),
		"ind.own.ally":       fixture.Pickled(fixture.PickleArray([]int32{1, 0, 0, 1, 0, 0}, 3, 2)),
		"ind.own.tx":         fixture.Pickled(fixture.PickleCSR(2, 4, []int32{0, 1, 2}, []int32{1, 2}, []int32{5, 3})),
		"ind.own.ty":         fixture.Pickled(fixture.PickleArray([]int32{0, 1, 1, 0}, 2, 2)),
		"ind.own.graph":      fixture.Pickled(pickleGraph(map[int][]int{0: {1, 1, 5}, 1: {0}, 3: {3}, 5: {0}})),
		"ind.own.test.index": []byte("5\n3\n"),
	}
}

func TestContract(t *testing.T) {
	formattest.Run(t, planetoid.Name, filepath.Join(fixture.Folder(t, planetoidFiles()), "ind.own.x"))
}

func TestReadPlanetoid(t *testing.T) {
	g := fixture.Open(t, fixture.Folder(t, planetoidFiles()))
	fixture.Is(t, g, "edges 0-1 0-5; sparse 1 0 0 7, 0 0 0 0, 0 2 0 0, 0 0 3 0, 0 0 0 0, 0 5 0 0; y 0 1 - 0 - 1")
	fixture.Is(t, g, "split 0 / 1 / 3 5")
}

// TestClassNames checks that pubmed is found by name, and that the names of classes are set only if their number
// matches.
func TestClassNames(t *testing.T) {
	three := map[string][]byte{
		"ind.own.y":    fixture.Pickled(fixture.PickleArray([]int32{1, 0, 0}, 1, 3)),
		"ind.own.ally": fixture.Pickled(fixture.PickleArray([]int32{1, 0, 0, 0, 1, 0, 0, 0, 1}, 3, 3)),
		"ind.own.ty":   fixture.Pickled(fixture.PickleArray([]int32{0, 1, 0, 0, 0, 1}, 2, 3)),
	}
	for name, want := range map[string][]string{
		"pubmed": {"Diabetes Mellitus, Experimental", "Diabetes Mellitus Type 2", "Diabetes Mellitus Type 1"}, "cora": nil,
	} {
		files := map[string][]byte{}
		for file, data := range planetoidFiles() {
			if other := three[file]; other != nil {
				data = other
			}
			files[strings.Replace(file, "own", name, 1)] = data
		}
		g := mattest.Must(dataset.Options{Search: []string{fixture.Folder(t, files)}}.Open(t.Context(), name))
		if g.Name != name || g.Classes != 3 || !slices.Equal(g.ClassNames, want) {
			t.Errorf("%s has %d classes %q, want %q", g.Name, g.Classes, g.ClassNames, want)
		}
	}
}

func TestReadPlanetoidRefuses(t *testing.T) {
	for _, c := range []struct {
		file string
		data []byte
		want string
	}{
		{"ind.own.allx", fixture.Pickled("cos\nsystem\n" + fixture.PickleString("true") + "\x85R"),
			`ind.own.allx: pickle uses the class "os.system"`},
		{"ind.own.allx", fixture.Pickled(fixture.PickleArray([]int32{1}, 1)), "expected scipy's csr_matrix"},
		{"ind.own.allx", fixture.Pickled(fixture.PickleCSR(3, 4, []int32{0, 2, 2, 3}, []int32{3, 4, 1}, []int32{7, 1, 2})),
			"column 4 of entry 1, must be 0 to 3"},
		{"ind.own.allx", planetoidFiles()["ind.own.allx"][:50], "cut short"},
		{"ind.own.ally", fixture.Pickled(fixture.PickleArray([]int32{1, 0}, 1, 2)), "shape [1 2], expected 3 rows"},
		{"ind.own.ally", fixture.Pickled(fixture.PickleArray([]int32{1, 0}, 5, 2)), "does not fit the 8 bytes"},
		{"ind.own.ty", fixture.Pickled(fixture.PickleArray([]int32{1, 0}, 2, 1)), "1 classes, and 2 in ally"},
		{"ind.own.graph", fixture.Pickled(pickleGraph(map[int][]int{0: {9}})), "edge from node 0 to 9, must be nodes 0 to 5"},
		{"ind.own.graph", fixture.Pickled("]"), "must hold a dictionary of neighbours"},
		{"ind.own.graph", []byte("\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00N."),
			"holds nothing (None), must hold a dictionary"},
		{"ind.own.graph", []byte("T\xff\xff\xff\x7f"), "claims a string of 2147483647 bytes"},
		{"ind.own.test.index", []byte("5\nx\n"), `ind.own.test.index:2: "x" is not a node`},
		{"ind.own.test.index", []byte("5\n"), "1 test nodes for 2 rows of tx"},
		{"ind.own.test.index", []byte("5\n1000000\n"), "node 1000000 is far beyond"},
		{"ind.own.test.index", []byte("5\n-1\n"), "ind.own.test.index:2: node -1, must be 0"},
		{"ind.own.test.index", []byte("5\n5\n"), "node 5 is in test and again in test"},
		{"ind.own.y", nil, "ind.own.y: there is no such file"},
	} {
		fixture.Refuses(t, fixture.With(planetoidFiles(), c.file, c.data), c.want)
	}
}

// FuzzRead checks that no input causes a panic or unbounded memory use, in features, in neighbours and in the numbers
// of the test nodes. Errors are allowed.
func FuzzRead(f *testing.F) {
	files := planetoidFiles()
	f.Add(files["ind.own.allx"], files["ind.own.graph"], files["ind.own.test.index"])
	f.Add(files["ind.own.tx"], fixture.Pickled(pickleGraph(map[int][]int{0: {5}})), []byte("3\n2000000000\n"))
	f.Fuzz(func(t *testing.T, features, neighbours, index []byte) {
		own := fixture.With(planetoidFiles(), "ind.own.allx", features)
		own = fixture.With(own, "ind.own.graph", neighbours)
		fixture.Valid(t, fixture.Folder(t, fixture.With(own, "ind.own.test.index", index)))
	})
}

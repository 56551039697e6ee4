package planetoid_test

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/planetoid"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Pickles as Python 2 writes them, of protocol 2.

func pickled(body string) []byte { return []byte("\x80\x02" + body + ".") }

func pickleInt(v int) string {
	return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(v)))
}

func pickleTuple(items ...string) string { return "(" + strings.Join(items, "") + "t" }

func pickleString(s string) string {
	return "T" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func pickleArray(v []int32, shape ...int) string {
	raw, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	var sides []string
	for _, s := range shape {
		sides = append(sides, pickleInt(s))
	}
	dtype := "cnumpy\ndtype\n" + pickleTuple(pickleString("i4"), "K\x00", "K\x01") + "R" +
		pickleTuple("K\x03", pickleString("<"), "N") + "b"
	return "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n\x85R" +
		pickleTuple("K\x01", pickleTuple(sides...), dtype, "\x89", pickleString(string(raw))) + "b"
}

func pickleCSR(rows, cols int, indptr, indices, data []int32) string {
	return "cscipy.sparse.csr\ncsr_matrix\n)\x81}(" +
		pickleString("_shape") + pickleTuple(pickleInt(rows), pickleInt(cols)) +
		pickleString("indptr") + pickleArray(indptr, len(indptr)) +
		pickleString("indices") + pickleArray(indices, len(indices)) +
		pickleString("data") + pickleArray(data, len(data)) + "ub"
}

func pickleGraph(neighbours map[int][]int) string {
	body := "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R("
	for v, list := range neighbours {
		body += pickleInt(v) + "]("
		for _, u := range list {
			body += pickleInt(u)
		}
		body += "e"
	}
	return body + "u"
}

// planetoidFiles has nodes 0–2 in allx, and test nodes 5 and 3, in this order; node 4 is nowhere.
func planetoidFiles() map[string][]byte {
	return map[string][]byte{
		"ind.own.x":          pickled(pickleCSR(1, 4, []int32{0, 1}, []int32{0}, []int32{1})),
		"ind.own.y":          pickled(pickleArray([]int32{1, 0}, 1, 2)),
		"ind.own.allx":       pickled(pickleCSR(3, 4, []int32{0, 2, 2, 3}, []int32{3, 0, 1}, []int32{7, 1, 2})),
		"ind.own.ally":       pickled(pickleArray([]int32{1, 0, 0, 1, 0, 0}, 3, 2)),
		"ind.own.tx":         pickled(pickleCSR(2, 4, []int32{0, 1, 2}, []int32{1, 2}, []int32{5, 3})),
		"ind.own.ty":         pickled(pickleArray([]int32{0, 1, 1, 0}, 2, 2)),
		"ind.own.graph":      pickled(pickleGraph(map[int][]int{0: {1, 1, 5}, 1: {0}, 3: {3}, 5: {0}})),
		"ind.own.test.index": []byte("5\n3\n"),
	}
}

func TestContract(t *testing.T) {
	formattest.Run(t, planetoid.Name, filepath.Join(fixture.Folder(t, planetoidFiles()), "ind.own.x"))
}

func TestReadPlanetoid(t *testing.T) {
	g := fixture.Open(t, fixture.Folder(t, planetoidFiles()))
	if !slices.Equal(g.Adj.Indptr, []int64{0, 2, 3, 3, 3, 3, 4}) || !slices.Equal(g.Adj.Indices, []int32{1, 5, 0, 0}) {
		t.Errorf("adjacency %+v", g.Adj)
	}
	x := g.X.(*mat.CSR)
	if !slices.Equal(x.Indptr, []int64{0, 2, 2, 3, 4, 4, 5}) || !slices.Equal(x.Indices, []int32{0, 3, 1, 2, 1}) ||
		!slices.Equal(x.Data, []float32{1, 7, 2, 3, 5}) {
		t.Errorf("features %+v", x)
	}
	if !slices.Equal(g.Y, []int32{0, 1, graph.Unlabelled, 0, graph.Unlabelled, 1}) {
		t.Errorf("labels %v", g.Y)
	}
	if s := g.Split; !slices.Equal(s.Train, []int32{0}) || !slices.Equal(s.Val, []int32{1}) ||
		!slices.Equal(s.Test, []int32{3, 5}) {
		t.Errorf("split %+v", s)
	}
}

func TestReadPlanetoidRefuses(t *testing.T) {
	for _, c := range []struct {
		file string
		data []byte
		want string
	}{
		{"ind.own.allx", pickled("cos\nsystem\n" + pickleString("true") + "\x85R"),
			`ind.own.allx: pickle wants the class "os.system"`},
		{"ind.own.allx", pickled(pickleArray([]int32{1}, 1)), "want scipy's csr_matrix"},
		{"ind.own.allx", pickled(pickleCSR(3, 4, []int32{0, 2, 2, 3}, []int32{3, 4, 1}, []int32{7, 1, 2})),
			"column 4 of entry 1, want 0 to 3"},
		{"ind.own.allx", planetoidFiles()["ind.own.allx"][:50], "cut short"},
		{"ind.own.ally", pickled(pickleArray([]int32{1, 0}, 1, 2)), "shape [1 2], want 3 rows"},
		{"ind.own.ally", pickled(pickleArray([]int32{1, 0}, 5, 2)), "does not take the 8 bytes"},
		{"ind.own.ty", pickled(pickleArray([]int32{1, 0}, 2, 1)), "1 classes, and 2 in ally"},
		{"ind.own.graph", pickled(pickleGraph(map[int][]int{0: {9}})), "edge from node 0 to 9, want nodes 0 to 5"},
		{"ind.own.graph", pickled("]"), "want a dictionary of neighbours"},
		{"ind.own.graph", []byte("\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00N."), "protocol 4"},
		{"ind.own.graph", []byte("T\xff\xff\xff\x7f"), "claims a string of 2147483647 bytes"},
		{"ind.own.test.index", []byte("5\nx\n"), `ind.own.test.index:2: "x" is not a node`},
		{"ind.own.test.index", []byte("5\n"), "1 test nodes for 2 rows of tx"},
		{"ind.own.test.index", []byte("5\n1000000\n"), "node 1000000 is far beyond"},
		{"ind.own.test.index", []byte("5\n-1\n"), "ind.own.test.index:2: node -1, want 0"},
		{"ind.own.test.index", []byte("5\n5\n"), "node 5 is in test and again in test"},
		{"ind.own.y", nil, "ind.own.y: no such file"},
	} {
		fixture.Refuses(t, fixture.With(planetoidFiles(), c.file, c.data), c.want)
	}
}

// FuzzPickle looks for a panic and for memory without bound. Errors are right.
func FuzzPickle(f *testing.F) {
	f.Add([]byte("\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01" +
		"K\x02\x85" +
		"cnumpy\ndtype\nU\x02i4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89" +
		"U\x08\x01\x00\x00\x00\x02\x00\x00\x00tb."))
	f.Add([]byte("\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x00]K\x01aK\x01]u."))
	f.Add([]byte("\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shapeK\x01K\x01\x86ub."))
	f.Add([]byte("cos\nsystem\nU\x02idR."))
	f.Add([]byte("\x8e\xff\xff\xff\xff\xff\x00\x00\x00"))
	f.Add([]byte("T\xff\xff\xff\x7f"))
	f.Add(planetoidFiles()["ind.own.y"])
	f.Fuzz(func(t *testing.T, data []byte) { _ = planetoid.Unpickle(data) })
}

package npz_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/npz"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// members is the path 3–0–1–2.
func members() map[string][]byte {
	return map[string][]byte{
		"x":          fixture.Npy("<f4", "4, 2", []float32{1, 2, 3, 4, 5, 6, 7, 8}),
		"y":          fixture.Npy("<i8", "4, 1", []int64{0, 1, 1, 0}),
		"edge_index": fixture.Npy("<i8", "2, 3", []int64{0, 1, 3, 1, 2, 0}),
		"train_mask": fixture.Npy("|b1", "4,", []bool{true, true, false, false}),
		"val_mask":   fixture.Npy("|b1", "4,", []bool{false, false, true, false}),
		"test_mask":  fixture.Npy("|b1", "4,", []bool{false, false, false, true}),
	}
}

// file returns the path of an .npz file with these members.
func file(t *testing.T, members map[string][]byte) string {
	t.Helper()
	return fixture.File(t, "own.npz", fixture.Npz(members))
}

// change is an array that is replaced, and a part of the error.
type change struct {
	array string
	data  []byte
	want  string
}

// refuses checks the error of each change of a file.
func refuses(t *testing.T, members map[string][]byte, changes []change) {
	t.Helper()
	for _, c := range changes {
		fixture.RefusesAt(t, file(t, fixture.With(members, c.array, c.data)), c.want)
	}
}

func TestContract(t *testing.T) {
	formattest.Run(t, npz.Name, file(t, members()))
	formattest.Condensed(t, npz.Name)
}

// same checks that path holds the graph of members, whatever its features.
func same(t *testing.T, path string) {
	t.Helper()
	fixture.Is(t, fixture.Open(t, path), "edges 0-1 0-3 1-2; y 0 1 1 0; split 0 1 / 2 / 3")
}

func TestRead(t *testing.T) {
	path := file(t, members())
	same(t, path)
	fixture.Is(t, fixture.Open(t, path), "dense 1 2, 3 4, 5 6, 7 8")
	lists := members()
	for part, nodes := range map[string][]int32{"train": {1, 0}, "val": {2}, "test": {3}} {
		delete(lists, part+"_mask")
		lists[strings.Replace(part, "val", "valid", 1)+"_idx"] = fixture.Npy("<i4", "1,", nodes)
	}
	lists["train_idx"] = fixture.Npy("<i4", "2,", []int32{1, 0})
	same(t, file(t, lists))
	weighted := fixture.With(members(), "edge_weight", fixture.Npy("<f4", "3,", []float32{1, 2, .5}))
	fixture.Is(t, fixture.Open(t, file(t, weighted)), "edges 0-1*1 0-3*0.5 1-2*2")
}

// TestUnreadWeights checks that an array that may hold weights, but is not called edge_weight, causes a note.
func TestUnreadWeights(t *testing.T) {
	const want = "own.npz: the array edge_attr is not read: if it holds the weights of the edges, call it edge_weight"
	for shape, told := range map[string][]string{"3,": {want}, "3, 1": {want}, "1, 3": {want}, "3, 1, 1": nil} {
		path := file(t, fixture.With(members(), "edge_attr", fixture.Npy("<f4", shape, []float32{1, 2, .5})))
		_, notes := fixture.Noted(t, path)
		fixture.Notes(t, notes, told...)
	}
}

// TestUnlabelled checks that labels may be missing if graphs without labels are allowed, and only then. The graph then
// has no split. Features may be dense or sparse.
func TestUnlabelled(t *testing.T) {
	dense, sparse := members(), matrices()
	delete(dense, "y")
	delete(sparse, "labels")
	for want, files := range map[string]map[string][]byte{
		"y - - - -; dense 1 2, 3 4, 5 6, 7 8":             dense,
		"y - - -; sparse 0 2 0 0 4, 0 0 0 0 0, 4 0 0 0 0": sparse,
	} {
		path := file(t, files)
		g := mattest.Must(dataset.Options{Unlabelled: true}.Open(t.Context(), path))
		fixture.Is(t, g, want)
		if g.Classes != 0 || len(g.Split.Train)+len(g.Split.Val)+len(g.Split.Test) > 0 {
			t.Errorf("%d classes, split %+v", g.Classes, g.Split)
		}
		mattest.Fails(t, "there is no array of labels")(dataset.Options{}.Open(t.Context(), path))
	}
	labelled := file(t, members())
	fixture.Is(t, mattest.Must(dataset.Options{Unlabelled: true}.Open(t.Context(), labelled)), "y 0 1 1 0")
}

// TestReadFileOfNumpy checks that a file written by numpy 2.4 is read (numpy.savez_compressed).
func TestReadFileOfNumpy(t *testing.T) {
	same(t, fixture.File(t, "own.npz", fixture.Base64(t, filepath.Join("testdata", "masks.npz.b64"))))
}

func TestRefuses(t *testing.T) {
	nan := float32(math.NaN())
	refuses(t, members(), []change{
		{"x", nil, "own.npz: there is no array of features (x, "},
		{"x", fixture.Npy("<f4", "4,", []float32{1, 2, 3, 4}), "array x: shape [4], expected nodes × features"},
		{"x", fixture.Npy("<f4", "4, 1", []float32{1, nan, 3, 4}), "array x: feature 0 of node 1 is not a finite number"},
		{"y", nil, `labels, label, target); the file holds "edge_index" (2×3 int64), "test_mask" (4 bool), "train_mask" (4`},
		{"y", fixture.Npy("<i8", "3,", []int64{0, 1, 1}), "array x: shape [4 2], must have 3 rows, one for each label"},
		{"y", fixture.Npy("<i8", "4, 2", make([]int64, 8)), "array y: shape [4 2]: 2 labels for each node, expected one"},
		{"y", fixture.Npy("<f4", "4,", []float32{0, .5, 1, 1}), "y: element 1 is 0.5, must be an integer"},
		{"y", fixture.Npy("<U1", "4,", []uint32{'a', 'b', 'a', 'b'}),
			"array y: elements of type text, must be numbers: numpy.unique(y, return_inverse=True)[1] numbers names"},
		{"y", fixture.Npy("<i8", "4,", []int64{0, -1, 1, 0}), "train_mask: node 1 has no label (y is -1)"},
		{"edge_index", fixture.Npy("<i8", "3, 2", make([]int64, 6)), "shape [3 2], must be 2 × edges (transpose it"},
		{"edge_index", fixture.Npy("<i8", "2, 2", []int64{0, 1, 1, 4}), "edge_index: node 4 at [1, 1], must be 0 to 3"},
		{"edge_index", fixture.Npy("<f4", "2, 1", []float32{0, .5}), "elements of type float32, must be integers"},
		{"edge_weight", fixture.Npy("<f4", "2,", []float32{1, 1}), "array edge_weight: 2 weights for 3 edges"},
		{"edge_weight", fixture.Npy("<f4", "3,", []float32{1, 0, 1}), "array edge_weight: weight 0 of edge 1"},
		{"val_mask", fixture.Npy("|b1", "4,", []bool{true, false, true, false}),
			"val_mask: node 0 is in train_mask too, must be once"},
		{"val_mask", fixture.Npy("|i1", "4,", []int8{0, 0, 7, 0}), "array val_mask: 7 for node 2, must be 0 or 1"},
		{"train_mask", fixture.Npy("|b1", "4,", make([]bool, 4)), "train_mask: no node trains"},
		{"train_mask", fixture.Npy("|b1", "4, 0", []bool{}), "array train_mask: shape [4 0], expected [4]"},
		{"train_mask", fixture.Npy("<i8", "2,", []int64{0, 1}), "a number for each node (train_idx holds a list of nodes)"},
	})
}

// matrices returns the CSR arrays of a graph.
func matrices() map[string][]byte {
	return map[string][]byte{
		"adj_indptr": fixture.Npy("<i4", "4,", []int32{0, 1, 2, 2}), "adj_indices": fixture.Npy("<i4", "2,", []int32{1, 2}),
		"adj_data": fixture.Npy("<f4", "2,", []float32{1, 1}), "adj_shape": fixture.Npy("<i8", "2,", []int64{3, 3}),
		"attr_indptr":  fixture.Npy("<i4", "4,", []int32{0, 3, 3, 4}),
		"attr_indices": fixture.Npy("<i4", "4,", []int32{4, 1, 4, 0}),
		"attr_data":    fixture.Npy("<f4", "4,", []float32{1, 2, 3, 4}),
		"attr_shape":   fixture.Npy("<i8", "2,", []int64{3, 5}),
		"labels":       fixture.Npy("<i8", "3,", []int64{0, 1, 0}),
	}
}

func TestReadCSR(t *testing.T) {
	path := file(t, matrices())
	formattest.Run(t, npz.Name, path)
	g := fixture.Open(t, path)
	mattest.OK(t, g.X.(*mat.CSR).Validate(t.Context())) // its columns are in order
	fixture.Is(t, g, "sparse 0 2 0 0 4, 0 0 0 0 0, 4 0 0 0 0")
	dense := matrices()
	dense["attr_matrix"] = fixture.Npy("<i4", "3, 2", []int32{1, 2, 3, 4, 5, 6})
	g = fixture.Open(t, file(t, dense))
	fixture.Is(t, g, "dense 1 2, 3 4, 5 6")
	repeated := matrices() // entries of an adjacency are added up, like those of features
	repeated["adj_indptr"] = fixture.Npy("<i4", "4,", []int32{0, 3, 4, 4})
	repeated["adj_indices"] = fixture.Npy("<i4", "4,", []int32{2, 1, 2, 2})
	repeated["adj_data"] = fixture.Npy("<f4", "4,", []float32{1, 2, 3, .5})
	g = fixture.Open(t, file(t, repeated))
	fixture.Is(t, g, "edges 0-1*2 0-2*4 1-2*0.5")
	repeated["adj_data"] = fixture.Npy("|b1", "4,", []bool{true, true, true, true})
	g = fixture.Open(t, file(t, repeated))
	fixture.Is(t, g, "edges 0-1 0-2 1-2")
	two := fixture.Npy("<i8", "2,", []int64{0, 1})
	refuses(t, matrices(), []change{{"labels", two, "shape 3×5, must have 2 rows, one for each label"}})
}

// FuzzRead checks that no input causes a panic or unbounded memory use, in two arrays of each layout. Errors are
// allowed.
func FuzzRead(f *testing.F) {
	layouts := []func() map[string][]byte{members, heterophilous, dotted, matrices, objects}
	add := func(layout uint8, first, second string) {
		f.Add(layout, first, layouts[layout]()[first], second, layouts[layout]()[second], 1)
	}
	add(0, "edge_index", "train_mask")
	add(1, "edges", "train_masks")
	add(2, "adj_matrix.indptr", "attr_matrix.indices")
	add(3, "adj_indptr", "attr_indices")
	add(4, "adj_matrix", "node_attr")
	masks, four := fixture.Npy("|b1", "4, 4", make([]bool, 16)), fixture.Npy("<i8", "2, 2", make([]int64, 4))
	f.Add(uint8(0), "edge_index", fixture.Npy("<i8", "2, 0", []int64{}), "train_mask", masks, 3)
	f.Add(uint8(1), "edges", four, "train_masks", masks, 3)
	f.Add(uint8(3), "adj_shape", fixture.Npy("<i8", "2,", []int64{1 << 30, 1 << 30}), "adj_data", []byte("\x93NUMPY"), 0)
	f.Add(uint8(3), "attr_matrix", fixture.Npy("<f2", "3, 1", []uint16{1, 2, 3}), "labels",
		fixture.Npy(">u8", "3,", []uint64{1 << 63, 0, 0}), 0)
	f.Add(uint8(4), "adj_matrix", objectArray("]"), "node_attr", objectArray("N"), 0)
	f.Add(uint8(4), "adj_matrix", fixture.Npy("|O", "", []byte("\x80\x04\x95\x00")), "node_label", objectArray("]"), 0)
	f.Fuzz(func(t *testing.T, layout uint8, first string, one []byte, second string, two []byte, split int) {
		good := layouts[int(layout)%len(layouts)]()
		g, _, err := opened(t, fixture.With(fixture.With(good, first, one), second, two), split)
		if err == nil {
			mattest.OK(t, g.Validate(t.Context()))
		}
	})
}

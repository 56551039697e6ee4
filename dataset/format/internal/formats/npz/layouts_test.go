package npz_test

import (
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// heterophilous is the path 3–0–1–2 as PyG's HeterophilousGraphDataset downloads it: one edge per row, and masks with a
// row for each of two splits.
func heterophilous() map[string][]byte {
	return map[string][]byte{
		"node_features": fixture.Npy("<f4", "4, 2", []float32{1, 2, 3, 4, 5, 6, 7, 8}),
		"node_labels":   fixture.Npy("<i8", "4,", []int64{0, 1, 1, 0}),
		"edges":         fixture.Npy("<i8", "3, 2", []int64{0, 1, 1, 2, 3, 0}),
		"train_masks":   fixture.Npy("|b1", "2, 4", []bool{true, true, false, false, false, false, true, true}),
		"val_masks":     fixture.Npy("|b1", "2, 4", []bool{false, false, true, false, true, false, false, false}),
		"test_masks":    fixture.Npy("|b1", "2, 4", []bool{false, false, false, true, false, true, false, false}),
	}
}

// dotted is the same graph as gnn-benchmark writes it: CSR matrices whose names have dots.
func dotted() map[string][]byte {
	return map[string][]byte{
		"adj_matrix.data":     fixture.Npy("<f4", "3,", []float32{1, 1, 1}),
		"adj_matrix.indices":  fixture.Npy("<i4", "3,", []int32{1, 2, 0}),
		"adj_matrix.indptr":   fixture.Npy("<i4", "5,", []int32{0, 1, 2, 2, 3}),
		"adj_matrix.shape":    fixture.Npy("<i8", "2,", []int64{4, 4}),
		"attr_matrix.data":    fixture.Npy("<f4", "4,", []float32{1, 2, 3, 4}),
		"attr_matrix.indices": fixture.Npy("<i4", "4,", []int32{1, 0, 0, 1}),
		"attr_matrix.indptr":  fixture.Npy("<i4", "5,", []int32{0, 2, 3, 4, 4}),
		"attr_matrix.shape":   fixture.Npy("<i8", "2,", []int64{4, 2}),
		"labels":              fixture.Npy("<i8", "4,", []int64{0, 1, 1, 0}),
	}
}

// opened reads members with the given split, and returns the notes too.
func opened(t *testing.T, members map[string][]byte, split int) (*graph.Graph, []string, error) {
	t.Helper()
	var notes []string
	o := dataset.Options{Split: split, Note: func(s string) { notes = append(notes, s) }}
	g, err := o.Open(t.Context(), file(t, members))
	return g, notes, err
}

func TestReadHeterophilous(t *testing.T) {
	same(t, file(t, heterophilous()))
	g, notes, err := opened(t, heterophilous(), 1)
	mattest.OK(t, err)
	fixture.Is(t, g, "split 2 3 / 0 / 1; dense 1 2, 3 4, 5 6, 7 8")
	fixture.Notes(t, notes, "train_masks holds 2 splits: split 1 of 0 to 1 is used")
}

// TestSplits checks which split numbers are errors, and that a mask of one split counts for all.
func TestSplits(t *testing.T) {
	shared := heterophilous()
	shared["train_masks"] = fixture.Npy("|b1", "2, 4", []bool{true, true, false, false, true, false, true, false})
	delete(shared, "val_masks")
	shared["test_mask"] = fixture.Npy("|b1", "4,", []bool{false, false, false, true})
	fixture.Is(t, mattest.First(opened(t, shared, 1)), "split 0 2 /  / 3")
	none := fixture.With(dotted(), "unused", fixture.Npy("<i4", "1,", []int32{1}))
	few := fixture.With(heterophilous(), "val_masks", fixture.Npy("|b1", "3, 4", make([]bool, 12)))
	for _, c := range []struct {
		members map[string][]byte
		split   int
		want    string
	}{
		{heterophilous(), 2, "array train_masks: split 2, must be 0 to 1: the array holds 2 splits"},
		{heterophilous(), -1, "split -1, must be at least 0"},
		{members(), 1, "split 1, must be 0: train_mask holds 1 split"},
		{none, 1, "split 1, must be 0: the file holds no splits"},
	} {
		_, _, err := opened(t, c.members, c.split)
		fixture.Says(t, err, c.want)
	}
	mattest.First(opened(t, few, 0))
	text := fixture.Folder(t, fixture.Plain())
	const want = "split 1, must be 0: the format csv has one split"
	mattest.Fails(t, want)((dataset.Options{Split: 1}).Open(t.Context(), text))
}

func TestReadDotted(t *testing.T) {
	fixture.Is(t, fixture.Open(t, file(t, dotted())), "edges 0-1 0-3 1-2; y 0 1 1 0; sparse 2 1, 3 0, 0 4, 0 0")
}

// TestRefusesLayouts checks errors about the layouts of other programs.
func TestRefusesLayouts(t *testing.T) {
	refuses(t, heterophilous(), []change{
		{"edges", fixture.Npy("<i8", "3, 3", make([]int64, 9)), "edges: shape [3 3], must be edges × 2"},
		{"edges", fixture.Npy("<i8", "1, 2", []int64{0, 4}), "edges: node 4 at [0, 1], must be 0 to 3"},
		{"val_masks", fixture.Npy("|b1", "2, 3", make([]bool, 6)), "val_masks: shape [2 3], expected [4]"},
		{"test_masks", fixture.Npy("|i1", "1, 4", []int8{0, 2, 0, 0}), "test_masks: 2 for node 1"},
	})
	refuses(t, dotted(), []change{
		{"adj_matrix.shape", nil, "array adj_matrix.shape: missing"},
		{"adj_matrix.shape", fixture.Npy("<i8", "2,", []int64{4, 5}), "adj_matrix: shape 4×5, must be 4×4"},
		{"attr_matrix.indptr", fixture.Npy("<i4", "2,", []int32{0, 4}), "2 row pointers for 4 rows, expected 5"},
		{"attr_matrix.shape", fixture.Npy("<i8", "2,", []int64{3, 2}), "5 row pointers for 3 rows, expected 4"},
	})
}

package npz_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/npz"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// objectArray returns an .npy file with a pickled object, as numpy.savez writes it.
func objectArray(object string) []byte {
	pickled := fixture.Pickled(fixture.PickleObjects([]string{object}))
	return fixture.Npy("|O", "", pickled)
}

// objects is the path 0–1–2 with a loop, as three arrays.
func objects() map[string][]byte {
	adjacency := fixture.PickleCSR(3, 3, []int32{0, 1, 3, 4}, []int32{1, 0, 2, 2}, []int32{1, 1, 1, 1})
	features := fixture.PickleSparse("csc", 3, 2, map[string][]int32{
		"indptr": {0, 2, 3}, "indices": {0, 2, 1}, "data": {5, 6, 7}})
	return map[string][]byte{
		"adj_matrix": objectArray(adjacency), "node_attr": objectArray(features),
		"node_label": fixture.Npy("<i4", "3,", []int32{1, 2, 1}),
	}
}

func TestObjectContract(t *testing.T) {
	formattest.Run(t, npz.Name, file(t, objects()))
}

func TestReadObjects(t *testing.T) {
	fixture.Is(t, fixture.Open(t, file(t, objects())), "edges 0-1 1-2; sparse 5 0, 0 7, 6 0; y 0 1 0; classes 1|2")
	dense := objects()
	dense["adj_matrix"] = fixture.Npy("<i4", "3, 3", []int32{0, 1, 0, 1, 0, 1, 0, 1, 0})
	dense["node_attr"] = objectArray(fixture.PickleArray([]int32{5, 0, 0, 7, 6, 0}, 3, 2))
	fixture.Is(t, fixture.Open(t, file(t, dense)), "edges 0-1 1-2; dense 5 0, 0 7, 6 0; y 0 1 0")
}

// real checks the graph of the files that numpy and scipy wrote.
func real(t *testing.T, dir string) {
	t.Helper()
	fixture.Is(t, fixture.Open(t, dir), "edges 0-1 0-3 1-2; x 0 1 2, 0 1 2, 0 1 2, 0 1 2; y 0 1 1 0")
}

// TestReadFilesOfScipy reads files that numpy 2.4 and scipy 1.17 wrote (numpy.savez_compressed).
func TestReadFilesOfScipy(t *testing.T) {
	for _, name := range []string{"csr", "csc-coo", "arrays"} {
		t.Run(name, func(t *testing.T) {
			real(t, fixture.File(t, "own.npz", fixture.Base64(t, filepath.Join("testdata", name+".npz.b64"))))
		})
	}
	data := fixture.Base64(t, filepath.Join("testdata", "arrays.npz.b64"))
	fixture.Is(t, fixture.Open(t, fixture.File(t, "own.npz", data)), "split 0 1 / 2 / 3")
}

func TestReadFilesOfThisPython(t *testing.T) {
	dir := t.TempDir()
	mattest.Python(t, "numpy, scipy.sparse", `
import sys, numpy as np, scipy.sparse as sp
def wrap(x):
    a = np.empty((), dtype=object); a[()] = x; return a
a = sp.csr_matrix((np.ones(6), ([0,1,1,2,3,0], [1,0,2,1,0,3])), (4, 4))
x = np.arange(12).reshape(4, 3) % 3
np.savez(sys.argv[1], adj_matrix=wrap(a), node_attr=wrap(sp.coo_matrix(x)), node_label=np.array([0, 1, 1, 0]))`,
		filepath.Join(dir, "own.npz"))
	real(t, dir)
}

func TestRefusesObjects(t *testing.T) {
	refuses(t, objects(), []change{
		{"adj_matrix", objectArray("cos\nsystem\n" + fixture.PickleString("true") + "\x85R"),
			`own.npz: array adj_matrix: pickle uses the class "os.system"`},
		{"adj_matrix", objectArray(fixture.PickleCSR(9, 3, nil, nil, nil)), "adj_matrix: shape 9×3, must have 3 rows"},
		{"adj_matrix", objectArray(fixture.PickleCSR(3, 2, []int32{0, 0, 0, 0}, nil, nil)), "shape 3×2, must be 3×3"},
		{"adj_matrix", objectArray("]"), "array adj_matrix: found a list, expected an array"},
		{"adj_matrix", objectArray(fixture.PickleCSR(3, 3, []int32{0, 1, 1, 1}, []int32{1}, []int32{-1})),
			"weight -1 of edge 0–1"},
		{"adj_matrix", fixture.Npy("<i4", "2, 2", []int32{0, 1, 1, 0}), "adj_matrix: shape [2 2], must be [3 3]"},
		{"adj_matrix", objectArray(fixture.PickleCSR(3, 3, nil, nil, nil))[:150], "array adj_matrix: "},
		{"node_attr", objectArray("N"), "found nothing (None), expected an array"},
		{"node_label", nil, `"adj_matrix" (object), "node_attr" (object)`},
		{"node_label", objectArray("]"), "found a list, expected an array"},
		{"node_label", fixture.Npy("<i4", "3,", []int32{1, -7, 1}), "label -7 of node 1"},
		{"train_mask", fixture.Npy("|b1", "2,", []bool{true, false}), "array train_mask: shape [2], expected [3]"},
		{"train_idx", fixture.Npy("<i4", "1,", []int32{3}), "array train_idx: node 3 at place 0, must be 0 to 2"},
	})
}

// TestOtherFiles checks that a file without a graph is less certain, and that damaged files are errors.
func TestOtherFiles(t *testing.T) {
	path := file(t, map[string][]byte{"other": fixture.Npy("<i4", "1,", []int32{1})})
	mattest.Equal(t, (npz.Format{}).Recognise(path), format.Likely, "recognised with certainty")
	_, err := dataset.Options{}.Open(t.Context(), path)
	for _, want := range []string{
		"there is no array of edges (edge_index, edges, adj_t, adj_matrix, adj, A) and no array of features (x, ",
		`the file holds "other" (1 int32)`,
	} {
		fixture.Says(t, err, want)
	}
	data := mattest.Must(os.ReadFile(file(t, objects())))
	fixture.Refuses(t, map[string][]byte{"own.npz": data[:len(data)-30]}, "not an .npz file")
}

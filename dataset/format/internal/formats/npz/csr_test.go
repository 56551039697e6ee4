package npz_test

import (
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/npz"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
	"github.com/graph-condensation/cgc/mat"
)

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
	dir := fixture.Folder(t, map[string][]byte{"own.npz": fixture.Npz(matrices())})
	formattest.Run(t, npz.Name, filepath.Join(dir, "own.npz"))
	g := fixture.Open(t, dir)
	fixture.OK(t, g.X.(*mat.CSR).Validate(t.Context())) // its columns are in order
	fixture.Is(t, g, "sparse 0 2 0 0 4, 0 0 0 0 0, 4 0 0 0 0")
	dense := matrices()
	dense["attr_matrix"] = fixture.Npy("<i4", "3, 2", []int32{1, 2, 3, 4, 5, 6})
	g = fixture.Open(t, fixture.Folder(t, map[string][]byte{"own.npz": fixture.Npz(dense)}))
	fixture.Is(t, g, "dense 1 2, 3 4, 5 6")
	files := fixture.Npz(fixture.With(matrices(), "labels", fixture.Npy("<i8", "2,", []int64{0, 1})))
	fixture.Refuses(t, map[string][]byte{"own.npz": files}, "shape 3×5, must have 2 rows, one for each label")
}

// FuzzRead checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzCSR(f *testing.F) {
	f.Add("adj_indptr", matrices()["adj_indptr"])
	f.Add("attr_indices", matrices()["attr_indices"])
	f.Add("adj_shape", fixture.Npy("<i8", "2,", []int64{1 << 30, 1 << 30}))
	f.Add("attr_matrix", fixture.Npy("<f2", "3, 1", []uint16{1, 2, 3}))
	f.Add("labels", fixture.Npy(">u8", "3,", []uint64{1 << 63, 0, 0}))
	f.Add("adj_data", []byte("\x93NUMPY"))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		if _, known := matrices()[name]; !known {
			name = "attr_matrix"
		}
		files := map[string][]byte{"own.npz": fixture.Npz(fixture.With(matrices(), name, content))}
		fixture.Valid(t, filepath.Join(fixture.Folder(t, files), "own.npz"))
	})
}

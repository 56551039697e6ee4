package numpy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
)

// FuzzNpz checks that no input causes a panic or unbounded memory use, in the zip around arrays. Errors are allowed.
func FuzzNpz(f *testing.F) {
	f.Add(fixture.Npz(map[string][]byte{
		"indptr": fixture.Npy("<i8", "3,", []int64{0, 1, 2}), "indices": fixture.Npy("<i4", "2,", []int32{1, 0}),
		"data": fixture.Npy("<f4", "2,", []float32{1, 2}), "shape": fixture.Npy("<i8", "2,", []int64{2, 2}),
	}))
	f.Add(fixture.Npz(map[string][]byte{"x": fixture.Npy("<f8", "1, 1", []float64{0.5})}))
	f.Add(fixture.Npz(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "own.npz")
		fixture.OK(t, os.WriteFile(path, data, 0o600))
		z, err := numpy.OpenArchive(t.Context(), path)
		if err != nil {
			return
		}
		defer z.Close()
		_, _ = numpy.Member[float32](z, "x")
		if m, err := z.CSR(t.Context(), ""); err == nil {
			if err := m.Validate(t.Context()); err != nil && len(m.Indices) == 0 {
				t.Fatal(err)
			}
		}
	})
}

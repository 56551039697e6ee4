package text_test

import (
	"testing"

	"github.com/graph-condensation/cgc/dataset/internal/fixture"
)

// FuzzPacked looks for a panic and for memory without bound, in files that gzip packed. Errors are right.
func FuzzPacked(f *testing.F) {
	plain := fixture.Plain()
	f.Add(fixture.Packed(string(plain["edges.csv"])), fixture.Packed(string(plain["features.csv"])))
	f.Add([]byte("\x1f\x8b"), fixture.Packed(""))
	f.Fuzz(func(t *testing.T, edges, features []byte) {
		files := fixture.With(plain, "edges.csv", nil)
		files = fixture.With(files, "features.csv", nil)
		files["edges.csv.gz"], files["features.csv.gz"] = edges, features
		fixture.Valid(t, fixture.Folder(t, files))
	})
}

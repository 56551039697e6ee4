package text_test

import (
	"testing"

	"github.com/graph-condensation/cgc/dataset/internal/fixture"
)

// FuzzPacked checks that no input causes a panic or unbounded memory use, in files compressed by gzip. Errors are
// allowed.
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

package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// FuzzRead checks that no input causes a panic or unbounded memory use, in the file of a database. Any graph that is
// read must be valid.
func FuzzRead(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "people.sqlite"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "people.sqlite")
		mattest.OK(t, os.WriteFile(path, text, 0o600))
		if g, err := open(t.Context(), path, "", ""); err == nil {
			mattest.OK(t, g.Validate(t.Context()))
		}
	})
}

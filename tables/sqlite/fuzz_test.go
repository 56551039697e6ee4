package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead looks for a panic and for memory without bound, in the file of a database. What is read is valid.
func FuzzRead(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "people.sqlite"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "people.sqlite")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if g, err := open(t.Context(), path, "", ""); err == nil {
			if err := g.Validate(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

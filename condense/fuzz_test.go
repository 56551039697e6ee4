package condense_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	_ "github.com/graph-condensation/cgc/dataset" // registers the formats
	"github.com/graph-condensation/cgc/internal/mattest"
	_ "github.com/graph-condensation/cgc/rival/all"
)

// kinds are the file extensions of condensed graphs, except the extensions that module tables adds.
var kinds = []string{".safetensors", ".npz", ".pt", ".graphml", ".json"}

// FuzzLoad checks that loading a condensed graph of any format neither panics nor uses unbounded memory, and that a
// loaded graph is valid.
func FuzzLoad(f *testing.F) {
	c := whole(f)
	for i, kind := range kinds[:4] {
		path := filepath.Join(f.TempDir(), "small"+kind)
		mattest.OK(f, c.Save(f.Context(), path))
		text := mattest.Must(os.ReadFile(path))
		f.Add(uint8(i), text)
		f.Add(uint8(i), text[:len(text)-7])
	}
	f.Fuzz(func(t *testing.T, kind uint8, text []byte) {
		path := filepath.Join(t.TempDir(), "small"+kinds[int(kind)%len(kinds)])
		mattest.OK(t, os.WriteFile(path, text, 0o600))
		if small, err := condense.Load(path); err == nil {
			mattest.OK(t, small.Validate())
		}
	})
}

// FuzzNew checks that parameters of methods cause no panic, and that accepted parameters can be written as JSON again.
func FuzzNew(f *testing.F) {
	for _, name := range condense.Names() {
		m := mattest.Must(condense.New(name, nil))
		text := mattest.Must(json.Marshal(m))
		f.Add(name, text)
	}
	f.Add("cgc", []byte(`{"temperature":"inf","alpha":1e999}`))
	f.Fuzz(func(t *testing.T, name string, parameters []byte) {
		m, err := condense.New(name, parameters)
		if err != nil {
			return
		}
		if _, err := condense.Configuration(m, 3, 1); err != nil {
			t.Fatalf("%s: parameters %s are read, and not written: %v", name, parameters, err)
		}
	})
}

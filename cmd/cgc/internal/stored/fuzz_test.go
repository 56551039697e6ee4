package stored_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/propagate"
)

// FuzzRead checks that reading a file of embeddings neither panics nor uses unbounded memory. A file that is read
// without an error is valid, and so is its graph.
func FuzzRead(f *testing.F) {
	path := parts(f, stored.Origin{Rule: propagate.SGC, Hops: 1}, synth.Demo(), 0, 2)[0]
	text := mattest.Must(os.ReadFile(path))
	f.Add(text)
	f.Add(text[:100])
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "part.safetensors")
		mattest.OK(t, os.WriteFile(path, text, 0o600))
		file, err := stored.Read(path)
		if err != nil {
			return
		}
		mattest.OK(t, file.Validate())
		if g, err := file.Graph(t.Context()); err == nil {
			mattest.OK(t, g.Validate(t.Context()))
		}
	})
}

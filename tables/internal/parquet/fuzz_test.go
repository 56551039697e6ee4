package parquet_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// FuzzRead checks that no input causes a panic or unbounded memory use, in tables of nodes and of edges. Any graph that
// is read must be valid.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"pandas-snappy", "pyarrow-lists", "pyarrow-encodings", "integers", "duckdb"} {
		nodes, err := os.ReadFile(filepath.Join("testdata", name, "nodes.parquet"))
		if err != nil {
			f.Fatal(err)
		}
		edges, err := os.ReadFile(filepath.Join("testdata", name, "edges.parquet"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(nodes, edges)
	}
	f.Fuzz(func(t *testing.T, nodes, edges []byte) {
		dir := t.TempDir()
		for name, content := range map[string][]byte{"nodes.parquet": nodes, "edges.parquet": edges} {
			mattest.OK(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
		}
		if g, err := open(t.Context(), dir); err == nil {
			mattest.OK(t, g.Validate(t.Context()))
		}
	})
}

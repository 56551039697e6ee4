package rival_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
)

// FuzzResume checks that no file makes Resume panic, and that Resume returns step 0 if it fails.
func FuzzResume(f *testing.F) {
	path := filepath.Join(f.TempDir(), "state")
	ctx := rival.WithCheckpoint(f.Context(), path, 0)
	mattest.OK(f, rival.CheckpointOf(ctx).Save(ctx, "a", 7, []*mat.Dense{matrix(1, 2), matrix(3)}))
	text := mattest.Must(os.ReadFile(path))
	f.Add(text)
	f.Add(text[:20])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "state")
		mattest.OK(t, os.WriteFile(path, text, 0o600))
		k := rival.CheckpointOf(rival.WithCheckpoint(t.Context(), path, 0))
		step, err := k.Resume("a", []*mat.Dense{matrix(0, 0), matrix(0)})
		if (err == nil) != (step >= 1) {
			t.Fatalf("step %d, %v", step, err)
		}
	})
}

package rival_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
)

func matrix(values ...float32) *mat.Dense {
	return &mat.Dense{Rows: 1, Cols: len(values), Data: values}
}

func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	ctx := rival.WithCheckpoint(t.Context(), path, 0)
	k := rival.CheckpointOf(ctx)
	if step, err := k.Resume("a", nil); step != 0 || err != nil {
		t.Fatalf("without a file: step %d, %v", step, err)
	}
	mattest.OK(t, k.Save(ctx, "a", 7, []*mat.Dense{matrix(1, 2), matrix(3)}))
	state := []*mat.Dense{matrix(0, 0), matrix(0)}
	if step, err := k.Resume("a", state); step != 7 || err != nil ||
		!slices.Equal(state[0].Data, []float32{1, 2}) || state[1].Data[0] != 3 {
		t.Fatalf("step %d, state %v %v, %v", step, state[0], state[1], err)
	}
	for _, c := range []struct {
		identity, says string
		state          []*mat.Dense
	}{
		{"b", "belongs to another computation", state},
		{"a", "2 numbers in state.0000, expected 3", []*mat.Dense{matrix(0, 0, 0)}},
		{"a", "state.0002", append(slices.Clone(state), matrix(0))},
	} {
		mattest.Fails(t, c.says)(k.Resume(c.identity, c.state))
	}
	mattest.OK(t, os.WriteFile(path, []byte("no"), 0o666))
	if _, err := k.Resume("a", state); err == nil {
		t.Error("a file of two bytes is resumed")
	}
	mattest.OK(t, rival.RemoveCheckpoint(ctx))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// TestInterval checks that Save writes nothing before the interval is over, unless the context is done.
func TestInterval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	parent, cancel := context.WithCancel(t.Context())
	ctx := rival.WithCheckpoint(parent, path, time.Hour)
	k := rival.CheckpointOf(ctx)
	mattest.OK(t, k.Save(ctx, "a", 1, nil))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("written before the interval is over: %v", err)
	}
	cancel()
	mattest.OK(t, k.Save(ctx, "a", 2, nil))
	if step, err := k.Resume("a", nil); step != 2 || err != nil {
		t.Errorf("step %d, %v, want 2", step, err)
	}
}

// TestNone checks that a context without a path writes and reads nothing.
func TestNone(t *testing.T) {
	k := rival.CheckpointOf(t.Context())
	if step, err := k.Resume("a", nil); step != 0 || err != nil {
		t.Errorf("step %d, %v", step, err)
	}
	mattest.OK(t, k.Save(t.Context(), "a", 1, nil))
	if err := rival.RemoveCheckpoint(t.Context()); err != nil {
		t.Error(err)
	}
}

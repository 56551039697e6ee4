package csvfile

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A file of several pieces is read whole, and not at all once its context is done.
func TestRead(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 33<<16) // 33 MB
	file := filepath.Join(t.TempDir(), "nodes.csv")
	if err := os.WriteFile(file, want, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(t.Context(), file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, error %v, want %d bytes", len(got), err, len(want))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Read(ctx, file); err != context.Canceled {
		t.Errorf("error %v, want that the context is cancelled", err)
	}
}

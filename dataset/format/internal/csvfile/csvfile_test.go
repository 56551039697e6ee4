package csvfile

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
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
	packed := pack(t, want[:20<<20]) // it holds more than four times its bytes, so that the memory for it grows
	if got, err := Read(t.Context(), packed); err != nil || !bytes.Equal(got, want[:20<<20]) {
		t.Errorf("packed: %d bytes, error %v, want %d bytes", len(got), err, 20<<20)
	}
	if _, err := Read(ctx, packed); err != context.Canceled {
		t.Errorf("packed: error %v, want that the context is cancelled", err)
	}
	if got, err := Read(t.Context(), pack(t, make([]byte, 40<<20))); err == nil {
		t.Errorf("a file that is meant to fill memory: %d bytes", len(got))
	}
}

// pack writes a file that is packed by gzip.
func pack(t *testing.T, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nodes.csv.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return file
}

package dataset

import (
	"context"

	"github.com/graph-condensation/cgc/dataset/format"
	_ "github.com/graph-condensation/cgc/dataset/format/all"
	"github.com/graph-condensation/cgc/dataset/format/native"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Write writes g, which must be valid, to path, in the format with the extension of path or else in the native format.
// Bytes written are reported to package progress.
func Write(ctx context.Context, path string, g *graph.Graph) error { return WriteAs(ctx, path, "", g) }

// WriteStream writes s to path in the native format, and returns the changes to its edges. See format.StreamWriter.
func WriteStream(ctx context.Context, path string, s *format.Stream, o format.Storing) (_ graph.Changes, err error) {
	defer memory.Recover(&err)
	return native.Format.WriteStream(ctx, path, s, o)
}

// WriteAs writes g, which must be valid, to path in the format of the given name. If name is empty, it does what Write
// does. An error is a *format.UnknownError, says that the format can only be read, or comes from writing.
func WriteAs(ctx context.Context, path, name string, g *graph.Graph) (err error) {
	defer memory.Recover(&err)
	w, ok, err := format.WriterFor(path, name)
	if err != nil {
		return err
	}
	if !ok {
		w = native.Format
	}
	return w.Write(ctx, path, g)
}

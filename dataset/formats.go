package dataset

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/dataset/format"
	_ "github.com/graph-condensation/cgc/dataset/format/all"
	"github.com/graph-condensation/cgc/dataset/format/native"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Write writes g to path, in the format with the extension of path. Bytes written are reported to package progress. An
// error about the extension is a *format.UnknownExtensionError; programs that import package tables know more of them.
func Write(ctx context.Context, path string, g *graph.Graph) error { return WriteAs(ctx, path, "", g) }

// WriteStream writes s to path in the native format, and returns the changes to its edges. See format.StreamWriter.
func WriteStream(ctx context.Context, path string, s *format.Stream, o format.Storing) (_ graph.Changes, err error) {
	defer memory.Recover(&err)
	return native.Format.WriteStream(ctx, path, s, o)
}

// WriteAs writes g to path in the format of the given name. If name is empty, it does what Write does. An error is a
// *format.UnknownError, says that the format can only be read or that g is invalid, or comes from writing.
func WriteAs(ctx context.Context, path, name string, g *graph.Graph) (err error) {
	defer memory.Recover(&err)
	w, ok, err := format.WriterFor(path, name)
	if err != nil {
		return err
	}
	if !ok {
		known := format.Writers()
		return &format.UnknownExtensionError{Path: path, Extensions: format.Extensions(known), Formats: known}
	}
	if err := g.Check(ctx); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if g.Causal { // no format says so
		return fmt.Errorf("writing %s: graph %s has only edges to earlier nodes, must have all edges", path, g.Name)
	}
	return w.Write(ctx, path, g)
}

package dataset

import (
	"context"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/arrays"
	"github.com/graph-condensation/cgc/dataset/format/graphml"
	"github.com/graph-condensation/cgc/dataset/format/named"
	"github.com/graph-condensation/cgc/dataset/format/native"
	"github.com/graph-condensation/cgc/dataset/format/ogb"
	"github.com/graph-condensation/cgc/dataset/format/planetoid"
	"github.com/graph-condensation/cgc/dataset/format/pyg"
	"github.com/graph-condensation/cgc/dataset/format/saint"
	"github.com/graph-condensation/cgc/dataset/format/scipy"
	"github.com/graph-condensation/cgc/dataset/format/text"
	"github.com/graph-condensation/cgc/graph"
)

// The built-in formats are registered here, so that nobody needs a blank import. A name stands for the first that has
// it.
func init() {
	format.Register(native.Name, native.Format{})
	format.Register(arrays.Name, arrays.Format{})
	format.Register(scipy.Name, scipy.Format{})
	format.Register(pyg.Name, pyg.Format{})
	format.Register(planetoid.Name, planetoid.Format{})
	format.Register(saint.Name, saint.Format{})
	format.Register(graphml.Name, graphml.Format{})
	format.Register(ogb.Name, ogb.Format{})
	format.Register(named.Name, named.Format{})
	format.Register(text.Name, text.Format{})
}

// Write writes g, which must be valid, to path: in the format whose extension path has, else in this project's own.
// Bytes written are told to package progress.
func Write(ctx context.Context, path string, g *graph.Graph) error { return WriteAs(ctx, path, "", g) }

// WriteAs writes g, which must be valid, to path in the format of the given name. An empty name means Write. An error
// is a *format.Unknown, a *format.ReadOnly, or that of writing.
func WriteAs(ctx context.Context, path, name string, g *graph.Graph) error {
	w, ok, err := format.WriterFor(path, name)
	if err != nil {
		return err
	}
	if !ok {
		w = native.Format{}
	}
	return w.Write(ctx, path, g)
}

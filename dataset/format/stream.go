package format

import (
	"context"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// StreamWriter is a Writer that takes a graph in parts.
type StreamWriter interface {
	Writer
	// WriteStream writes s, and says what became of its edges. The file is that of Write for the same graph. It appears
	// whole or not at all. Temporary files stand beside it, in the folder ".BASE.partial"; what a killed process left of
	// them is removed first.
	WriteStream(ctx context.Context, path string, s *Stream, o Storing) (graph.Changes, error)
}

// Storing says how a graph is written that is delivered in parts.
type Storing struct {
	// Storage is how features are kept. Empty means mat.F32.
	Storage mat.Storage
	// Width is the number of columns of a panel of features; 0 means one panel.
	Width int
	// Memory bounds, in bytes, what sorting edges takes.
	Memory int64
}

// Stream is a graph that is delivered in parts.
type Stream struct {
	// Name, Y, Classes, Split, IDs and ClassNames are as in graph.Builder.
	Name            string
	Y               []int32
	Classes         int
	Split           graph.Split
	IDs, ClassNames []string
	// Nodes and Features are the numbers of rows and columns of X.
	Nodes, Features int

	// Edges calls add with parts of the list of edges, in any order, with one call at a time or several. add checks them,
	// and keeps nothing.
	Edges func(ctx context.Context, add func(graph.Edges) error) error
	// Entries is how many edges to expect. The result does not depend on it.
	Entries int64
	// Weighted says that edges may have weights other than 1.
	Weighted bool
	// Exact, if not 0, is the number of undirected edges to keep: the others are dropped, evenly spaced in the order of
	// rows. More is called if there are too few, with the number that is missing, and adds edges as Edges does.
	Exact int64
	More  func(ctx context.Context, missing int64, add func(graph.Edges) error) error
	// Adj is a valid adjacency in place of Edges. It may lie in a file.
	Adj *mat.CSR

	// Rows calls put with blocks of features, each once, in any order, with one call at a time or several. A block holds
	// the features of nodes first, first+1, …. put keeps nothing.
	Rows func(ctx context.Context, put func(first int, block *mat.Dense) error) error
	// Close, if not nil, ends the use of the files.
	Close func() error
}

// StreamOf delivers a graph that is at hand, and may lie in a file. Its features are not sparse.
func StreamOf(g *graph.Graph) *Stream {
	s := &Stream{
		Name: g.Name, Y: g.Y, Classes: g.Classes, Split: g.Split, IDs: g.IDs, ClassNames: g.ClassNames,
		Nodes: g.Nodes(), Features: g.Features(), Adj: g.Adj,
	}
	s.Rows = RowsOf(g.X)
	return s
}

// RowsOf delivers the rows of x, as Stream.Rows does.
func RowsOf(x mat.Matrix) func(ctx context.Context, put func(first int, block *mat.Dense) error) error {
	return func(ctx context.Context, put func(first int, block *mat.Dense) error) error {
		first := 0
		for block, err := range mat.Blocks(x) {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = put(first, block)
			}
			if err != nil {
				return err
			}
			first += block.Rows
		}
		return nil
	}
}

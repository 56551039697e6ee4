package format

import (
	"context"
	"fmt"
	"os"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Streamer is a Format that delivers a graph in parts, so that the graph need not be held.
type Streamer interface {
	Format
	// Stream opens the graph at path, which Recognise has recognised, and returns notes as Read does. The graph is that of
	// Read. Labels, split and names are read at once. If they take more than memory bytes, that is an error. What the
	// stream opens stays open until Close.
	Stream(ctx context.Context, path string, memory int64) (s *Stream, notes []string, err error)
}

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

// Plan is what it takes to write a stream, in bytes.
type Plan struct {
	// Read is what is read from the files of the graph, packed if they are.
	Read int64 `json:"read_bytes"`
	// Scratch is the most that temporary files hold at a time.
	Scratch int64 `json:"scratch_bytes"`
	// File is the length of the file that is written, at most.
	File int64 `json:"file_bytes"`
	// Disk is what the disk must have free: Scratch or File, whichever is more. Temporary files go as the file grows.
	Disk int64 `json:"disk_bytes"`
}

// Plan returns what writing s takes. It is about as exact as s.Entries.
func (s *Stream) Plan(o Storing) Plan {
	perEdge, entry := int64(16), int64(4) // a key of 8 bytes for each direction
	if s.Weighted {
		perEdge, entry = 24, 8
	}
	storage := o.Storage
	if storage == "" {
		storage = mat.F32
	}
	edges := s.Entries
	if s.Exact > 0 {
		edges = s.Exact
	}
	p := Plan{Read: s.Size, Scratch: perEdge * s.Entries}
	if s.Adj != nil {
		p.Scratch, edges = 0, int64(s.Adj.NNZ()/2)
	}
	n := int64(s.Nodes)
	p.File = n*(8+4+4) + 2*entry*edges + n*int64(s.Features)*int64(storage.Bytes())
	if s.Names != nil {
		p.File += 8*n + s.NameBytes
	}
	p.Disk = max(p.Scratch, p.File)
	return p
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
	// Weighted says that edges may have weights other than 1. If it is false and they have, the writer begins again.
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
	// Tells says that Edges and Rows report to package progress themselves.
	Tells bool
	// Held is how many bytes the stream takes, its labels and its split included. Size is how many bytes are read from
	// files.
	Held, Size int64
	// Names delivers the names of all nodes in place of IDs, if it is not nil. It calls put with names that follow each
	// other, one after the other in text; ends tells where each ends there. put keeps nothing. NameBytes is the number of
	// bytes of all names.
	Names     func(ctx context.Context, put func(text []byte, ends []int) error) error
	NameBytes int64
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

// heldByNode is what a stream holds for each node: its label, its part of the split as a number and as a mark, and the
// numbers of the split in order.
const heldByNode = 4 + 4 + 1 + 4

// SizeOf returns the bytes of files. A file that is not there has none.
func SizeOf(paths ...string) (size int64) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size
}

// Hold returns the bytes that labels and split of n nodes take, and an error if they are more than memory.
func Hold(n, memory int64) (int64, error) {
	if held := heldByNode * n; held > memory {
		return held, fmt.Errorf("labels and split of %d nodes take %d MB of memory, want at least that, not %d MB",
			n, held/1e6+1, memory/1e6)
	}
	return heldByNode * n, nil
}

// Check does for the labels and the split of s what graph.Builder does, and looks at the parts: if there is a split, at
// least one node trains. file is what an error is about, and parts gives the file of "labels" and of "split".
func (s *Stream) Check(file string, parts map[string]string) (err error) {
	if s.Classes, err = graph.CheckLabels(s.Nodes, &s.Y, s.Classes, &s.Split); err != nil {
		return Locate(err, file, parts)
	}
	if own := parts["split"]; own != "" {
		file = own
	}
	return CheckTraining(file, &graph.Graph{Split: s.Split})
}

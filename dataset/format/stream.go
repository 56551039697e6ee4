package format

import (
	"cmp"
	"context"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Streamer is a Format that delivers a graph in parts, so that the graph may exceed memory.
type Streamer interface {
	Format
	// Stream opens the graph at path, which Recognise has recognised, and returns notes as Read does. The graph equals the
	// result of Read. Labels, split and IDs are read immediately. It is an error if they need more than memory bytes.
	// Files stay open until Close.
	Stream(ctx context.Context, path string, memory int64) (s *Stream, notes []string, err error)
}

// StreamWriter is a Writer that accepts a graph in parts.
type StreamWriter interface {
	Writer
	// WriteStream writes s, and returns the changes to its edges. The file equals the file that Write produces for the
	// same graph, and is written atomically. Temporary files are in the folder ".BASE.partial" next to it; the temporary
	// files of a killed process are removed first.
	WriteStream(ctx context.Context, path string, s *Stream, o Storing) (graph.Changes, error)
}

// Storing are the options of WriteStream.
type Storing struct {
	// Storage is the number format of features. Empty means mat.F32.
	Storage mat.Storage
	// Width is the number of columns of a panel of features; 0 means one panel.
	Width int
	// Memory is the memory limit for sorting edges, in bytes.
	Memory int64
}

// Plan estimates the bytes that writing a stream reads and writes.
type Plan struct {
	// Read is the number of bytes read from the files of the graph, compressed if they are.
	Read int64 `json:"read_bytes"`
	// Scratch is the largest total size of temporary files.
	Scratch int64 `json:"scratch_bytes"`
	// File is about the size of the written file, or more.
	File int64 `json:"file_bytes"`
	// Disk is the free space needed: the larger of Scratch and File. Temporary files shrink as the file grows.
	Disk int64 `json:"disk_bytes"`
}

// Plan estimates the cost of writing s. The estimate is about as accurate as s.Entries.
func (s *Stream) Plan(o Storing) Plan {
	perEdge, entry := int64(16), int64(4) // a key of 8 bytes for each direction
	if s.Weighted {
		perEdge, entry = 24, 8
	}
	storage, edges := cmp.Or(o.Storage, mat.F32), cmp.Or(s.Exact, s.Entries)
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
	// Name, Y, Classes, Split, IDs, ClassNames and FeatureNames are as in graph.Builder.
	Name                          string
	Y                             []int32
	Classes                       int
	Split                         graph.Split
	IDs, ClassNames, FeatureNames []string
	// Nodes and Features are the numbers of rows and columns of X.
	Nodes, Features int

	// Edges calls add with parts of the list of edges, in any order, possibly from several goroutines. add checks them,
	// and must not retain them.
	Edges func(ctx context.Context, add func(graph.Edges) error) error
	// Entries is the expected number of edges. The result does not depend on it.
	Entries int64
	// Weighted reports whether edges may have weights other than 1. If it is false and a weight differs from 1, the writer
	// starts again.
	Weighted bool
	// Exact, if not 0, is the number of undirected edges to keep: all other edges are dropped, evenly spaced in the order
	// of rows. If there are too few, More is called with the missing number, and adds edges as Edges does.
	Exact int64
	More  func(ctx context.Context, missing int64, add func(graph.Edges) error) error
	// Adj, if not nil, is a valid adjacency that replaces Edges. It may be mapped from a file.
	Adj *mat.CSR

	// Rows calls put with blocks of features, each once, in any order, possibly from several goroutines. A block holds the
	// features of nodes first, first+1, …. put must not retain it.
	Rows func(ctx context.Context, put func(first int, block *mat.Dense) error) error
	// X, if not nil, replaces Rows, for a reader that has all features in memory.
	X *mat.Dense
	// Tells reports whether Edges and Rows report to package progress themselves.
	Tells bool
	// Path is the path of the graph. Files maps each part (graph.PartError) that has a separate file to that file. Locate
	// adds them to errors.
	Path  string
	Files map[string]string
	// Held is the memory use of the stream in bytes, including labels and split. Size is the number of bytes read from
	// files.
	Held, Size int64
	// Names delivers the names of all nodes in place of IDs, if it is not nil. It calls put with consecutive names,
	// concatenated in text; ends[i] is the end offset of name i. put must not retain them. NameBytes is the total length
	// of all names in bytes.
	Names     func(ctx context.Context, put func(text []byte, ends []int) error) error
	NameBytes int64
	// Close, if not nil, closes the files.
	Close func() error
}

// StreamOf streams g, whose features must not be sparse.
func StreamOf(g *graph.Graph) *Stream {
	rows := func(ctx context.Context, put func(first int, block *mat.Dense) error) error {
		first := 0
		for block, err := range mat.Blocks(g.X) {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			if err := put(first, block); err != nil {
				return err
			}
			first += block.Rows
		}
		return nil
	}
	return &Stream{
		Name: g.Name, Y: g.Y, Classes: g.Classes, Split: g.Split, IDs: g.IDs, ClassNames: g.ClassNames,
		FeatureNames: g.FeatureNames, Nodes: g.Nodes(), Features: g.Features(), Adj: g.Adj, Rows: rows,
	}
}

// Check checks labels and split as graph.Builder does. A split must have at least one training node.
func (s *Stream) Check() (err error) {
	if s.Classes, err = graph.CheckLabels(s.Nodes, &s.Y, s.Classes, &s.Split); err != nil {
		return s.Locate(err)
	}
	return checkTraining(cmp.Or(s.Files["split"], s.Path), &graph.Graph{Split: s.Split})
}

// Locate adds the file to an error about a part of the graph. Other errors are returned unchanged, and so are all
// errors if Path is empty.
func (s *Stream) Locate(err error) error {
	if s.Path == "" {
		return err
	}
	return Locate(err, s.Path, s.Files)
}

// Package table builds a graph from a table of nodes and a table of edges. Nodes and classes may have names.
//
// The formats that use it differ only in the source of the rows: .csv files, Parquet or a database. Each implements
// Table.
package table

import (
	"context"
	"math"
	"sync"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// Table is a table whose rows are read in runs.
type Table interface {
	// Name names the table in messages about another table: "nodes.csv". File names the table in a *format.ReadError: a
	// path, or the path and the name.
	Name() string
	File() string
	// Header returns the names of the columns. No two are equal.
	Header() []string
	// Runs calls use with a reader for each run of rows, and the number of the run, from several goroutines. The cells of
	// columns that are not among the given ones may be null; nil means all columns. Each call gives the same runs. The
	// error comes from the first run that fails.
	Runs(ctx context.Context, columns []int, use func(run int, r Rows) error) error
	// Bytes estimates the number of bytes that Runs reads from files, and Most the number of rows.
	Bytes() int64
	Most() (int64, error)
	// Place describes the location of a row, counted from 0, such as "line 2" or "row 1".
	Place(row int) string
	// Fail returns a *format.ReadError about a row, or about the header if row is −1.
	Fail(row int, err error) error
}

// Rows reads a run of rows.
type Rows interface {
	// Read returns the cells of the next row, one for each column, or io.EOF. The next call overwrites the cells and their
	// lists, but not the bytes of text. An error about the content is a *format.ReadError.
	Read() ([]Cell, error)
	// At returns the position of the last row. Fail returns a *format.ReadError about the row at a position.
	At() int
	Fail(at int, err error) error
	// About estimates the number of rows that are left.
	About() int
}

// Pair is a graph as two tables.
type Pair struct {
	// Name becomes the name of the graph.
	Name string
	// Nodes has a row for each node: id, label, split (or three masks) if there is one, and numbers as features in all
	// other columns. A column in which pandas wrote an index, such as an unnamed first column, is left out with a note.
	// Each column may have several names, such as node_id for id. A label or a split may be empty.
	Nodes Table
	// Edges has a row for each edge: source and target, which are ids of Nodes, and weight if there is one. It is called
	// after Nodes is read.
	Edges func(ctx context.Context) (Table, error)
	// Sort numbers the nodes in the order of their ids: by value if all are integers, else by their bytes. It is for rows
	// without a fixed order, such as rows of a database. Otherwise row i is node i.
	Sort bool
	// Unlabelled allows a missing column of labels. The graph then has no split.
	Unlabelled bool
	// FeatureNames, if not nil, returns the names of n features, or nil. Otherwise, the names of their columns are taken.
	FeatureNames func(n int) ([]string, error)
	// Known, if not nil, holds the classes of the graph. Otherwise they follow from the labels.
	Known *Known
}

// Tabular is a Format whose graphs are two tables.
type Tabular interface {
	format.Format
	// Tables calls use with the tables of path, which may be read until use returns, and returns its error. Only databases
	// have queries.
	Tables(ctx context.Context, path string, q format.Queries, use func(context.Context, Pair) error) error
}

// Read reads the graph whose tables are at path, as Pair.Graph does.
func Read(ctx context.Context, f Tabular, path string, q format.Queries, unlabelled bool) (
	g *graph.Graph, notes []string, err error,
) {
	err = f.Tables(ctx, path, q, func(ctx context.Context, p Pair) (err error) {
		p.Unlabelled = unlabelled
		g, notes, err = p.Graph(ctx)
		return err
	})
	return g, notes, err
}

// Known are the classes that a file describes.
type Known struct {
	// Count is the number of classes. Names are their names, or nil.
	Count int
	Names []string
	// Class returns the class of a label, or graph.Unlabelled.
	Class func(label string) (int32, error)
}

// Graph reads each table once and returns the graph, and a sentence for each change. Integer labels from 0 with few
// gaps are the classes, and −1 means no label. Other labels become graph.Graph.ClassNames, in order: words, integers
// that do not start at 0, codes such as 4501, and the two labels −1 and 1. Ids are compared as text. They become
// graph.Graph.IDs, unless id i is the number i for each node.
//
// The result depends neither on how the rows are divided into runs, nor on the number of threads.
func (p Pair) Graph(ctx context.Context) (*graph.Graph, []string, error) {
	s, notes, err := p.open(ctx, math.MaxInt64, true)
	if err != nil {
		return nil, nil, err
	}
	g, changes, err := s.Graph(ctx)
	if err != nil {
		return nil, nil, err
	}
	return g, append(notes, content.EdgeNotes(g.Name, changes)...), nil
}

// Stream delivers the graph that Graph returns, in parts. Sort must be false. Ids are looked up in a table of 20 bytes
// per id, which is not needed if id i is the number i. It is an error if that table, labels and split need more than
// memory bytes. The rows of nodes are read three times: for ids, for names and for features.
func (p Pair) Stream(ctx context.Context, memory int64) (*format.Stream, []string, error) {
	return p.open(ctx, memory, false)
}

// open returns a stream. If hold is true, ids and features are kept in memory, and the nodes are read once.
func (p Pair) open(ctx context.Context, memory int64, hold bool) (*format.Stream, []string, error) {
	c, err := withFeatures(p.Nodes, !p.Unlabelled)
	if err != nil {
		return nil, nil, err
	}
	n, err := readNodes(ctx, p.Nodes, c, p.Known, memory, hold)
	if err != nil {
		return nil, nil, err
	}
	s := &format.Stream{
		Name: p.Name, Nodes: n.at.Len(), Features: n.width(), FeatureNames: n.featureNames(), Path: p.Nodes.File(),
		Rows: n.rows,
	}
	if p.FeatureNames != nil {
		if s.FeatureNames, err = p.FeatureNames(s.Features); err != nil {
			return nil, nil, &format.ReadError{File: s.Path, Err: err}
		}
	}
	if s.Held, err = content.Hold(int64(s.Nodes), memory-n.at.Bytes()); err != nil {
		return nil, nil, &format.ReadError{File: s.Path, Err: err}
	}
	s.Held += n.at.Bytes()
	if err := n.classes(s); err != nil {
		return nil, nil, err
	}
	notes := n.notes()
	if hold {
		if s.X, err = n.matrix(ctx); err != nil {
			return nil, nil, err
		}
		if p.Sort {
			if err := n.sort(ctx, s.Y, s.X); err != nil {
				return nil, nil, err
			}
		}
	}
	switch {
	case hold && !numbered(n.ids):
		s.IDs = n.ids
	case !hold && !n.at.Numbered():
		s.Names, s.NameBytes = n.names, n.nameBytes
	}
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	edges, err := p.Edges(ctx)
	if err != nil {
		return nil, nil, err
	}
	ends, more, err := findEnds(edges)
	if err != nil {
		return nil, nil, err
	}
	if s.Entries, err = edges.Most(); err != nil {
		return nil, nil, err
	}
	s.Weighted, s.Files = ends.weight >= 0, map[string]string{"edges": edges.File()}
	s.Edges = func(ctx context.Context, add func(graph.Edges) error) error { return n.edges(ctx, edges, ends, add) }
	s.Size = p.Nodes.Bytes()*2 + edges.Bytes()
	return s, append(notes, more...), nil
}

// Each calls use for the items that next returns, numbered from 0, from several goroutines, until next returns false or
// something fails. Calls start in order. The error comes from next, or from the first item for which use failed.
func Each[T any](
	ctx context.Context, next func() (item T, more bool, err error), use func(k int, item T) error,
) error {
	return parallel.Each(ctx, next, use)
}

// turns makes concurrent readers of runs act one after another, in the order of the runs.
type turns struct {
	mu     sync.Mutex
	moved  *sync.Cond
	next   int
	failed bool
}

func newTurns() *turns {
	t := &turns{}
	t.moved = sync.NewCond(&t.mu)
	return t
}

// take calls f after all earlier runs. It does not call f after an error.
func (t *turns) take(run int, f func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next < run && !t.failed {
		t.moved.Wait()
	}
	if t.failed {
		return nil // an earlier run has returned the error
	}
	err := f()
	t.next, t.failed = run+1, err != nil
	t.moved.Broadcast()
	return err
}

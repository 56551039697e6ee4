// Package table makes a graph of two tables: one of nodes and one of edges, whose nodes and classes may have names.
//
// Formats differ in where the rows come from, and in nothing else: a folder of .csv files, Parquet, a database. Each
// implements Table.
package table

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/ids"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Table is a table that is read once.
type Table interface {
	// Name is the name of the table in sentences about another one: "nodes.csv". File is what stands for it in a
	// *format.ReadError: a path, or the path and the name.
	Name() string
	File() string
	// Header returns the names of the columns. No two are equal.
	Header() []string
	// Parts returns readers of the runs of rows that make up the table, in their order. Several are read at a time.
	Parts(ctx context.Context) ([]Rows, error)
	// Place says where a row is, counted from 0: "line 2", "row 1".
	Place(row int) string
	// Fail returns a *format.ReadError about a row, or about the header if row is −1.
	Fail(row int, err error) error
}

// Rows reads a part of a table.
type Rows interface {
	// Read returns the cells of the next row, one for each column, or io.EOF. The next call overwrites the cells and
	// their lists, but not the bytes of their texts. An error about the content is a *format.ReadError.
	Read() ([]Cell, error)
	// At returns where the last row is. Fail returns a *format.ReadError about the row that was there.
	At() int
	Fail(at int, err error) error
	// About returns about how many rows there are still to be read, so that memory can be taken at once.
	About() int
}

// Columns of the two tables, each by the names that it may have, in any case of letters.
var (
	idNames     = []string{"id", "node_id", "node"}
	labelNames  = []string{"label", "class", "y"}
	splitNames  = []string{"split", "part"}
	sourceNames = []string{"source", "src_id", "src"}
	targetNames = []string{"target", "dst_id", "dst"}
	weightNames = []string{"weight"}
)

// IDColumn returns the place of the column in header that a table of nodes has its ids in, or −1.
func IDColumn(header []string) int { return column(header, idNames) }

// column returns the place of the first of the names that is a column, or −1.
func column(header, names []string) int {
	for _, name := range names {
		for i, h := range header {
			if strings.EqualFold(h, name) {
				return i
			}
		}
	}
	return -1
}

// Pair is a graph as two tables.
type Pair struct {
	// Name becomes the name of the graph.
	Name string
	// Nodes has a row for each node: id, label, split if there is one, and numbers as features in all other columns.
	// Several names are taken for each, such as node_id for id. A label or a split may be empty.
	Nodes Table
	// Edges has a row for each edge: source and target, which are ids of Nodes, and weight if there is one. It is called
	// after Nodes is read.
	Edges func(ctx context.Context) (Table, error)
	// Sort says that the rows of Nodes come in no order that lasts, as those of a database. Nodes are then numbered in the
	// order of their ids: by value if all are whole numbers, else by their bytes. Otherwise row i is node i.
	Sort bool
}

// Graph reads both tables and returns the graph, and a sentence for each thing that was changed. Labels that are names
// become classes in sorted order. Labels that are whole numbers and start at 1 are moved to start at 0. Ids are
// compared as text. They become graph.Graph.IDs, unless id i is the number i for each node.
//
// The result does not depend on how the rows are divided into parts, nor on the number of threads.
func (p Pair) Graph(ctx context.Context) (*graph.Graph, []string, error) {
	n, err := readNodes(ctx, p.Nodes)
	if err != nil {
		return nil, nil, err
	}
	b := graph.Builder{Name: p.Name, Nodes: len(n.ids)}
	if b.Y, b.ClassNames, err = n.labels.classes(p.Nodes); err != nil {
		return nil, nil, err
	}
	if err := n.checkSplit(b.Y); err != nil {
		return nil, nil, err
	}
	notes := n.notes(ctx)
	edges, err := p.Edges(ctx)
	if err != nil {
		return nil, nil, err
	}
	if b.Edges, err = readEdges(ctx, edges, p.Nodes.Name(), n.at); err != nil {
		return nil, nil, err
	}
	if p.Sort {
		if err := n.sort(ctx, &b); err != nil {
			return nil, nil, err
		}
	}
	b.X = &mat.Dense{Rows: len(n.ids), Cols: len(n.x) / len(n.ids), Data: n.x}
	b.Split = n.split
	if !ids.Numbered(n.ids) {
		b.IDs = n.ids
	}
	g, changes, err := b.GraphContext(ctx)
	if err != nil {
		return nil, nil, format.Locate(err, p.Nodes.File(), map[string]string{"edges": edges.File()})
	}
	return g, append(notes, format.Notes(g, changes)...), format.CheckTraining(p.Nodes.File(), g)
}

// collect calls f for each part of t, several at a time. parts holds what f returned, in the order of t, up to the
// first part with an error. err is that error, or ctx's. It reports the parts that are done.
func collect[T any](ctx context.Context, t Table, f func(r Rows) (T, error)) (parts []T, err error) {
	rows, err := t.Parts(ctx)
	if err != nil {
		return nil, err
	}
	parts, errs := make([]T, len(rows)), make([]error, len(rows))
	var failed atomic.Int64 // the first part that is known to have failed
	failed.Store(int64(len(rows)))
	count, stage := progress.NewCounter(0, len(rows)), "reading "+t.Name()
	err = parallel.ForContext(ctx, len(rows), 1, func(k, _ int) {
		defer count.Add(ctx, stage)
		if failed.Load() < int64(k) {
			return // the error is that of an earlier part
		}
		if parts[k], errs[k] = f(rows[k]); errs[k] != nil {
			for first := failed.Load(); int64(k) < first && !failed.CompareAndSwap(first, int64(k)); {
				first = failed.Load()
			}
		}
	})
	for k, wrong := range errs {
		if wrong != nil && err == nil {
			return parts[:k+1], wrong
		}
	}
	return parts, err
}

// failHeader returns an error about the header of t.
func failHeader(t Table, text string, args ...any) error {
	return t.Fail(-1, fmt.Errorf(text, args...))
}

// failAll returns an error about t as a whole.
func failAll(t Table, text string, args ...any) error {
	return &format.ReadError{File: t.File(), Err: fmt.Errorf(text, args...)}
}

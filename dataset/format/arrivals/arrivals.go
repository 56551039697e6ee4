// Package arrivals reads new nodes and their edges: for a trained model that predicts their classes without the graph,
// and for propagated features of a graph that grows.
package arrivals

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/named"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
)

// A Source is where new nodes are: a folder of .csv or Parquet files, a database, or the rows of one that queries
// select.
type Source struct {
	Path    string
	Queries format.Queries
}

// tables calls use with the tables of the source.
func (s Source) tables(ctx context.Context, use func(context.Context, table.Pair) error) error {
	found, err := format.Recognise(s.Path)
	f, is := found.Format.(table.Tabular)
	if info, failed := os.Stat(s.Path); !is && failed == nil && info.IsDir() {
		f, is = named.Format{}, true // says what is missing
	}
	if !is {
		return cmp.Or(err, format.Wrong(format.Shown(s.Path),
			"new nodes must be in a folder with nodes.csv and edges.csv, in Parquet files or in a database"))
	}
	if _, err := s.database(f); err != nil {
		return err
	}
	return f.Tables(ctx, s.Path, s.Queries, use)
}

// database reports whether a source of format f is a database. If it is not, queries are an error.
func (s Source) database(f format.Format) (is bool, err error) {
	if _, is = f.(format.Querier); !is && s.Queries != (format.Queries{}) {
		err = format.Wrong(format.Shown(s.Path), "queries are for databases")
	}
	return is, err
}

// Read reads nodes (id and features; label and split are not used) and edges (source, target and weight). known are the
// ids of the count known nodes. See table.Pair.Arrivals.
func (s Source) Read(ctx context.Context, known []string, count int) (*table.Arrivals, []string, error) {
	return s.read(ctx, nil, known, count)
}

// ReadLabelled is Read, with the labels and the split. The graph has the given number of classes, with these names, or
// without names if they are nil.
func (s Source) ReadLabelled(
	ctx context.Context, known []string, count, of int, names []string,
) (*table.Arrivals, []string, error) {
	return s.read(ctx, classesOf(of, names), known, count)
}

func (s Source) read(
	ctx context.Context, k *table.Known, known []string, count int,
) (a *table.Arrivals, notes []string, err error) {
	err = s.tables(ctx, func(ctx context.Context, p table.Pair) (err error) {
		p.Known = k
		a, notes, err = p.Arrivals(ctx, known, count)
		return err
	})
	return a, notes, err
}

// ReadLabels reads labels of known nodes from a .csv or .csv.gz, or from the nodes of a database. See table.ReadLabels
// and ReadLabelled.
func (s Source) ReadLabels(
	ctx context.Context, known []string, count, of int, names []string,
) (l *table.Labels, notes []string, err error) {
	read := func(ctx context.Context, t table.Table) (err error) {
		l, notes, err = table.ReadLabels(ctx, t, classesOf(of, names), known, count)
		return err
	}
	found, _ := format.Recognise(s.Path) // not a .csv by itself
	is, err := s.database(found.Format)
	if err != nil {
		return nil, nil, err
	}
	if f, tabular := found.Format.(table.Tabular); is && tabular {
		err = f.Tables(ctx, s.Path, s.Queries, func(ctx context.Context, p table.Pair) error { return read(ctx, p.Nodes) })
		return l, notes, err
	}
	t, err := csvfile.OpenTable(s.Path)
	if err != nil {
		return nil, nil, err
	}
	err = read(ctx, t)
	return l, notes, err
}

// classesOf returns the given number of classes. An empty label, or -1, is none.
func classesOf(count int, names []string) *table.Known {
	class := classes.Named(count, names)
	return &table.Known{Count: count, Names: names, Class: func(label string) (int32, error) {
		if label = strings.TrimSpace(label); label == "" || label == "-1" && !slices.Contains(names, label) {
			return graph.Unlabelled, nil
		}
		return class(label)
	}}
}

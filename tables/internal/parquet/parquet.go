// Package parquet reads and writes folders of nodes.parquet and edges.parquet.
package parquet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
)

// Name is the name of the format.
const Name = "parquet"

const (
	nodesFile = "nodes.parquet"
	edgesFile = "edges.parquet"
	extension = ".parquet" // of a folder
)

// Format reads and writes a folder of nodes.parquet (id, label, split and features) and edges.parquet (source, target
// and weight). It finds columns by name, as table.Pair does. Features are columns of numbers, or lists of equal length.
// Each of the two may be a folder of .parquet files, as written by Spark.
type Format struct {
	unlabelled bool // the column of labels may be missing
}

// Unlabelled implements format.Unlabeller.
func (Format) Unlabelled() format.Format { return Format{unlabelled: true} }

// Describe implements format.Format. A folder is identified by nodes.parquet and edges.parquet.
func (Format) Describe() format.Description {
	return format.Description{Title: "Parquet", Folder: nodesFile + " and " + edgesFile, Extensions: []string{extension}}
}

// Recognise looks for nodes.parquet and edges.parquet.
func (Format) Recognise(path string) format.Certainty {
	_, nodes := os.Stat(filepath.Join(path, nodesFile))
	_, edges := os.Stat(filepath.Join(path, edgesFile))
	switch {
	case nodes == nil && edges == nil:
		return format.Likely
	case nodes == nil:
		return format.Possible
	}
	return format.No
}

// Read reads a folder. Row i of nodes.parquet is node i. A graph that Write wrote keeps the numbers of its classes.
func (f Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	return table.Read(ctx, f, path, format.Queries{}, f.unlabelled)
}

// Tables implements table.Tabular.
func (Format) Tables(
	ctx context.Context, path string, _ format.Queries, use func(context.Context, table.Pair) error,
) error {
	in, err := open(path)
	if err != nil {
		return err
	}
	defer in.close()
	return use(ctx, in.pair)
}

// folder is an open graph.
type folder struct {
	nodes, edges *parts // edges is nil until it is needed
	pair         table.Pair
}

// open opens the nodes of a folder. A condensed graph is an error.
func open(path string) (f *folder, err error) {
	f = &folder{}
	if f.nodes, err = openTable(path, nodesFile); err != nil {
		return nil, err
	}
	f.pair = table.Pair{Name: strings.TrimSuffix(filepath.Base(path), extension), Nodes: f.nodes}
	f.pair.Edges = func(context.Context) (_ table.Table, err error) {
		f.edges, err = openTable(path, edgesFile)
		return f.edges, err
	}
	meta := f.nodes.metadata()
	if meta["format"] == format.CondensedKind {
		err = failed(f.nodes.path, format.ErrCondensed)
	} else {
		err = f.nodes.check()
	}
	if err == nil && meta["format"] == format.GraphKind {
		f.pair.Name = meta["name"]
		f.pair.FeatureNames = func(n int) ([]string, error) { return format.NamesOf(meta, format.FeatureNames, n) }
		if f.pair.Known, err = known(meta, f.nodes.header); err != nil {
			err = failed(f.nodes.path, err)
		}
	}
	if err != nil {
		f.nodes.close()
		return nil, err
	}
	return f, nil
}

func (f *folder) close() error {
	f.nodes.close()
	f.edges.close()
	return nil
}

// Stream delivers the same graph as Read. While a row group is read, one page of each column is in memory.
func (f Format) Stream(ctx context.Context, path string, memory int64) (*format.Stream, []string, error) {
	in, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	in.pair.Unlabelled = f.unlabelled
	s, notes, err := in.pair.Stream(ctx, memory)
	if err != nil {
		return nil, nil, errors.Join(err, in.close())
	}
	s.Close = in.close
	return s, notes, nil
}

// Package parquet reads and writes folders of nodes.parquet and edges.parquet.
package parquet

import (
	"context"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
)

// Name is the name of the format.
const Name = "parquet"

// Format reads a folder of nodes.parquet (id, label, split and features) and edges.parquet (source, target and weight),
// by the names of the columns, as table.Pair does. Features are columns of numbers, or lists of equal length. Each of
// the two may be a folder of .parquet files, as Spark writes them.
type Format struct{}

// Describe says which files mark a folder.
func (Format) Describe() format.Description {
	return format.Description{Title: "Parquet", Folder: "nodes.parquet and edges.parquet"}
}

// Recognise looks for nodes.parquet and edges.parquet.
func (Format) Recognise(path string) format.Certainty {
	_, nodes := os.Stat(filepath.Join(path, "nodes.parquet"))
	_, edges := os.Stat(filepath.Join(path, "edges.parquet"))
	switch {
	case nodes == nil && edges == nil:
		return format.Likely
	case nodes == nil:
		return format.Possible
	}
	return format.No
}

// Read reads a folder. Row i of nodes.parquet is node i.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	nodes, err := openTable(path, "nodes.parquet")
	if err != nil {
		return nil, nil, err
	}
	defer nodes.close()
	var edges *parts
	defer func() { edges.close() }()
	p := table.Pair{Name: filepath.Base(path), Nodes: nodes}
	p.Edges = func(context.Context) (_ table.Table, err error) {
		edges, err = openTable(path, "edges.parquet")
		return edges, err
	}
	return p.Graph(ctx)
}

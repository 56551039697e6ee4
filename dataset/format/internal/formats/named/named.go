// Package named reads folders of nodes.csv and edges.csv, whose nodes and classes may have names.
package named

import (
	"context"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
)

// Name is the name of the format.
const Name = "named"

// Format reads a folder of nodes.csv (id, label, split and features) and edges.csv (source, target and weight), both
// with a header. Each .csv may be a .csv.gz. Edges name nodes by their id.
type Format struct {
	unlabelled bool // the column of labels may be missing
}

var (
	_ format.Streamer   = Format{}
	_ format.Unlabeller = Format{}
)

// Unlabelled implements format.Unlabeller.
func (Format) Unlabelled() format.Format { return Format{unlabelled: true} }

// Describe implements format.Format. A folder is identified by nodes.csv and edges.csv.
func (Format) Describe() format.Description {
	return format.Description{Title: "text with names", Folder: "nodes.csv and edges.csv"}
}

// Recognise looks for nodes.csv and edges.csv.
func (Format) Recognise(path string) format.Certainty {
	nodes, edges := csvfile.Exists(csvfile.Path(path, "nodes")), csvfile.Exists(csvfile.Path(path, "edges"))
	switch {
	case nodes && edges:
		return format.Likely
	case nodes:
		return format.Possible
	}
	return format.No
}

// Read reads a folder. Record i of nodes.csv, after the header, is node i.
func (f Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	return table.Read(ctx, f, path, format.Queries{}, f.unlabelled)
}

// Tables implements table.Tabular.
func (Format) Tables(
	ctx context.Context, path string, _ format.Queries, use func(context.Context, table.Pair) error,
) error {
	p, err := open(path)
	if err != nil {
		return err
	}
	return use(ctx, p)
}

// Stream delivers the same graph as Read. Files are read in blocks of records.
func (f Format) Stream(ctx context.Context, path string, memory int64) (*format.Stream, []string, error) {
	p, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	p.Unlabelled = f.unlabelled
	return p.Stream(ctx, memory)
}

// open opens the tables of a folder.
func open(folder string) (p table.Pair, err error) {
	p.Name = filepath.Base(folder)
	p.Edges = func(context.Context) (table.Table, error) {
		return csvfile.OpenTable(csvfile.Path(folder, "edges"))
	}
	p.Nodes, err = csvfile.OpenTable(csvfile.Path(folder, "nodes"))
	return p, err
}

// Package named reads folders of nodes.csv and edges.csv, whose nodes and classes may have names.
package named

import (
	"context"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/ids"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Name is the name of the format.
const Name = "named"

// Format reads a folder of nodes.csv (id, label, split and features, by a header) and edges.csv (source, target and
// weight, by a header). Each .csv may be a .csv.gz. Edges name nodes by their id.
type Format struct{}

// Describe says which files mark a folder.
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

// Read reads a folder. Line i of nodes.csv, after the header, is node i. Labels that are names become classes in sorted
// order. Labels that are whole numbers and start at 1 are moved to start at 0.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	file := csvfile.Path(path, "nodes")
	n, err := readNodes(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	b := graph.Builder{
		Name: filepath.Base(path), Nodes: len(n.ids), Split: n.split,
		X: &mat.Dense{Rows: len(n.ids), Cols: len(n.features), Data: n.x},
	}
	if b.Y, b.ClassNames, err = n.labels.classes(file, n.Line); err != nil {
		return nil, nil, err
	}
	if !ids.Numbered(n.ids) {
		b.IDs = n.ids
	}
	edges := csvfile.Path(path, "edges")
	if b.Edges, err = readEdges(ctx, edges, n.at); err != nil {
		return nil, nil, err
	}
	g, changes, err := b.Graph()
	if err != nil {
		return nil, nil, format.Locate(err, file, map[string]string{"edges": edges})
	}
	return g, append(n.notes(), format.Notes(g, changes)...), format.CheckTraining(file, g)
}

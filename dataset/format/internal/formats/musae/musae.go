// Package musae reads the text files in which MUSAE, Karate Club and Geom-GCN publish their graphs. Nodes are numbers,
// and most features are lists of the columns that are not zero.
package musae

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/graph"
)

// Name is the name of the format.
const Name = "musae"

// The files of Geom-GCN, and the suffixes of the other file names, without the extension.
const (
	geomEdges, geomNodes = "out1_graph_edges.txt", "out1_node_feature_label.txt"

	edges, target, features = "edges", "target", "features"
)

// Format reads PREFIX_edges.csv, PREFIX_target.csv and PREFIX_features.json or .csv, or the same names without a prefix
// in one folder; and the folder of out1_graph_edges.txt and out1_node_feature_label.txt. Each .csv may be a .csv.gz.
type Format struct{}

var (
	_ format.Splitter = Format{}
	_ format.Lister   = Format{}
)

// Describe implements format.Format. A folder is identified by the files of edges and labels.
func (Format) Describe() format.Description {
	return format.Description{
		Title:  "MUSAE, Karate Club and Geom-GCN",
		Folder: "edges.csv and target.csv, or " + geomEdges + " and " + geomNodes, File: "NAME_edges.csv and NAME_target.csv",
	}
}

// Recognise looks for the files of edges and labels. It leaves a folder with labels.csv or nodes.csv to the formats of
// these files.
func (Format) Recognise(path string) format.Certainty {
	f, found := place(path)
	switch {
	case !found:
		return format.No
	case f.features == "":
		return format.Certain
	case csvfile.Exists(csvfile.Path(path, "labels")) || csvfile.Exists(csvfile.Path(path, "nodes")):
		return format.No
	}
	return format.Likely
}

// List returns the graphs whose files have a prefix.
func (Format) List(folder string) map[string]string {
	graphs := map[string]string{}
	for _, f := range prefixed(folder) {
		graphs[f.name] = f.edges
	}
	return graphs
}

// files holds the name of a graph and the paths of its files.
type files struct {
	name, folder           string
	edges, nodes, features string // features is empty if nodes holds the features
}

// place returns the files of the graph at path, a folder or a file of edges.
func place(path string) (f files, found bool) {
	info, err := os.Stat(path)
	if err != nil {
		return f, false
	}
	if !info.IsDir() {
		for _, f := range prefixed(filepath.Dir(path)) {
			if filepath.Base(f.edges) == filepath.Base(path) {
				return f, true
			}
		}
		return f, false
	}
	if csvfile.Exists(filepath.Join(path, geomEdges)) && csvfile.Exists(filepath.Join(path, geomNodes)) {
		return files{
			name: filepath.Base(path), folder: path,
			edges: filepath.Join(path, geomEdges), nodes: filepath.Join(path, geomNodes),
		}, true
	}
	if f, found = of(path, ""); found {
		f.name = filepath.Base(path)
		return f, true
	}
	if all := prefixed(path); len(all) == 1 {
		return all[0], true
	}
	return f, false
}

// of returns the files of a graph in a folder whose names begin with prefix.
func of(folder, prefix string) (f files, found bool) {
	f = files{
		name: strings.TrimSuffix(prefix, "_"), folder: folder, edges: csvfile.Path(folder, prefix+edges),
		nodes: csvfile.Path(folder, prefix+target), features: filepath.Join(folder, prefix+features+".json"),
	}
	if !csvfile.Exists(f.features) {
		f.features = csvfile.Path(folder, prefix+features)
	}
	return f, csvfile.Exists(f.edges) && csvfile.Exists(f.nodes)
}

// prefixed returns the files of each graph in a folder whose files have a prefix.
func prefixed(folder string) (all []files) {
	entries, _ := os.ReadDir(folder) // an unreadable folder counts as empty
	for _, e := range entries {
		prefix, is := strings.CutSuffix(strings.TrimSuffix(e.Name(), ".gz"), edges+".csv")
		if !is || !strings.HasSuffix(prefix, "_") || prefix == "_" {
			continue
		}
		if f, found := of(folder, prefix); found && filepath.Base(f.edges) == e.Name() {
			all = append(all, f)
		}
	}
	return all
}

// Read reads a graph. Labels become classes as in tables.
func (f Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	return f.ReadSplit(ctx, path, 0)
}

// ReadSplit implements format.Splitter: a folder of Geom-GCN may hold the masks of several splits.
func (Format) ReadSplit(ctx context.Context, path string, split int) (*graph.Graph, []string, error) {
	f, _ := place(path)
	n, notes, err := readNodes(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	b := graph.Builder{Name: f.name, Nodes: len(n.y), Y: n.y, ClassNames: n.classNames}
	if f.features != "" {
		if err := n.readFeatures(ctx, f.features); err != nil {
			return nil, nil, err
		}
	}
	p := csr.Parts{Layout: "coo", Rows: len(n.y), Cols: n.columns, Row: n.row, Col: n.col, Values: n.value}
	if b.X, err = p.CSR(ctx); err != nil {
		return nil, nil, err
	}
	if b.Edges, err = readEdges(ctx, f.edges, b.Nodes); err != nil {
		return nil, nil, err
	}
	var more []string
	if b.Split, more, err = readSplit(ctx, f.folder, b.Nodes, split); err != nil {
		return nil, nil, err
	}
	g, changes, err := format.Build(ctx, &b, f.nodes, map[string]string{"edges": f.edges, "features": f.features})
	return g, slices.Concat(notes, more, changes), err
}

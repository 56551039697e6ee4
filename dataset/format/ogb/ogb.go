// Package ogb reads the folders in which the Open Graph Benchmark (Hu et al. 2020) publishes graphs with labelled
// nodes.
package ogb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
)

// Name is the name of the format.
const Name = "ogb"

// Format reads a folder as the Python package ogb leaves it: raw, split and mapping. raw holds text (edge.csv.gz,
// node-feat.csv.gz, node-label.csv.gz, num-node-list.csv.gz and num-edge-list.csv.gz) or arrays (data.npz and
// node-label.npz). Each .csv.gz may be a .csv. In place of data.npz, its arrays may stand in raw as .npy files. The
// folder raw itself may be named too.
type Format struct{}

// Describe says which files mark a folder.
func (Format) Describe() format.Description {
	return format.Description{Title: "OGB", Folder: "raw/edge.csv.gz or raw/data.npz"}
}

// Recognise looks for the files of raw, and for those of graphs with several sorts of nodes, which Read refuses.
func (Format) Recognise(path string) format.Certainty {
	raw := filepath.Join(root(path), "raw")
	exists := func(name string) bool { return csvfile.Exists(csvfile.Path(raw, name)) }
	switch {
	case exists("edge") && exists("num-node-list"),
		numpy.Holds(filepath.Join(raw, arraysFile), "num_nodes_list"), ofArrays(raw),
		several(raw) != "":
		return format.Certain
	case exists("edge"), exists("num-node-list"):
		return format.Possible
	}
	return format.No
}

// root returns the folder that holds raw: path, or the one above it if path is raw.
func root(path string) string {
	if absolute, err := filepath.Abs(path); err == nil && filepath.Base(absolute) == "raw" &&
		!csvfile.Exists(filepath.Join(path, "raw")) {
		return filepath.Dir(absolute)
	}
	return path
}

// several returns the file that marks a graph with several sorts of nodes or edges, or "".
func several(raw string) string {
	for _, name := range []string{"triplet-type-list.csv.gz", "triplet-type-list.csv", "edge_index_dict.npz"} {
		if file := filepath.Join(raw, name); csvfile.Exists(file) {
			return file
		}
	}
	return ""
}

// Read reads a folder. Labels are those of the files. An empty label, NaN and −1 mean none.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	dir := root(path)
	raw := filepath.Join(dir, "raw")
	if err := oneSort(raw); err != nil {
		return nil, nil, err
	}
	var p parts
	var err error
	if open := arraysOf(raw); open != nil {
		p, err = readArrays(ctx, open, raw)
	} else {
		p, err = readText(ctx, raw)
	}
	if err != nil {
		return nil, nil, err
	}
	p.Name = filepath.Base(dir)
	split, note, err := readSplit(ctx, dir, &p.Builder)
	if err != nil {
		return nil, nil, err
	}
	notes := append(p.notes, note...)
	notes = append(notes, readNames(filepath.Join(dir, "mapping"), &p.Builder)...)
	g, changes, err := p.GraphContext(ctx)
	if err != nil {
		return nil, nil, format.Locate(err, raw, map[string]string{
			"edges": p.edges, "features": p.features, "labels": p.labels, "split": split,
		})
	}
	return g, append(notes, format.Notes(g, changes)...), format.CheckTraining(split, g)
}

// parts is what raw holds, and the files that its parts are from.
type parts struct {
	graph.Builder
	edges, features, labels string
	notes                   []string
}

// ignoresEdgeFeatures notes that the features of edges are not read.
func (p *parts) ignoresEdgeFeatures(where string) {
	p.notes = append(p.notes, where+": features of edges are not read")
}

// locate sets the files of the text in raw.
func (p *parts) locate(raw string) {
	p.edges, p.features = csvfile.Path(raw, "edge"), csvfile.Path(raw, "node-feat")
	p.labels = csvfile.Path(raw, "node-label")
}

// label returns the label v of a node, a whole number that may be written with a point, or graph.Unlabelled for NaN.
func label(v float64) (int32, error) {
	switch {
	case v != v:
		return graph.Unlabelled, nil
	case v != float64(int64(v)) || v < graph.Unlabelled || v >= graph.MaxClasses:
		return 0, fmt.Errorf("label %v, want a whole number from 0 to %d, or NaN for none", v, graph.MaxClasses-1)
	}
	return int32(v), nil
}

// entries returns the names of what a folder holds, sorted; none if there is no such folder.
func entries(dir string) (names []string) {
	list, _ := os.ReadDir(dir) // a folder that cannot be read holds nothing
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

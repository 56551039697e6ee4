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

// Format reads a folder as the Python package ogb creates it: raw, split and mapping. raw holds text (edge.csv.gz,
// node-feat.csv.gz, node-label.csv.gz, num-node-list.csv.gz and num-edge-list.csv.gz) or arrays (data.npz and
// node-label.npz). Each .csv.gz may be a .csv. In place of data.npz, raw may hold its arrays as .npy files. The path
// may also be raw itself. From the folder of MAG240M (OGB-LSC), it reads the papers and their citations.
type Format struct {
	split int // which split to read, in the order of the folders
}

var _ format.Splitter = Format{}

// Describe implements format.Format. A folder is identified by raw/edge.csv.gz or raw/data.npz.
func (Format) Describe() format.Description {
	return format.Description{Title: "OGB", Folder: "raw/edge.csv.gz or raw/data.npz"}
}

// Recognise looks for the files of raw, and for files of graphs with several node types, for which Read returns an
// error.
func (Format) Recognise(path string) format.Certainty {
	raw := filepath.Join(root(path), "raw")
	exists := func(name string) bool { return csvfile.Exists(csvfile.Path(raw, name)) }
	switch {
	case exists("edge") && exists("num-node-list"),
		numpy.Holds(filepath.Join(raw, arraysFile), "num_nodes_list"), hasFolder(raw), isPapers(root(path)),
		several(raw) != "":
		return format.Certain
	case exists("edge"), exists("num-node-list"):
		return format.Possible
	}
	return format.No
}

// root returns the folder that holds raw: path, or its parent if path is raw.
func root(path string) string {
	if absolute, err := filepath.Abs(path); err == nil && filepath.Base(absolute) == "raw" &&
		!csvfile.Exists(filepath.Join(path, "raw")) {
		return filepath.Dir(absolute)
	}
	return path
}

// several returns the file that marks a graph with several node types or edge types, or "".
func several(raw string) string {
	for _, name := range []string{"triplet-type-list.csv.gz", "triplet-type-list.csv", "edge_index_dict.npz"} {
		if file := filepath.Join(raw, name); csvfile.Exists(file) {
			return file
		}
	}
	return ""
}

// Read reads a folder. Labels are not renumbered. An empty label, NaN and −1 mean no label.
func (f Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	return format.Collect(ctx, f, path)
}

// ReadSplit implements format.Splitter: the folder called split may hold several splits.
func (Format) ReadSplit(ctx context.Context, path string, split int) (*graph.Graph, []string, error) {
	return format.Collect(ctx, Format{split}, path)
}

// label returns the integer label v of a node, or graph.Unlabelled for NaN.
func label(v float64) (int32, error) {
	switch {
	case v != v:
		return graph.Unlabelled, nil
	case v != float64(int64(v)) || v < graph.Unlabelled || v >= graph.MaxClasses:
		return 0, fmt.Errorf("label %v, must be an integer from 0 to %d, or NaN for none", v, graph.MaxClasses-1)
	}
	return int32(v), nil
}

// entries returns the sorted names of the entries of a folder, or none if there is no such folder.
func entries(dir string) (names []string) {
	list, _ := os.ReadDir(dir) // an unreadable folder counts as empty
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

// Package mtx reads graphs from matrices in the Matrix Market format (Boisvert et al. 1996), as scipy.io.mmwrite and
// SuiteSparse write them.
package mtx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/graph"
)

// Name is the name of the format.
const Name = "mtx"

const (
	extension = ".mtx"
	packed    = extension + ".gz"
)

// Format reads a folder with an adjacency (any name.mtx), features (features.mtx, .npy or .csv), labels (labels.csv,
// .npy or .mtx) and, optionally, split.csv. Each .mtx and .csv file may be gzip-compressed. The path may also be the
// adjacency file itself.
type Format struct{}

// Describe implements format.Format. A folder is identified by its matrices.
func (Format) Describe() format.Description {
	return format.Description{
		Title: "Matrix Market", Folder: "adjacency.mtx next to features and labels",
		File: "a .mtx file next to features and labels", Extensions: []string{extension, packed},
	}
}

// Recognise checks the names of files.
func (Format) Recognise(path string) format.Certainty {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		if base, is := cut(filepath.Base(path)); is && !aside(base) {
			return format.Certain
		}
		return format.No
	}
	if names := adjacencies(path); len(names) == 0 {
		return format.No
	}
	own := csvfile.Exists(csvfile.Path(path, "edges"))
	if _, features := beside(path, "features"); features && !own {
		return format.Likely
	}
	if _, labels := beside(path, "labels"); labels && !own {
		return format.Likely
	}
	return format.Possible
}

// cut returns a name without the extension, and whether it has one.
func cut(file string) (base string, is bool) {
	if base, is = strings.CutSuffix(file, packed); is {
		return base, true
	}
	return strings.CutSuffix(file, extension)
}

// aside reports whether a matrix of that name is not an adjacency.
func aside(base string) bool { return base == "features" || base == "labels" }

// adjacencies returns the matrices in a folder that may be the adjacency: the one with a usual name, or else all.
func adjacencies(folder string) (names []string) {
	entries, _ := os.ReadDir(folder) // an unreadable folder counts as empty
	for _, e := range entries {
		base, is := cut(e.Name())
		if !is || aside(base) || e.IsDir() {
			continue
		}
		if base == "adjacency" || base == "adj" || base == filepath.Base(folder) {
			return []string{e.Name()}
		}
		names = append(names, e.Name())
	}
	return names
}

// beside returns the file of features or labels in a folder, and whether it exists.
func beside(folder, name string) (file string, found bool) {
	for _, end := range []string{packed, extension, ".npy", ".csv.gz", ".csv"} {
		if file := filepath.Join(folder, name+end); csvfile.Exists(file) {
			return file, true
		}
	}
	return "", false
}

// Read reads a folder, or the folder of an adjacency. Labels become classes as in tables.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	folder, adjacency := path, path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		names := adjacencies(path)
		if len(names) != 1 {
			return nil, nil, format.Wrong(path,
				"the matrices %.200s, expected one, or one that is called adjacency.mtx", strings.Join(names, ", "))
		}
		adjacency = filepath.Join(path, names[0])
	} else {
		folder = filepath.Dir(path)
	}
	labels, err := require(folder, adjacency, "labels")
	if err != nil {
		return nil, nil, err
	}
	features, err := require(folder, adjacency, "features")
	if err != nil {
		return nil, nil, err
	}
	b := graph.Builder{}
	if b.Name, _ = cut(filepath.Base(adjacency)); folder == path {
		b.Name = filepath.Base(path)
	}
	split, err := readLabels(ctx, labels, folder, &b)
	if err != nil {
		return nil, nil, err
	}
	b.Nodes = len(b.Y)
	if b.X, err = readFeatures(ctx, features, b.Nodes); err != nil {
		return nil, nil, err
	}
	if b.Edges, err = readEdges(ctx, adjacency, b.Nodes); err != nil {
		return nil, nil, err
	}
	return format.Build(ctx, &b, adjacency, map[string]string{"features": features, "labels": labels, "split": split})
}

// require returns the file of features or labels. The error lists the files that a graph needs.
func require(folder, adjacency, name string) (string, error) {
	file, found := beside(folder, name)
	if found {
		return file, nil
	}
	text := "an adjacency alone cannot be condensed: there is no features.mtx (or .npy, .csv) next to it"
	if name == "labels" {
		text = "an adjacency alone cannot be condensed: there is no labels.csv (or .npy, .mtx) next to it"
		if _, features := beside(folder, "features"); !features {
			text += ", and no features.mtx (or .npy, .csv)"
		}
	}
	return "", &format.ReadError{File: adjacency, Err: errors.New(text)}
}

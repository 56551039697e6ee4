// Package text reads folders of .csv files: the simplest format for new graphs.
package text

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
)

// Name is the name of the format.
const Name = "csv"

// Format reads a folder of edges.csv (source,target[,weight]), features.csv or features.npy, labels.csv (label[,part])
// and, optionally, split.csv (part). Each .csv may be a .csv.gz. Line i of features, labels and split is node i.
type Format struct{}

// Describe implements format.Format. A folder is identified by edges.csv and labels.csv.
func (Format) Describe() format.Description {
	return format.Description{Title: "text", Folder: "edges.csv and labels.csv"}
}

// Recognise looks for edges.csv and labels.csv.
func (Format) Recognise(path string) format.Certainty {
	edges, labels := csvfile.Exists(csvfile.Path(path, "edges")), csvfile.Exists(csvfile.Path(path, "labels"))
	switch {
	case edges && labels:
		return format.Likely
	case labels || edges && (csvfile.Exists(csvfile.Path(path, "features")) ||
		csvfile.Exists(filepath.Join(path, "features.npy"))): // edges.csv is also a file of other formats
		return format.Possible
	}
	return format.No
}

// Read reads a folder. Labels that start at 1 are shifted to start at 0, and become the names of the classes.
func (f Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	return format.Collect(ctx, f, path)
}

// line is the content of a line of labels.csv or split.csv.
type line struct {
	label int32
	part  int8
}

// parseLabel reads label[,part].
func parseLabel(text []byte) (l line, err error) {
	field, part, _ := bytes.Cut(text, []byte(","))
	l.label = graph.Unlabelled
	if field = bytes.TrimSpace(field); len(field) > 0 {
		label, err := content.Int(field)
		if err != nil {
			return l, fmt.Errorf("label %w%s (for names, write nodes.csv and edges.csv with headers)", err,
				lines.Commas(field, ";\t"))
		}
		if l.label, err = content.Label(0, label); err != nil { // parseLabel does not know the node
			return l, fmt.Errorf("label %d, must be 0 to %d, or %d for none", label, graph.MaxClasses-1, graph.Unlabelled)
		}
	}
	l.part, err = parsePart(part)
	return l, err
}

// parsePart returns the part of the split in a field.
func parsePart(field []byte) (int8, error) {
	part, ok := classes.PartOf(field)
	if !ok {
		field = bytes.TrimSpace(field)
		return int8(part), fmt.Errorf("part %.50q, must be train, val, test or nothing", field[:min(len(field), 200)])
	}
	return int8(part), nil
}

// edge is the content of a line of edges.csv.
type edge struct {
	from, to int32
	weight   float32
}

// parseEdge reads source,target[,weight] for n nodes.
func parseEdge(text []byte, n int) (e edge, err error) {
	source, rest, _ := bytes.Cut(text, comma)
	target, weight, weighted := bytes.Cut(rest, comma)
	e.weight = 1
	if e.from, err = parseNode(source, n); err != nil {
		return e, err
	}
	if e.to, err = parseNode(target, n); err != nil || !weighted {
		return e, err
	}
	w, err := content.Float(weight)
	if err != nil || !(w > 0) || math.IsInf(float64(w), 0) {
		return e, fmt.Errorf("weight %.50q, must be a positive finite number", weight)
	}
	e.weight = w
	return e, nil
}

// parseNode parses a node, from 0 to n−1.
func parseNode(field []byte, n int) (int32, error) {
	v, err := content.Int(field)
	if err != nil {
		if v, err = content.Int(bytes.TrimSpace(field)); err != nil {
			return 0, fmt.Errorf("node %w%s (for names, write nodes.csv and edges.csv with headers)", err,
				lines.Commas(field, "; \t"))
		}
	}
	if v < 0 || v >= int64(n) {
		return 0, fmt.Errorf("node %d, must be 0 to %d (there are %d labels)", v, n-1, n)
	}
	return int32(v), nil
}

// Package text reads folders of .csv files, the format for a graph of one's own.
package text

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Name is the name of the format.
const Name = "csv"

// Format reads a folder of edges.csv (source,target[,weight]), features.csv or features.npy, labels.csv (label[,part])
// and, if it is there, split.csv (part). Each .csv may be a .csv.gz. Line i of features, labels and split is node i.
type Format struct{}

// Describe says which files mark a folder.
func (Format) Describe() format.Description {
	return format.Description{Title: "text", Folder: "edges.csv and labels.csv"}
}

// Recognise looks for edges.csv and labels.csv.
func (Format) Recognise(path string) format.Certainty {
	edges, labels := csvfile.Exists(csvfile.Path(path, "edges")), csvfile.Exists(csvfile.Path(path, "labels"))
	switch {
	case edges && labels:
		return format.Likely
	case edges || labels:
		return format.Possible
	}
	return format.No
}

// Read reads a folder. Labels that start at 1 are moved to start at 0.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	b := graph.Builder{Name: filepath.Base(path)}
	splitFile, err := readLabels(ctx, path, &b, math.MaxInt64)
	if err != nil {
		return nil, nil, err
	}
	b.Nodes = len(b.Y)
	features := filepath.Join(path, "features.npy")
	if csvfile.Exists(features) {
		b.X, err = numpy.Read(ctx, features)
	} else {
		features = csvfile.Path(path, "features")
		b.X, err = readTable(ctx, features)
	}
	if err != nil {
		return nil, nil, err
	}
	edges := csvfile.Path(path, "edges")
	if b.Edges, err = readEdges(ctx, edges, b.Nodes); err != nil {
		return nil, nil, err
	}
	g, changes, err := b.GraphContext(ctx)
	if err != nil {
		return nil, nil, format.Locate(err, path, map[string]string{
			"edges": edges, "features": features, "labels": csvfile.Path(path, "labels"), "split": splitFile,
		})
	}
	return g, format.Notes(g, changes), format.CheckTraining(splitFile, g)
}

// line is what a line of labels.csv or split.csv says of its node.
type line struct {
	label int32
	part  byte // t, v, s for test, or 0
}

// parseLabel reads label[,part].
func parseLabel(text []byte, out []line) ([]line, error) {
	field, part, _ := bytes.Cut(text, []byte(","))
	l := line{label: graph.Unlabelled}
	if field = bytes.TrimSpace(field); len(field) > 0 {
		label, err := decimal.Int(field)
		if err != nil {
			return nil, fmt.Errorf("label %w (for names, write nodes.csv and edges.csv with headers)", err)
		}
		if l.label, err = format.Label(int64(len(out)), label); err != nil { // the node is not known here
			return nil, fmt.Errorf("label %d, want 0 to %d, or %d for none", label, graph.MaxClasses-1, graph.Unlabelled)
		}
	}
	var err error
	l.part, err = parsePart(part)
	return append(out, l), err
}

func parsePart(field []byte) (byte, error) {
	switch part := string(bytes.ToLower(bytes.TrimSpace(field))); part {
	case "train":
		return 't', nil
	case "val", "valid", "validation":
		return 'v', nil
	case "test":
		return 's', nil
	case "", "none":
		return 0, nil
	}
	return 0, fmt.Errorf("part %.50q, want train, val, test or nothing", field)
}

// edge is what a line of edges.csv says.
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
	w, err := decimal.Float(weight)
	if err != nil || !(w > 0) || math.IsInf(float64(w), 0) {
		return e, fmt.Errorf("weight %.50q, want a positive finite number", weight)
	}
	e.weight = w
	return e, nil
}

// readEdges reads the edges of n nodes.
func readEdges(ctx context.Context, file string, n int) (graph.Edges, error) {
	blocks, total, err := parseLines(ctx, file, func(text []byte, out []edge) ([]edge, error) {
		e, err := parseEdge(text, n)
		return append(out, e), err
	})
	if err != nil {
		return graph.Edges{}, err
	}
	list := graph.Edges{From: memory.Uncleared[int32](total), To: memory.Uncleared[int32](total)}
	weight, plain, at := memory.Uncleared[float32](total), true, 0
	for _, block := range blocks {
		if err := ctx.Err(); err != nil {
			return graph.Edges{}, err
		}
		for _, e := range block {
			list.From[at], list.To[at], weight[at] = e.from, e.to, e.weight
			plain = plain && e.weight == 1
			at++
		}
	}
	if !plain {
		list.Weight = weight
	}
	return list, nil
}

// parseNode returns the node in field, one of n.
func parseNode(field []byte, n int) (int32, error) {
	v, err := decimal.Int(field)
	if err != nil {
		if v, err = decimal.Int(bytes.TrimSpace(field)); err != nil {
			return 0, fmt.Errorf("node %w (for names, write nodes.csv and edges.csv with headers)", err)
		}
	}
	if v < 0 || v >= int64(n) {
		return 0, fmt.Errorf("node %d, want 0 to %d (there are %d labels)", v, n-1, n)
	}
	return int32(v), nil
}

// readTable reads lines with equal numbers of numbers.
func readTable(ctx context.Context, file string) (*mat.Dense, error) {
	const unknown = -1
	blocks, total, err := parseLines(ctx, file, func(line []byte, out [][]float32) ([][]float32, error) {
		cols := unknown
		if len(out) > 0 {
			cols = len(out[0])
		}
		row := make([]float32, 0, max(cols, 8))
		for field := range bytes.SplitSeq(line, []byte(",")) {
			v, err := decimal.Float(field)
			if err != nil {
				return nil, fmt.Errorf("column %d: %.50q is not a number", len(row)+1, field)
			}
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("column %d: %.50q, want a finite number", len(row)+1, field)
			}
			row = append(row, v)
		}
		if cols != unknown && len(row) != cols {
			return nil, fmt.Errorf("%d columns, and %d in the lines above", len(row), cols)
		}
		return append(out, row), nil
	})
	if err != nil {
		return nil, err
	}
	x := &mat.Dense{Rows: total}
	i := 0
	for _, block := range blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i == 0 && len(block) > 0 {
			x.Cols = len(block[0])
			x.Data = memory.Uncleared[float32](total * x.Cols)
		}
		for _, row := range block {
			if len(row) != x.Cols {
				return nil, &format.ReadError{
					File: file, Err: fmt.Errorf("node %d has %d columns, and node 0 has %d", i, len(row), x.Cols),
				}
			}
			copy(x.Row(i), row)
			i++
		}
	}
	return x, nil
}

// Package named reads folders of nodes.csv and edges.csv, whose nodes and classes may have names.
package named

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/graph"
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
	b := graph.Builder{Name: filepath.Base(path)}
	notes, err := n.fill(&b)
	if err != nil {
		return nil, nil, err
	}
	edges := csvfile.Path(path, "edges")
	if b.Edges, err = readEdges(ctx, edges, n.at); err != nil {
		return nil, nil, err
	}
	g, changes, err := b.Graph()
	if err != nil {
		return nil, nil, format.Locate(err, file, map[string]string{"edges": edges})
	}
	return g, append(notes, format.Notes(g, changes)...), format.CheckTraining(file, g)
}

// readEdges reads edges.csv. at gives the node of each id.
func readEdges(ctx context.Context, file string, at map[string]int32) (e graph.Edges, err error) {
	t, err := openTable(file)
	if err != nil {
		return e, err
	}
	source, target := t.column("source", "src_id", "src"), t.column("target", "dst_id", "dst")
	weight := t.column("weight")
	if source < 0 || target < 0 {
		return e, t.fail("the columns are %.200q, want source, target and, if there are weights, weight",
			strings.Join(t.header, ","))
	}
	plain := true
	for {
		fields, err := t.read()
		if err == io.EOF {
			break
		}
		if err == nil && e.Len()&0xffff == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return e, err
		}
		u, okSource := at[string(fields[source])]
		v, okTarget := at[string(fields[target])]
		if !okSource {
			return e, t.fail("source %.50q is not an id in nodes.csv", fields[source])
		}
		if !okTarget {
			return e, t.fail("target %.50q is not an id in nodes.csv", fields[target])
		}
		e.From, e.To = append(e.From, u), append(e.To, v)
		if weight < 0 {
			continue
		}
		w, err := decimal.Float(fields[weight])
		if err != nil || !(w > 0) || math.IsInf(float64(w), 0) {
			return e, t.fail("weight %.50q, want a positive finite number", fields[weight])
		}
		e.Weight, plain = append(e.Weight, w), plain && w == 1
	}
	if plain {
		e.Weight = nil
	}
	return e, nil
}

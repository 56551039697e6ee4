// Package arrivals reads new nodes and their edges: for a trained model that predicts their classes without the graph,
// and for propagated features of a graph that grows.
package arrivals

import (
	"context"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/named"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
)

// Read reads nodes.csv (id and features; label and split are not used) and edges.csv (source, target and weight) of a
// folder, both with a header. Each may be a .csv.gz. See table.Pair.Arrivals.
func Read(ctx context.Context, folder string, known []string, count int) (*table.Arrivals, []string, error) {
	p, err := named.Open(folder)
	if err != nil {
		return nil, nil, err
	}
	return p.Arrivals(ctx, known, count)
}

// ReadLabelled is Read, with the labels and the split of nodes.csv. The graph has the given number of classes, with
// these names, or without names if they are nil.
func ReadLabelled(
	ctx context.Context, folder string, known []string, count, of int, names []string,
) (*table.Arrivals, []string, error) {
	p, err := named.Open(folder)
	if err != nil {
		return nil, nil, err
	}
	p.Known = classesOf(of, names)
	return p.Arrivals(ctx, known, count)
}

// ReadLabels reads labels of known nodes from a .csv or .csv.gz. See table.ReadLabels and ReadLabelled.
func ReadLabels(
	ctx context.Context, path string, known []string, count, of int, names []string,
) (*table.Labels, []string, error) {
	t, err := csvfile.OpenTable(path)
	if err != nil {
		return nil, nil, err
	}
	return table.ReadLabels(ctx, t, classesOf(of, names), known, count)
}

// classesOf returns the given number of classes. An empty label, or -1, is none.
func classesOf(count int, names []string) *table.Known {
	class := classes.Named(count, names)
	return &table.Known{Count: count, Names: names, Class: func(label string) (int32, error) {
		if label = strings.TrimSpace(label); label == "" || label == "-1" && !slices.Contains(names, label) {
			return graph.Unlabelled, nil
		}
		return class(label)
	}}
}

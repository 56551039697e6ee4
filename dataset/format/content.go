package format

import (
	"errors"
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Label returns the label of a node as graph.Graph.Y holds it: 0 to graph.MaxClasses−1, or graph.Unlabelled. An error
// names the node, the label and the bound.
func Label(node, label int64) (int32, error) {
	if label < graph.Unlabelled || label >= graph.MaxClasses {
		return 0, fmt.Errorf("label %d of node %d, want 0 to %d, or %d for none",
			label, node, graph.MaxClasses-1, graph.Unlabelled)
	}
	return int32(label), nil
}

// Labels returns labels as graph.Graph.Y holds them, those that start at 1 moved to start at 0. An error names the
// first node whose label is out of range.
func Labels(labels []int64) ([]int32, error) {
	y := memory.Make[int32](len(labels))
	for i, c := range labels {
		var err error
		if y[i], err = Label(int64(i), c); err != nil {
			return nil, err
		}
	}
	ShiftLabels(y)
	return y, nil
}

// ShiftLabels makes labels that start at 1 start at 0. Unlabelled nodes stay so.
func ShiftLabels(y []int32) {
	least := int32(graph.MaxClasses)
	for _, c := range y {
		if c != graph.Unlabelled {
			least = min(least, c)
		}
	}
	if least != 1 {
		return
	}
	for i, c := range y {
		if c != graph.Unlabelled {
			y[i] = c - 1
		}
	}
}

// Notes returns what a Format's Read tells of the edges: nothing, if the file has each edge once, or each in both
// directions.
func Notes(g *graph.Graph, changes graph.Changes) []string { return EdgeNotes(g.Name, changes) }

// EdgeNotes is Notes for the graph of that name.
func EdgeNotes(name string, changes graph.Changes) []string {
	both := changes.Entries == 2*(changes.Entries-changes.Loops-changes.Merged) // each in both directions
	if changes.Loops == 0 && both || !changes.Any() {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v", name, changes)}
}

// CheckTraining returns a *ReadError about file if no node of g trains although g has a split.
func CheckTraining(file string, g *graph.Graph) error {
	if s := g.Split; len(s.Train) > 0 || len(s.Val)+len(s.Test) == 0 {
		return nil
	}
	return &ReadError{File: file, Err: errors.New("the training split is empty, want at least 1 node")}
}

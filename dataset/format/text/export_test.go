package text

import (
	"context"

	"github.com/graph-condensation/cgc/graph"
)

// ReadTable reads a table and returns how many numbers it has.
func ReadTable(file string) (int, error) {
	x, err := readTable(context.Background(), file)
	if err != nil {
		return 0, err
	}
	return len(x.Data), nil
}

// ReadEdges reads edges and returns how many numbers they have.
func ReadEdges(file string) (int, error) {
	e, err := readEdges(context.Background(), file, graph.MaxNodes)
	return 2 * e.Len(), err
}

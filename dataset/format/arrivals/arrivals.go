// Package arrivals reads new nodes and their edges, for a trained model that predicts their classes without the graph.
package arrivals

import (
	"context"

	"github.com/graph-condensation/cgc/dataset/format/internal/formats/named"
	"github.com/graph-condensation/cgc/dataset/format/table"
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

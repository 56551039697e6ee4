package dataset

import (
	"context"
	"fmt"
)

// Fetch brings the files of a graph from where they are published.
func (o Options) Fetch(ctx context.Context, name string) (dir string, err error) {
	return "", fmt.Errorf("dataset: %s cannot be fetched", name)
}

package saint

import (
	"context"
	"path/filepath"
)

// ReadText reads the labels and the split of n nodes.
func ReadText(ctx context.Context, dir string, n int) error {
	if _, err := readClassMap(ctx, filepath.Join(dir, labelsFile), n); err != nil {
		return err
	}
	_, err := readRoles(ctx, filepath.Join(dir, splitFile), n)
	return err
}

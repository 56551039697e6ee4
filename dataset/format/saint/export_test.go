package saint

import "path/filepath"

// ReadText reads the labels and the split of n nodes.
func ReadText(dir string, n int) error {
	if _, err := readClassMap(filepath.Join(dir, labelsFile), n); err != nil {
		return err
	}
	_, err := readRoles(filepath.Join(dir, splitFile), n)
	return err
}

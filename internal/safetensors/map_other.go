//go:build !unix

package safetensors

import (
	"errors"
	"os"
)

// mapFile is not available here: tensors are read into memory.
func mapFile(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return nil }

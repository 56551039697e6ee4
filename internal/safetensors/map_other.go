//go:build !unix

package safetensors

import (
	"errors"
	"os"
)

// mapFile returns an error on this system, so tensors are read into memory.
func mapFile(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return nil }

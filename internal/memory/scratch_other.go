//go:build !unix

package memory

import (
	"errors"
	"os"
)

func scratch(int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func nameless(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func inOrder([]byte, bool) {}

func free([]byte) {} // the memory is ordinary: the collector frees it

func sparsely([]byte) {}

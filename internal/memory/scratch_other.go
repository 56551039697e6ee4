//go:build !unix

package memory

import (
	"context"
	"errors"
	"os"
)

func scratch(int64) ([]byte, error) { return nil, errors.ErrUnsupported }

// Map is not supported.
func Map(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func expect([]byte, order) {}

func fetch(context.Context, []byte) {}

func free([]byte) {} // the memory is ordinary: the collector frees it

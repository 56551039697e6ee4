//go:build !unix

package memory

import (
	"context"
	"errors"
)

func scratch(int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func expect([]byte, order) {}

func fetch(context.Context, []byte) {}

func free([]byte) {} // the memory is ordinary: the collector frees it

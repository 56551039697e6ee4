//go:build !unix

package memory

import "errors"

func scratch(int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func expect([]byte, order) {}

func free([]byte) {} // the memory is ordinary: the collector frees it

//go:build !linux

package confine

import (
	"context"
	"errors"
)

// Run returns an error: only Linux has control groups.
func Run(context.Context, int64, []string, ...string) (Usage, error) {
	return Usage{}, ErrNone
}

// Forget does nothing.
func Forget(string) error { return nil }

// ErrNone means that no control group can be created on this system.
var ErrNone = errors.New("this system has no control groups for memory")

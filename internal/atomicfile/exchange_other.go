//go:build !linux && !darwin

package atomicfile

import "errors"

// exchange returns an error: this system cannot swap two folders in one step.
func exchange(string, string) error { return errors.ErrUnsupported }

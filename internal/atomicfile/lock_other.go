//go:build !unix || aix || solaris

package atomicfile

import "os"

// take does nothing where files cannot be locked. On Windows, files that another process has open cannot be removed, so
// that clearing the folder fails instead.
func take(*os.File) error { return nil }

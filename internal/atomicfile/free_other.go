//go:build !linux && !darwin

package atomicfile

// Free returns false: this system is not asked.
func Free(string) (bytes int64, known bool) { return 0, false }

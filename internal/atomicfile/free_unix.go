//go:build linux || darwin

package atomicfile

import "golang.org/x/sys/unix"

// Free returns how many bytes can still be written to the disk of a folder, and whether that is known.
func Free(folder string) (bytes int64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

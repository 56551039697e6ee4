//go:build unix

package safetensors

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file privately: pages are read when touched, and writing to a page gives the process a private copy of
// it. The system reserves no memory for the few such pages, so the file may be larger than memory.
func mapFile(f *os.File, size int64) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unreserved)
}

func unmapFile(b []byte) error { return unix.Munmap(b) }

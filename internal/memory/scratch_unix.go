//go:build unix

package memory

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scratch maps a new file of the given size that has no name.
func scratch(size int64) ([]byte, error) {
	file, err := nameless(folder())
	if err != nil {
		return nil, err
	}
	defer file.Close() // the mapping remains
	if err := reserve(file, size); err != nil {
		return nil, err
	}
	return unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// free unmaps the memory of scratch. The file has no name, so the system then deletes it.
func free(b []byte) { _ = unix.Munmap(b) }

// expect advises the system of the order in which b will be read.
func expect(b []byte, o order) {
	tell(b, [...]int{usual: unix.MADV_NORMAL, sequential: unix.MADV_SEQUENTIAL, random: unix.MADV_RANDOM}[o])
}

// tell advises the system about the full pages in b. It may decline: everything works without its help.
func tell(b []byte, advice int) {
	page := os.Getpagesize()
	if skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (page - 1); skip < len(b) {
		_ = unix.Madvise(b[skip:skip+(len(b)-skip)&^(page-1)], advice)
	}
}

// unnamed creates a file and removes its name.
func unnamed(folder string) (*os.File, error) {
	file, err := os.CreateTemp(folder, "cgc-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

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

// inOrder advises the system about the pages inside b. Errors are ignored, because it is only advice.
func inOrder(b []byte, begin bool) {
	advice := unix.MADV_NORMAL
	if begin {
		advice = unix.MADV_SEQUENTIAL
	}
	page := os.Getpagesize()
	if whole := inside(b, page); len(whole) > 0 {
		_ = unix.Madvise(whole, advice)
	}
}

// inside returns the part of b that consists of full pages.
func inside(b []byte, page int) []byte {
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (page - 1)
	if skip >= len(b) {
		return nil
	}
	return b[skip : skip+(len(b)-skip)&^(page-1)]
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

// sparsely advises the system about the full pages in b.
func sparsely(b []byte) {
	if whole := inside(b, os.Getpagesize()); len(whole) > 0 {
		_ = unix.Madvise(whole, unix.MADV_RANDOM)
	}
}

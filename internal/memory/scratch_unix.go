//go:build unix

package memory

import (
	"context"
	"os"
	"slices"
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
	return Map(file, size)
}

// Map sets the size of a file, reserves its space on disk, and maps it.
func Map(file *os.File, size int64) ([]byte, error) {
	if err := reserve(file, size); err != nil {
		return nil, err
	}
	return unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// free unmaps the memory of scratch, whose file has no name, so that the system deletes it, or of Map.
func free(b []byte) { _ = unix.Munmap(b) }

// expect advises the system of the order in which b will be read.
func expect(b []byte, o order) {
	tell(b, [...]int{usual: unix.MADV_NORMAL, sequential: unix.MADV_SEQUENTIAL, random: unix.MADV_RANDOM}[o])
}

// fetch implements Fetch. The system shortens requests for much more than a mebibyte.
func fetch(ctx context.Context, b []byte) {
	for part := range slices.Chunk(fullPages(b), 1<<20) {
		if ctx.Err() != nil {
			return
		}
		_ = unix.Madvise(part, unix.MADV_WILLNEED)
	}
}

// tell advises the system about the full pages in b. The system may ignore the advice.
func tell(b []byte, advice int) {
	if full := fullPages(b); len(full) > 0 {
		_ = unix.Madvise(full, advice)
	}
}

// fullPages returns the part of b that consists of complete pages, the unit of madvise.
func fullPages(b []byte) []byte {
	page := os.Getpagesize()
	skip := min(len(b), -int(uintptr(unsafe.Pointer(&b[0])))&(page-1))
	return b[skip : skip+(len(b)-skip)&^(page-1)]
}

// unnamed creates a file and removes its name, so that the file does not outlive the process.
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

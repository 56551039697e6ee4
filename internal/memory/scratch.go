package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// Scratch returns n zeros in a temporary file that is mapped into memory and may be larger than memory. The file is in
// the folder that TMPDIR names, else in /var/tmp, which is on a disk, else in the usual folder for temporary files.
// When Scratch returns, the file no longer has a name, so the system removes it when the process ends for any reason.
//
// Free removes the file earlier. On systems that cannot map files, the memory is ordinary. It is an error if the file
// cannot be created or the disk is too small.
func Scratch[T int32 | float32 | uint16](n int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	size := int64(unsafe.Sizeof(*new(T))) * int64(n)
	raw, err := scratch(size)
	if errors.Is(err, errors.ErrUnsupported) {
		return Make[T](n), nil
	}
	if err != nil {
		return nil, fmt.Errorf("a temporary file of %d bytes in %s (TMPDIR names another folder): %w", size, folder(), err)
	}
	return As[T](raw), nil
}

// As returns the memory of b, which must be aligned, as a slice of another type.
func As[T int32 | float32 | uint16](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// Free frees a complete slice from Scratch or Map. No part of the slice may be used any more.
func Free[T int32 | float32 | uint16 | byte](s []T) {
	if len(s) > 0 {
		free(Bytes(s))
	}
}

func folder() string {
	const onDisk = "/var/tmp" // "temporary files preserved between reboots" (Filesystem Hierarchy Standard 3.0, §5.15)
	if info, err := os.Stat(onDisk); err == nil && info.IsDir() {
		return cmp.Or(os.Getenv("TMPDIR"), onDisk)
	}
	return os.TempDir()
}

// InOrder announces that s is in a mapped file and will be read in order, perhaps several times. The system then reads
// ahead, and first drops pages that were already read. done withdraws the announcement.
func InOrder[T int32 | int64 | uint16 | float32](s []T) (done func()) { return announce(s, sequential) }

// Sparsely announces that s is in a mapped file, and that some of it will be read, in any order. The system then reads
// only what is accessed, and not the megabytes around it. done withdraws the announcement.
func Sparsely[T int32 | int64 | uint16 | float32](s []T) (done func()) { return announce(s, random) }

// Fetch asks the system to read s, which is in a mapped file, into the page cache. It takes about as long as the
// reading, and ends early if ctx is done.
func Fetch[T uint16 | float32](ctx context.Context, s []T) {
	if len(s) > 0 {
		fetch(ctx, Bytes(s))
	}
}

// order is the order in which memory will be read.
type order int

const (
	usual order = iota
	sequential
	random
)

func announce[T int32 | int64 | uint16 | float32](s []T, o order) (done func()) {
	if len(s) == 0 {
		return func() {}
	}
	expect(Bytes(s), o)
	return func() { expect(Bytes(s), usual) }
}

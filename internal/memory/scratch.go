package memory

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// Scratch returns n zeros in a temporary file that is mapped into memory: they may be more than memory holds. The file
// is in the folder that TMPDIR names, else in /var/tmp, which lies on a disk, else in the usual folder for temporary
// files. It has no name any more when Scratch returns. So the system removes it when the process ends, however it ends.
//
// Free gives the file back before that. Systems that cannot map files give ordinary memory. The error says why there is
// no such file, or that the disk is too small.
func Scratch[T int32 | float32](n int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	raw, err := scratch(4 * int64(n))
	if errors.Is(err, errors.ErrUnsupported) {
		return Make[T](n), nil
	}
	if err != nil {
		return nil, fmt.Errorf("a temporary file of %d bytes in %s (TMPDIR names another folder): %w", 4*n, folder(), err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&raw[0])), n), nil
}

// TemporaryFile returns an empty file in the folder of Scratch, and what closes and removes it. The file has no name,
// so that the system removes it when the process ends, however it ends. On systems where every file has a name, only
// done removes it.
func TemporaryFile() (file *os.File, done func(), err error) {
	if file, err = nameless(folder()); errors.Is(err, errors.ErrUnsupported) {
		file, err = os.CreateTemp(folder(), "cgc-*")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("a temporary file in %s (TMPDIR names another folder): %w", folder(), err)
	}
	return file, func() {
		file.Close()
		_ = os.Remove(file.Name()) // where it has a name
	}, nil
}

// Free gives back the file of a slice that Scratch returned, whole. No part of the slice may be used any more.
func Free[T int32 | float32](s []T) {
	if len(s) == 0 {
		return
	}
	free(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 4*len(s)))
}

// folder returns where temporary files go.
func folder() string {
	const onDisk = "/var/tmp" // "temporary files preserved between reboots" (Filesystem Hierarchy Standard 3.0, §5.15)
	if info, err := os.Stat(onDisk); err == nil && info.IsDir() {
		return cmp.Or(os.Getenv("TMPDIR"), onDisk)
	}
	return os.TempDir()
}

// InOrder says that s lies in a mapped file and is about to be read in order, perhaps several times. The system then
// reads ahead, and first drops what was read. The function that it returns takes that back.
func InOrder[T int32 | int64 | uint16 | float32](s []T) (done func()) {
	if len(s) == 0 {
		return func() {}
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
	inOrder(raw, true)
	return func() { inOrder(raw, false) }
}

// Sparsely says that s lies in a mapped file and is read at random places: the system then reads no more than asked.
func Sparsely[T int32 | float32](s []T) {
	if len(s) > 0 {
		sparsely(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 4*len(s)))
	}
}

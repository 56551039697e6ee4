package atomicfile

import "golang.org/x/sys/unix"

// exchange swaps the names of two folders in one step. The error says that the file system cannot.
func exchange(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }

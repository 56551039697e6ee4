package atomicfile

import "golang.org/x/sys/unix"

// exchange swaps the names of two folders in one step. It returns an error if the file system cannot do that.
func exchange(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }

package memory

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve sets the size of file and reserves space on the disk. Without space, a later write to the mapped file would
// kill the process.
func reserve(file *os.File, size int64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return file.Truncate(size)
	}
	return err
}

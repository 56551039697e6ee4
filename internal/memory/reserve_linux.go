package memory

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve gives file its size and the room on the disk. Without room, a later write to the mapped file would end the
// process.
func reserve(file *os.File, size int64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return file.Truncate(size)
	}
	return err
}

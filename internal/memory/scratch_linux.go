package memory

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// nameless creates a file that never has a name. Where the file system cannot do that, it removes the name.
func nameless(folder string) (*os.File, error) {
	fd, err := unix.Open(folder, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return os.NewFile(uintptr(fd), filepath.Join(folder, "a temporary file")), nil
	}
	return unnamed(folder)
}

// reserve sets the size of file and, where the file system supports it, reserves the space on disk. Without space, a
// later write to the mapped file would kill the process.
func reserve(file *os.File, size int64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return file.Truncate(size)
	}
	return err
}

// advise requests huge pages for the full pages in b.
func advise(b []byte) { tell(b, unix.MADV_HUGEPAGE) }

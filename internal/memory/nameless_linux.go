package memory

import (
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

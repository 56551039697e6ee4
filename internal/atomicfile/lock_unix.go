//go:build unix && !aix && !solaris

package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// take locks a file until it is closed, or until the process ends. It returns an error if another process has the lock.
func take(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

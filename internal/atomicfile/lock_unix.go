//go:build unix && !aix && !solaris

package atomicfile

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// take locks a file or folder until it is closed, or until the process ends. It returns errTaken if another process has
// the lock, and the system's error if locks are not supported.
func take(file *os.File) error {
	var err error = unix.EINTR
	for errors.Is(err, unix.EINTR) {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errTaken
	}
	return err
}

// abandoned locks a leftover, and reports whether no other process had it locked. The name is checked under the lock:
// since the file was opened, its owner may have renamed it, or created a new one.
func abandoned(lock *os.File, name, _ string) bool { return take(lock) == nil && named(lock, name) }

// ours reports whether a file belongs to the user of this process.
func ours(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	status, is := info.Sys().(*syscall.Stat_t)
	return is && int(status.Uid) == os.Geteuid()
}

// lockOf returns the folder itself. A file in it could already be gone while the folder is being removed.
func lockOf(folder string) string { return folder }

// openLock opens the folder, which is its own lock. It fails for a file or a link, which Scratch did not create.
func openLock(folder string) (*os.File, error) {
	return os.OpenFile(folder, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

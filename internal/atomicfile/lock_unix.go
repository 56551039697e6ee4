//go:build unix && !aix && !solaris

package atomicfile

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// take locks a file or folder until it is closed, or until the process ends. It returns errTaken if another process has
// the lock, and the system's error where there are no locks.
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

// abandoned reports whether no process has the lock of what is left, the open file of that name, and takes it. The name
// is looked at under the lock: the owner may have given the file its place, or begun anew, since it was opened.
func abandoned(lock *os.File, name, _ string) bool { return take(lock) == nil && named(lock, name) }

// ours reports whether a file is of the user who runs this process.
func ours(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	status, is := info.Sys().(*syscall.Stat_t)
	return is && int(status.Uid) == os.Geteuid()
}

// lockOf returns what is locked of a folder of Scratch: the folder. A file in it could be gone while the folder is
// being removed.
func lockOf(folder string) string { return folder }

// openLock opens it. A file of that name, or a link, is not ours.
func openLock(folder string) (*os.File, error) {
	return os.OpenFile(folder, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

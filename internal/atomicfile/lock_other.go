//go:build !unix || aix || solaris

package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// take does nothing where files cannot be locked. Windows cannot remove files that another process has open, so
// clearing the folder fails instead.
func take(*os.File) error { return nil }

// abandoned reports whether the process whose number is in the name of a leftover has ended. It returns false on
// systems other than Windows, where that is unknown.
func abandoned(lock *os.File, name, left string) bool {
	if runtime.GOOS != "windows" {
		return false
	}
	lock.Close() // an open file cannot be removed
	if strings.HasSuffix(left, partial) {
		return os.Remove(name) == nil // this fails while a process has the file open
	}
	_, rest, _ := strings.Cut(left[strings.LastIndex(left, mark):], "-")
	number, _, _ := strings.Cut(rest, "-")
	process, err := strconv.Atoi(number)
	if err != nil {
		return false
	}
	_, err = os.FindProcess(process)
	return err != nil
}

// ours returns true: removing another user's file fails.
func ours(string) bool { return true }

// lockOf returns the file in a folder of Scratch that is open while the folder is in use.
func lockOf(folder string) string { return filepath.Join(folder, "lock") }

func openLock(folder string) (*os.File, error) {
	return os.OpenFile(lockOf(folder), os.O_CREATE|os.O_RDWR, 0o644)
}

//go:build !unix || aix || solaris

package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// take does nothing where files cannot be locked. On Windows, files that another process has open cannot be removed, so
// that clearing the folder fails instead.
func take(*os.File) error { return nil }

// abandoned reports whether the process whose number is in the name of what is left runs no more. Only Windows tells.
func abandoned(lock *os.File, name, left string) bool {
	if runtime.GOOS != "windows" {
		return false
	}
	lock.Close() // an open file cannot be removed
	if strings.HasSuffix(left, partial) {
		return os.Remove(name) == nil // it fails while a process has it open
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

// ours returns true: removing the file of another user fails.
func ours(string) bool { return true }

// lockOf returns the file in a folder of Scratch that is open while it is in use.
func lockOf(folder string) string { return filepath.Join(folder, "lock") }

// openLock makes and opens it.
func openLock(folder string) (*os.File, error) {
	return os.OpenFile(lockOf(folder), os.O_CREATE|os.O_RDWR, 0o644)
}

package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// errTaken says that another process has a lock.
var errTaken = errors.New("another process has it")

// Lock locks an open file until it is closed, or until the process ends, however it ends. While another process has the
// lock, it returns an error. Where files cannot be locked it does nothing.
func Lock(file *os.File) error {
	if take(file) == errTaken {
		return fmt.Errorf("another process is writing %s", file.Name())
	}
	return nil
}

// closeOnWindows closes a file on Windows, which neither renames nor removes what is open.
func closeOnWindows(file *os.File) {
	if runtime.GOOS == "windows" {
		file.Close()
	}
}

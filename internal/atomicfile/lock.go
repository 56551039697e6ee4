package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// errTaken means that another process holds the lock.
var errTaken = errors.New("another process has it")

// Lock locks an open file until it is closed, or until the process ends for any reason. It returns an error if another
// process has the lock. It does nothing where files cannot be locked.
func Lock(file *os.File) error {
	if take(file) == errTaken {
		return fmt.Errorf("another process is writing %s", file.Name())
	}
	return nil
}

// closeOnWindows closes a file on Windows, which neither renames nor removes open files.
func closeOnWindows(file *os.File) {
	if runtime.GOOS == "windows" {
		file.Close()
	}
}

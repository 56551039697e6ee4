// Package atomicfile writes files that appear under their name completely or not at all.
//
// Until a file is complete, it has a temporary name in the same folder: ".NAME.cgc-NUMBER" for a file or a folder,
// ".NAME.partial" for a folder of Scratch. The process holds a lock on it, which the system releases when the process
// ends, even if it is killed. The next call for the same path can therefore remove what killed processes left, and
// never removes what a running process is writing.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// readable is the mode of the files. os.CreateTemp would keep them private.
const readable = 0o644

// Write calls write with a temporary file in the folder of path. When write returns nil and the content is on the disk,
// it renames that file to path. It replaces an existing file or symbolic link, but does not change the target of the
// link. If anything fails, the temporary file is removed, and path is unchanged. The error says "writing PATH" and
// wraps the error of write.
func Write(path string, write func(io.Writer) error) (err error) {
	defer writing(path, &err)
	Clean(path)
	file, err := create(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	if err := write(file); err != nil {
		return err
	}
	if err := file.Chmod(readable); err != nil {
		return reason(err)
	}
	return rename(file, path)
}

// writing adds to an error which file was being written. Functions that write defer it.
func writing(path string, err *error) {
	if *err != nil {
		*err = fmt.Errorf("writing %s: %w", path, *err)
	}
}

// rename syncs a file, renames it to path and closes it.
func rename(file *os.File, path string) error {
	if err := file.Sync(); err != nil {
		return reason(err)
	}
	closeOnWindows(file)
	if err := os.Rename(file.Name(), path); err != nil { // before the lock is released
		return reason(err)
	}
	file.Close() // the content is on the disk
	return nil
}

// Check returns an error if no file can be created in the folder of path. To find out, it creates one. Like Write, it
// first removes what killed processes left.
func Check(path string) error {
	Clean(path)
	file, err := create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	closeOnWindows(file)
	return os.Remove(file.Name())
}

// create creates and locks a temporary file for path.
func create(path string) (*os.File, error) {
	folder, _ := split(path)
	for {
		file, err := os.CreateTemp(cmp.Or(folder, "."), temporary(path))
		if err != nil {
			return nil, reason(err)
		}
		if own(file, file.Name()) {
			return file, nil
		}
		file.Close() // another process saw it unlocked and removes it
	}
}

// reason removes the name of the temporary file from an error.
func reason(err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return path.Err
	}
	if link, is := errors.AsType[*os.LinkError](err); is {
		return link.Err
	}
	return err
}

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

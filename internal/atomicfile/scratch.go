package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Scratch is like Write, for a file that is written in steps and needs temporary files. It calls write with a private
// folder next to path and a file in that folder. When write returns nil and the content is on the disk, the file is
// renamed to path. The folder is removed in any case.
//
// If the process is killed, the folder stays, and the next call with the same path removes it first. While another
// process writes the same path, Scratch returns an error.
func Scratch(path string, write func(folder string, file *os.File) error) (err error) {
	path = filepath.Clean(path)
	defer writing(path, &err)
	Clean(path)
	folder := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+partial)
	lock, err := takeFolder(folder)
	if err != nil {
		return err
	}
	defer func() {
		closeOnWindows(lock)
		err = errors.Join(err, discard(folder)) // before the lock is released
		lock.Close()
	}()
	if err := empty(folder, lock.Name()); err != nil {
		return reason(err)
	}
	file, err := os.Create(filepath.Join(folder, "file"))
	if err != nil {
		return reason(err)
	}
	if err = write(folder, file); err == nil {
		err = rename(file, path)
	}
	if err != nil {
		file.Close()
	}
	return err
}

// takeFolder creates a folder of Scratch and locks it.
func takeFolder(folder string) (*os.File, error) {
	for {
		if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, reason(err)
		}
		lock, err := openLock(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its owner removed it
		}
		if err != nil {
			return nil, reason(err)
		}
		if take(lock) == errTaken {
			lock.Close()
			return nil, fmt.Errorf("another process is making it (%s is in use)", folder)
		}
		if named(lock, lockOf(folder)) {
			return lock, nil
		}
		lock.Close()
	}
}

// empty removes what a killed process left in a folder, except the lock.
func empty(folder, lock string) error {
	left, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range left {
		if name := filepath.Join(folder, entry.Name()); name != lock {
			if err := discard(name); err != nil {
				return err
			}
		}
	}
	return nil
}

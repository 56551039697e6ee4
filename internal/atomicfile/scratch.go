package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Scratch is Write for a file that is made in steps, with room for temporary files. It calls write with a folder beside
// path, which write has to itself, and a file in it. The file gets the name path when write returns nil and the content
// is on the disk. The folder is removed in any case.
//
// If the process is killed, the folder stays. The next call with the same path removes it first. While another process
// makes the same path, Scratch returns an error.
func Scratch(path string, write func(folder string, file *os.File) error) (err error) {
	path = filepath.Clean(path)
	folder := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".partial")
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return reason(err)
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return reason(err)
	}
	if err := take(lock); err != nil {
		lock.Close()
		return fmt.Errorf("another process is making it (%s is in use)", folder)
	}
	defer func() {
		err = errors.Join(err, lock.Close(), os.RemoveAll(folder))
	}()
	if err := empty(folder); err != nil {
		return reason(err)
	}
	file, err := os.Create(filepath.Join(folder, "file"))
	if err != nil {
		return reason(err)
	}
	if err := write(folder, file); err != nil {
		file.Close()
		return err
	}
	if err := file.Sync(); err != nil {
		file.Close()
		return reason(err)
	}
	if err := file.Close(); err != nil {
		return reason(err)
	}
	return reason(os.Rename(file.Name(), path))
}

// empty removes what a killed process left in a folder, but for the lock.
func empty(folder string) error {
	left, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range left {
		if entry.Name() != "lock" {
			if err := os.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Package atomicfile writes files that appear under their name whole or not at all.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// readable is the mode of the files. os.CreateTemp would keep them private.
const readable = 0o644

// Write calls write with a temporary file beside path, and gives that file the name path when write returns nil and the
// content is on the disk. A file of that name is replaced as a whole. If anything fails, the temporary file is removed,
// and what stood at path stays. The error says "writing PATH" and wraps that of write.
func Write(path string, write func(io.Writer) error) (err error) {
	file, err := create(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	if err := write(file); err != nil {
		return err
	}
	if err := file.Chmod(readable); err != nil {
		return reason(err)
	}
	if err := file.Sync(); err != nil {
		return reason(err)
	}
	if err := file.Close(); err != nil {
		return reason(err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return reason(err)
	}
	return nil
}

// Check returns an error if a file cannot be created in the folder of path. Only creating one shows that.
func Check(path string) error {
	file, err := create(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

func create(path string) (*os.File, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	return file, reason(err)
}

// reason strips the name of the temporary file from an error.
func reason(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

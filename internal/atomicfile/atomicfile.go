// Package atomicfile writes files that appear under their name whole or not at all.
//
// What is written has a temporary name beside its place until it is whole: ".NAME.cgc-NUMBER" for a file or a folder,
// ".NAME.partial" for a folder of Scratch. The process locks it meanwhile. The system gives the lock back when the
// process ends, even if it is killed. So the next call for the same path removes what killed processes left, and never
// what a living process writes.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// readable is the mode of the files. os.CreateTemp would keep them private.
const readable = 0o644

// Write calls write with a temporary file beside path, and gives that file the name path when write returns nil and the
// content is on the disk. A file of that name is replaced as a whole. A symbolic link is replaced too: what it leads to
// stays as it is. If anything fails, the temporary file is removed, and what stood at path stays. The error says
// "writing PATH" and wraps that of write.
func Write(path string, write func(io.Writer) error) (err error) {
	Clean(path)
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
	return rename(file, path)
}

// rename brings the content of a file to the disk, gives the file the name path and closes it.
func rename(file *os.File, path string) error {
	if err := file.Sync(); err != nil {
		return reason(err)
	}
	if runtime.GOOS == "windows" { // an open file keeps its name there
		if err := file.Close(); err != nil {
			return reason(err)
		}
		return reason(os.Rename(file.Name(), path))
	}
	if err := os.Rename(file.Name(), path); err != nil { // before the lock is given back
		return reason(err)
	}
	file.Close() // the content is on the disk
	return nil
}

// Check returns an error if a file cannot be created in the folder of path. Only creating one shows that. It removes
// what killed processes left of path, as writing does.
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

// create makes and locks a temporary file for path.
func create(path string) (*os.File, error) {
	for {
		file, err := os.CreateTemp(filepath.Dir(path), temporary(path))
		if err != nil {
			return nil, reason(err)
		}
		if own(file, file.Name()) {
			return file, nil
		}
		file.Close() // another process took it for abandoned before it was locked, and removes it
	}
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

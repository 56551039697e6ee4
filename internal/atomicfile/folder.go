package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder calls write with a new folder beside path, and gives that folder the name path when write returns nil and the
// files in it are on the disk. A folder of that name is replaced, with all that it holds: ask before. A symbolic link
// is replaced too: what it leads to stays as it is. If anything fails, the new folder is removed, and what stood at
// path stays. The error says "writing PATH" and wraps that of write.
//
// Linux and macOS exchange the two folders in one step. Where the file system cannot, there is none for a moment. If
// the process is killed in that moment, the next call gives the old one its name back first.
func Folder(path string, write func(folder string) error) (err error) {
	path = filepath.Clean(path)
	Clean(path)
	folder, lock, err := createFolder(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer lock.Close()
	defer func() {
		if err != nil {
			os.RemoveAll(folder)
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	if err := write(folder); err != nil {
		return err
	}
	if err := os.Chmod(folder, 0o755); err != nil { // os.MkdirTemp keeps it private
		return reason(err)
	}
	if err := syncAll(folder); err != nil {
		return reason(err)
	}
	closeOnWindows(lock)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reason(os.Rename(folder, path))
	case err != nil:
		return reason(err)
	case !info.IsDir() && info.Mode()&fs.ModeSymlink == 0:
		return errors.New("it is a file, want a folder")
	}
	if exchange(folder, path) == nil {
		return reason(os.RemoveAll(folder)) // what stood at path
	}
	return replace(folder, path)
}

// replace gives a folder the name path, and removes what had it. For a moment nothing has it.
func replace(folder, path string) error {
	old := folder + aside
	if err := os.Rename(path, old); err != nil {
		return reason(err)
	}
	if err := os.Rename(folder, path); err != nil {
		return reason(errors.Join(err, os.Rename(old, path)))
	}
	return reason(os.RemoveAll(old))
}

// createFolder makes and locks a temporary folder for path.
func createFolder(path string) (folder string, lock *os.File, err error) {
	for {
		folder, err := os.MkdirTemp(filepath.Dir(path), temporary(path))
		if err != nil {
			return "", nil, reason(err)
		}
		lock, err := os.Open(folder)
		if err == nil && own(lock, folder) {
			return folder, lock, nil
		}
		lock.Close() // another process took it for abandoned before it was locked, and removes it
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", nil, errors.Join(reason(err), os.RemoveAll(folder))
		}
	}
}

// syncAll brings the files below a folder to the disk.
func syncAll(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0) // Windows syncs only what may be written
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}

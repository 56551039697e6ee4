package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Folder calls write with a new folder next to path. When write returns nil and the files in it are on the disk, it
// renames that folder to path. An existing folder is replaced with all its content: ask the user first. A symbolic link
// is replaced too, but its target is not changed. If anything fails, the new folder is removed, and path is unchanged.
// The error says "writing PATH" and wraps the error of write.
//
// Linux and macOS exchange the two folders in one step. Where the file system cannot, path does not exist for a moment.
// If the process is killed in that moment, the next call first restores the old folder.
func Folder(path string, write func(folder string) error) (err error) {
	path = filepath.Clean(path)
	defer writing(path, &err)
	Clean(path)
	folder, lock, err := createFolder(path)
	if err != nil {
		return err
	}
	defer lock.Close()
	defer func() {
		if err != nil {
			os.RemoveAll(folder)
		}
	}()
	if err := write(folder); err != nil {
		return err
	}
	if err := os.Chmod(folder, 0o755); err != nil { // os.MkdirTemp made it private
		return reason(err)
	}
	if err := syncAll(folder); err != nil {
		return reason(err)
	}
	closeOnWindows(lock)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		renamed := os.Rename(folder, path)
		if info, err = os.Lstat(path); renamed == nil || err != nil {
			return reason(renamed)
		} // another process has put a folder there meanwhile
	}
	switch {
	case err != nil:
		return reason(err)
	case !info.IsDir() && info.Mode()&fs.ModeSymlink == 0:
		return errors.New("it is a file, must be a folder")
	}
	if exchange(folder, path) == nil {
		return reason(os.RemoveAll(folder)) // the old folder
	}
	return replace(folder, path)
}

// Stranger returns the name of an entry of a folder for which own is false, or "". A folder that does not exist or
// cannot be read has no entries: writing reports the error.
func Stranger(folder string, own func(fs.DirEntry) bool) string {
	entries, _ := os.ReadDir(folder)
	if i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return !own(e) }); i >= 0 {
		return entries[i].Name()
	}
	return ""
}

// replace renames a folder to path, and removes the folder that had the name. For a moment, path does not exist.
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

// createFolder creates and locks a temporary folder for path.
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
		lock.Close() // another process saw it unlocked and removes it
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", nil, errors.Join(reason(err), os.RemoveAll(folder))
		}
	}
}

// syncAll syncs the files below a folder.
func syncAll(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0) // Windows syncs only writable files
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder calls write with a new folder beside path, and gives that folder the name path when write returns nil. A
// folder of that name is replaced, with all that it holds: ask before. For a moment there is then none. If anything
// fails, the new folder is removed, and what stood at path stays. The error says "writing PATH" and wraps that of
// write.
func Folder(path string, write func(folder string) error) (err error) {
	path = filepath.Clean(path)
	folder, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, reason(err))
	}
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
	old := ""
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		old = folder + ".old"
		if err := os.Rename(path, old); err != nil {
			return reason(err)
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return reason(err)
	}
	if err := os.Rename(folder, path); err != nil {
		if old != "" {
			err = errors.Join(err, os.Rename(old, path))
		}
		return reason(err)
	}
	if old != "" {
		return os.RemoveAll(old)
	}
	return nil
}

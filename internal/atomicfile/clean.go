package atomicfile

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mark precedes the number in the name of a temporary file. aside is the suffix of a folder that was moved out of the
// way, and partial is the suffix of a folder of Scratch.
const (
	mark    = ".cgc-"
	aside   = ".old"
	partial = ".partial"
)

// temporary returns the pattern of os.CreateTemp for a file to be renamed to path. It contains the number of the
// process, which on Windows shows whether the process still runs.
func temporary(path string) string {
	return fmt.Sprintf(".%s%s%d-*", filepath.Base(path), mark, os.Getpid())
}

// own locks a new file or folder. It returns false if another process has locked or removed it. It returns true on file
// systems without locks: no other process can lock the file either, so none removes it.
func own(file *os.File, path string) bool { return take(file) != errTaken && named(file, path) }

// named reports whether path is the name of an open file.
func named(file *os.File, path string) bool {
	at, err := os.Lstat(path)
	if err != nil {
		return false
	}
	opened, err := file.Stat()
	return err == nil && os.SameFile(at, opened)
}

// Clean removes the temporary files for path that killed processes left. It keeps the files of running processes and of
// other users. Write, Folder and Scratch call it first. A program that may never write path should call it when it
// starts.
func Clean(path string) {
	folder, base := split(path)
	entries, _ := os.ReadDir(cmp.Or(folder, ".")) // writing reports the error; names are sorted, so X comes before X.old
	for _, entry := range entries {
		if left := folder + entry.Name(); isTemporary(entry.Name(), base) && ours(left) {
			remove(left, folder+base)
		}
	}
}

// split returns the folder of path, with a separator at its end or empty, and the name in it. The folder is not
// cleaned: NAME/.. must exist, and if NAME is a link, it is the folder above the target.
func split(path string) (folder, base string) {
	return filepath.Split(TrimSeparators(path))
}

// TrimSeparators returns path without separators at its end.
func TrimSeparators(path string) string {
	for path != "" && os.IsPathSeparator(path[len(path)-1]) {
		path = path[:len(path)-1]
	}
	return path
}

// isTemporary reports whether name is the name of a temporary file for a path that ends in base.
func isTemporary(name, base string) bool {
	rest, is := strings.CutPrefix(name, "."+base)
	if !is {
		return false
	}
	if rest == partial {
		return true
	}
	if rest, is = strings.CutPrefix(rest, mark); !is {
		return false
	}
	process, number, is := strings.Cut(strings.TrimSuffix(rest, aside), "-")
	return is && digits(process) && digits(number)
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// remove removes a leftover for path, unless a process has locked it. If a killed process moved a folder aside and
// nothing replaced it, the folder gets its name back.
func remove(left, path string) {
	name := left
	if strings.HasSuffix(left, partial) {
		name = lockOf(left)
	}
	info, err := os.Lstat(name)
	if err != nil || !info.IsDir() && (!info.Mode().IsRegular() || name == left && strings.HasSuffix(left, partial)) {
		return
	}
	lock, err := os.Open(name)
	if err != nil {
		return
	}
	defer lock.Close()
	if !abandoned(lock, name, left) {
		return
	}
	if strings.HasSuffix(left, aside) {
		if _, err := os.Lstat(path); os.IsNotExist(err) && os.Rename(left, path) == nil {
			return
		}
	}
	_ = discard(left)
}

// discard removes a file or a folder. If that fails, it makes the folders inside writable and tries again.
func discard(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(at, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

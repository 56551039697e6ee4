package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mark stands before the number in the name of a temporary file, aside ends the name of a folder that was moved out of
// the way, partial that of a folder of Scratch.
const (
	mark    = ".cgc-"
	aside   = ".old"
	partial = ".partial"
)

// temporary returns the pattern of os.CreateTemp for what will be called path. It holds the number of the process,
// which tells on Windows whether it still runs.
func temporary(path string) string {
	return fmt.Sprintf(".%s%s%d-*", filepath.Base(path), mark, os.Getpid())
}

// own locks a new file or folder. It returns false if another process has it, or removed it. On file systems without
// locks it returns true: nobody else can lock it either, so nobody removes it.
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

// Clean removes the temporary files that killed processes left of path. What a living process writes stays, and so do
// files of other users. Write, Folder and Scratch begin with it. A program that may not come to write path calls it
// where it begins.
func Clean(path string) {
	path = filepath.Clean(path)
	folder := filepath.Dir(path)
	names, err := list(folder)
	if err != nil {
		return // writing says why
	}
	slices.Sort(names) // a folder comes before what it replaced
	for _, name := range names {
		if left := filepath.Join(folder, name); isTemporary(name, filepath.Base(path)) && ours(left) {
			remove(left, path)
		}
	}
}

// list returns the names in a folder.
func list(folder string) ([]string, error) {
	file, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Readdirnames(-1)
}

// isTemporary reports whether name is that of a temporary file for a path that ends in base.
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

// remove removes what is left of path, if no process has it. A folder that a killed process moved aside, and for which
// nothing came, gets its name back.
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

// discard removes a file or a folder. A folder whose files may not be changed is made writable first.
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

package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graph-condensation/cgc/internal/atomicfile"
)

// put creates files with their names as content and, for names that end in a slash, folders with a file.
func put(t *testing.T, dir string, list ...string) {
	t.Helper()
	for _, name := range list {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
			path = filepath.Join(path, "lock")
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// writes returns a function that writes text.
func writes(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// unlocked skips a test on systems without locks.
func unlocked(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked here")
	}
}

// TestClean checks that what killed processes left for a path is removed, and everything else is kept.
func TestClean(t *testing.T) {
	unlocked(t)
	dir := t.TempDir()
	stay := []string{
		"a.txt", ".a.txt", ".a.txt.cgc-", ".a.txt.cgc-1", ".a.txt.cgc-1-", ".a.txt.cgc-1-x", ".a.txt.cgc-1-2.new",
		".a.txt.1234", "a.txt.cgc-1-2", ".ba.txt.cgc-1-2", ".a.txt.b.cgc-1-2", ".a.txt.checkpoint.cgc-1-2",
		".a.txt.partial.b", ".b.partial/",
	}
	put(t, dir, stay...)
	put(t, dir, ".a.txt.cgc-1-2", ".a.txt.cgc-99-3/", ".a.txt.cgc-1-4.old/", ".a.txt.partial/")
	if err := os.Symlink("a.txt", filepath.Join(dir, ".a.txt.cgc-1-5")); err != nil {
		t.Fatal(err)
	}
	stay = append(stay, ".a.txt.cgc-1-5", ".b.partial", ".c.partial")
	put(t, dir, ".c.partial")
	atomicfile.Clean(filepath.Join(dir, "c"))
	err := atomicfile.Scratch(filepath.Join(dir, "c"), func(string, *os.File) error { return nil })
	if err == nil {
		t.Error("a file is taken for a folder of temporary files")
	}
	locked := filepath.Join(dir, ".a.txt.cgc-1-4.old")
	if err := os.Chmod(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	atomicfile.Clean(filepath.Join(dir, "a.txt"))
	stay = slices.DeleteFunc(stay, func(name string) bool { return strings.HasSuffix(name, "/") })
	slices.Sort(stay)
	if got := names(t, dir); !slices.Equal(got, stay) {
		t.Errorf("left\n%q, want\n%q", got, stay)
	}
}

// TestWritersClean checks that every way to write cleans first.
func TestWritersClean(t *testing.T) {
	unlocked(t)
	for name, write := range map[string]func(path string) error{
		"Write":  func(path string) error { return atomicfile.Write(path, func(io.Writer) error { return nil }) },
		"Folder": func(path string) error { return atomicfile.Folder(path+"/", func(string) error { return nil }) },
		"Check":  func(path string) error { return errors.Join(atomicfile.Check(path), os.WriteFile(path, nil, 0o600)) },
		"Scratch": func(path string) error {
			return atomicfile.Scratch(path, func(string, *os.File) error { return nil })
		},
	} {
		dir := t.TempDir()
		put(t, dir, ".a.cgc-1-2", ".a.cgc-1-3/", ".a.partial/")
		if err := write(filepath.Join(dir, "a")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%s leaves %q", name, got)
		}
	}
}

// TestCleanBringsBack checks that a folder that was moved aside gets its name back if nothing replaced it.
func TestCleanBringsBack(t *testing.T) {
	unlocked(t)
	dir := t.TempDir()
	put(t, dir, ".out.cgc-1-2/", ".out.cgc-1-2.old/")
	atomicfile.Clean(filepath.Join(dir, "out"))
	if got := names(t, dir); !slices.Equal(got, []string{"out"}) {
		t.Fatalf("left %q, want out", got)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out", "lock"))
	if err != nil || string(text) != ".out.cgc-1-2.old/" {
		t.Errorf("out is %q, %v, want the old folder", text, err)
	}
}

// TestCleanLeavesTheLiving checks that concurrent runs that write one path never remove each other's files.
func TestCleanLeavesTheLiving(t *testing.T) {
	unlocked(t)
	dir := t.TempDir()
	const runs, times = 6, 40
	var group sync.WaitGroup
	for i := range runs {
		group.Go(func() {
			for j := range times {
				text := fmt.Sprint(i, j)
				err := atomicfile.Write(filepath.Join(dir, "file"), writes(text))
				err = errors.Join(err, atomicfile.Folder(filepath.Join(dir, "folder"), func(folder string) error {
					return os.WriteFile(filepath.Join(folder, "x"), []byte(text), 0o600)
				}))
				scratch := atomicfile.Scratch(filepath.Join(dir, "big"), func(folder string, file *os.File) error {
					if err := os.WriteFile(filepath.Join(folder, "bucket"), []byte(text), 0o600); err != nil {
						return err
					}
					if got, err := os.ReadFile(filepath.Join(folder, "bucket")); err != nil || string(got) != text {
						return fmt.Errorf("bucket holds %q, %v, expected %q", got, err, text)
					}
					_, err := file.WriteString(text)
					return err
				})
				if scratch != nil && !strings.Contains(scratch.Error(), "another process is making it") {
					err = errors.Join(err, scratch)
				}
				if err != nil {
					t.Errorf("run %d, time %d: %v", i, j, err)
					return
				}
			}
		})
	}
	group.Wait()
	if got := names(t, dir); !slices.Equal(got, []string{"big", "file", "folder"}) {
		t.Errorf("left %q", got)
	}
}

// TestLinks checks that a symbolic link at the path is replaced by a file or a folder, and that its target is
// unchanged.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "precious", "treasure/")
	for link, to := range map[string]string{"file": "precious", "folder": "treasure", "lost": "nowhere", "gone": "nil"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	for _, name := range []string{"file", "lost"} {
		if err := atomicfile.Write(filepath.Join(dir, name), writes("new")); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"folder", "gone"} {
		err := atomicfile.Folder(filepath.Join(dir, name), func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "lock"), []byte("new"), 0o600)
		})
		if err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		"precious": "precious", "treasure/lock": "treasure/", "file": "new", "lost": "new", "folder/lock": "new",
		"gone/lock": "new",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v, want %q", name, got, err, want)
		}
	}
	if got := names(t, dir); len(got) != 6 {
		t.Errorf("left %q", got)
	}
}

package atomicfile_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// put creates files with their names as content and, for names that end in a slash, folders with a file.
func put(t *testing.T, dir string, list ...string) {
	t.Helper()
	for _, name := range list {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			mattest.OK(t, os.Mkdir(path, 0o755))
			path = filepath.Join(path, "lock")
		}
		mattest.OK(t, os.WriteFile(path, []byte(name), 0o600))
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
	mattest.OK(t, os.Symlink("a.txt", filepath.Join(dir, ".a.txt.cgc-1-5")))
	stay = append(stay, ".a.txt.cgc-1-5", ".b.partial", ".c.partial")
	put(t, dir, ".c.partial")
	atomicfile.Clean(filepath.Join(dir, "c"))
	err := atomicfile.Scratch(filepath.Join(dir, "c"), func(string, *os.File) error { return nil })
	if err == nil {
		t.Error("a file is taken for a folder of temporary files")
	}
	locked := filepath.Join(dir, ".a.txt.cgc-1-4.old")
	mattest.OK(t, os.Chmod(locked, 0o500))
	atomicfile.Clean(filepath.Join(dir, "a.txt"))
	stay = slices.DeleteFunc(stay, func(name string) bool { return strings.HasSuffix(name, "/") })
	slices.Sort(stay)
	mattest.Equal(t, names(t, dir), stay, "left")
}

// TestWritersClean checks that every function that writes a file first removes what earlier processes left behind.
func TestWritersClean(t *testing.T) {
	unlocked(t)
	all := maps.Clone(writers)
	all["Check"] = func(path, text string, _ error) error {
		return errors.Join(atomicfile.Check(path), os.WriteFile(path, []byte(text), 0o600))
	}
	for name, write := range all {
		dir := t.TempDir()
		put(t, dir, ".a.cgc-1-2", ".a.cgc-1-3/", ".a.partial/")
		mattest.OK(t, write(filepath.Join(dir, "a"), "", nil))
		mattest.Equal(t, names(t, dir), []string{"a"}, "%s leaves", name)
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
				for name, write := range writers {
					err := write(filepath.Join(dir, name), fmt.Sprint(i, j), nil)
					busy := err != nil && name == "Scratch" && strings.Contains(err.Error(), "another process is making it")
					if err != nil && !busy {
						t.Errorf("run %d, time %d: %v", i, j, err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	mattest.Equal(t, names(t, dir), []string{"Folder", "Scratch", "Write"}, "left")
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
	for name, writer := range map[string]string{"file": "Write", "lost": "Write", "folder": "Folder", "gone": "Folder"} {
		mattest.OK(t, writers[writer](filepath.Join(dir, name), "new", nil))
	}
	for name, want := range map[string]string{
		"precious": "precious", "treasure/lock": "treasure/", "file": "new", "lost": "new", "folder/x": "new",
		"gone/x": "new",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v, want %q", name, got, err, want)
		}
	}
	if got := names(t, dir); len(got) != 6 {
		t.Errorf("left %q", got)
	}
}

// TestAboveALink checks that NAME/.. is the folder above the target of a link NAME, where leftovers are removed too.
func TestAboveALink(t *testing.T) {
	unlocked(t)
	dir := t.TempDir()
	put(t, dir, "far/", "far/inner/")
	if err := os.Symlink(filepath.Join("far", "inner"), filepath.Join(dir, "near")); err != nil {
		t.Skip(err)
	}
	put(t, dir, "far/.a.cgc-1-2")
	mattest.OK(t, atomicfile.Check(dir+"/near/../a"))
	put(t, dir, "far/.a.cgc-1-3")
	mattest.OK(t, writers["Write"](dir+"/near/../a", "new", nil))
	mattest.Equal(t, names(t, filepath.Join(dir, "far")), []string{"a", "inner", "lock"}, "left")
}

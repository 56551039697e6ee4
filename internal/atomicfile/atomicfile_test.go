package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	put := func(text string, end error) error {
		return atomicfile.Write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, end)
		})
	}
	full := errors.New("disk full")
	if err := put("first", full); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("half a file stands under the name of the whole")
	}
	if err := put("second", nil); err != nil {
		t.Fatal(err)
	}
	if err := put("third", full); err == nil {
		t.Error("no error")
	}
	if got, _ := os.ReadFile(path); string(got) != "second" {
		t.Errorf("the file holds %q, want what was written last without an error", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o444 != 0o444 {
		t.Errorf("others cannot read it: %v %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestWriteSaysWhy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nowhere", "a.txt")
	err := atomicfile.Write(path, func(io.Writer) error { return nil })
	if want := "writing " + path + ": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := atomicfile.Check(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
	if err := atomicfile.Check(filepath.Join(t.TempDir(), "a.txt")); err != nil {
		t.Error(err)
	}
}

// TestFolder checks that a folder appears completely or not at all, and replaces an existing folder.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put := func(name string, wrong error) func(string) error {
		return func(folder string) error {
			return errors.Join(os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600), wrong)
		}
	}
	broken := errors.New("broken")
	if err := atomicfile.Folder(path, put("a", broken)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	for _, name := range []string{"b", "c"} {
		if err := atomicfile.Folder(path+"/", put(name, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.Folder(path, put("d", broken)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if all, _ := os.ReadDir(dir); err != nil || len(all) != 1 || len(found) != 1 || filepath.Base(found[0]) != "c" {
		t.Errorf("%v: left %v and %v, want out/c alone", err, all, found)
	}
	file := filepath.Join(path, "c")
	if err := atomicfile.Folder(file, put("e", nil)); err == nil {
		t.Error("a folder takes the place of a file")
	}
	if err := atomicfile.Folder(filepath.Join(dir, "none", "out"), put("f", nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// writers holds the ways to write a path: as a file with a text, or as a folder with a file "x" with that text. Each
// fails with end unless end is nil.
var writers = map[string]func(path, text string, end error) error{
	"Write": func(path, text string, end error) error {
		return atomicfile.Write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, end)
		})
	},
	"Folder": func(path, text string, end error) error {
		return atomicfile.Folder(path+"/", func(folder string) error {
			return errors.Join(os.WriteFile(filepath.Join(folder, "x"), []byte(text), 0o600), end)
		})
	},
	"Scratch": func(path, text string, end error) error {
		return atomicfile.Scratch(path, func(folder string, file *os.File) error {
			bucket := filepath.Join(folder, "bucket")
			if err := os.WriteFile(bucket, []byte(text), 0o600); err != nil {
				return err
			}
			if got, err := os.ReadFile(bucket); err != nil || string(got) != text {
				return fmt.Errorf("bucket holds %q, %v, expected %q", got, err, text)
			}
			_, err := file.WriteString(text)
			return errors.Join(err, end)
		})
	},
}

// content returns the text that one of writers wrote.
func content(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		text, _ = os.ReadFile(filepath.Join(path, "x"))
	}
	return string(text)
}

func names(t *testing.T, folder string) (list []string) {
	t.Helper()
	for _, e := range mattest.Must(os.ReadDir(folder)) {
		list = append(list, e.Name())
	}
	return list
}

// TestWriters checks that what is written appears completely or not at all, and that nothing else is left.
func TestWriters(t *testing.T) {
	for name, write := range writers {
		dir := t.TempDir()
		path, full := filepath.Join(dir, "a"), errors.New("disk full")
		want := "writing " + path + ": disk full"
		if err := write(path, "first", full); !errors.Is(err, full) || err.Error() != want || len(names(t, dir)) > 0 {
			t.Errorf("%s: error %v, want %s, left %v", name, err, want, names(t, dir))
		}
		for _, text := range []string{"much longer than what follows", "second"} {
			mattest.OK(t, write(path, text, nil))
		}
		if err := write(path, "third", full); !errors.Is(err, full) {
			t.Errorf("%s: error %v, want %v", name, err, full)
		}
		if got := content(path); got != "second" || !slices.Equal(names(t, dir), []string{"a"}) {
			t.Errorf("%s: %q beside %v, want what was written last without an error", name, got, names(t, dir))
		}
		if info := mattest.Must(os.Stat(path)); info.Mode().Perm()&0o444 != 0o444 {
			t.Errorf("%s: others cannot read it: %v", name, info.Mode())
		}
		path = filepath.Join(dir, "nowhere", "a")
		if err := write(path, "", nil); err == nil || err.Error() != "writing "+path+": no such file or directory" {
			t.Errorf("%s: error %v in a folder that does not exist", name, err)
		}
	}
}

func TestCheck(t *testing.T) {
	mattest.WantIs(t, atomicfile.Check(filepath.Join(t.TempDir(), "nowhere", "a.txt")), fs.ErrNotExist)
	mattest.OK(t, atomicfile.Check(filepath.Join(t.TempDir(), "a.txt")))
}

// TestFiles checks that a folder never takes the place of a file, and that nothing is written below a file.
func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	mattest.OK(t, writers["Write"](path, "text", nil))
	mattest.WantError(t, writers["Folder"](path, "", nil), "it is a file, must be a folder")
	if err := writers["Scratch"](filepath.Join(path, "in a file"), "", nil); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v for a file in a file", err)
	}
}

func TestScratchIsTakenOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked here")
	}
	path := filepath.Join(t.TempDir(), "big")
	err := atomicfile.Scratch(path, func(folder string, _ *os.File) error {
		inner := atomicfile.Scratch(path, func(string, *os.File) error { return nil })
		if inner == nil || !strings.Contains(inner.Error(), "another process is making it") {
			t.Errorf("error %v, want one that says that the file is being made", inner)
		}
		if _, err := os.Stat(filepath.Join(folder, "file")); err != nil {
			t.Errorf("the second call removes files of the first: %v", err)
		}
		return nil
	})
	mattest.OK(t, err)
}

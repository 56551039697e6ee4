package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/atomicfile"
)

func names(t *testing.T, folder string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestScratch(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "big")
	broken := errors.New("broken")
	put := func(text string, end error) error {
		return atomicfile.Scratch(path, func(folder string, file *os.File) error {
			_, err := file.WriteString(text)
			return errors.Join(err, os.WriteFile(filepath.Join(folder, "run"), nil, 0o600), end)
		})
	}
	if err := put("first", broken); !errors.Is(err, broken) || len(names(t, dir)) > 0 {
		t.Errorf("error %v, left %v", err, names(t, dir))
	}
	left := filepath.Join(dir, ".big.partial")
	if err := errors.Join(os.Mkdir(left, 0o700), os.WriteFile(filepath.Join(left, "old"), nil, 0o600),
		os.WriteFile(filepath.Join(left, "file"), []byte("much longer than what follows"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := put("second", nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "second" || len(names(t, dir)) != 1 {
		t.Errorf("the file holds %q beside %v, want second alone", got, names(t, dir))
	}
	if err := put("third", broken); err == nil {
		t.Error("no error")
	}
	if got, _ := os.ReadFile(path); string(got) != "second" {
		t.Errorf("a failure leaves %q, want what stood there", got)
	}
	path = filepath.Join(dir, "big", "in a file")
	if err := put("fourth", nil); err == nil || errors.Is(err, fs.ErrNotExist) {
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
	if err != nil {
		t.Fatal(err)
	}
}

package cli_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	"github.com/graph-condensation/cgc/condense"
)

// TestSameBytes checks that the file of a condensed graph depends only on the graph and the configuration, in each
// format: two runs write the same bytes with any number of threads. --timings adds only the seconds.
func TestSameBytes(t *testing.T) {
	folder, again := t.TempDir(), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		var said bytes.Buffer
		if code := cli.Run(t.Context(), append(args, "--quiet"), io.Discard, &said); code != 0 {
			t.Fatalf("%q ends with %d: %s", args, code, said.String())
		}
	}
	for _, extension := range []string{"safetensors", "pt", "npz", "graphml", "graphml.gz", "dgl"} {
		first, second := filepath.Join(folder, "small."+extension), filepath.Join(again, "small."+extension)
		run("condense", "demo", "--method", "cgc", "--nodes", "70", "-o", first, "--threads", "1")
		run("condense", "demo", "--method", "cgc", "--nodes", "70", "-o", second, "--threads", "3")
		sameFiles(t, first, second)
	}
	first, second := filepath.Join(folder, "small.safetensors"), filepath.Join(again, "run.safetensors")
	run("run", "demo", "--method", "cgc", "--nodes", "70", "-o", second, "--seeds", "2", "--models", "sgc", "--epochs", "1",
		"--whole", "0")
	sameFiles(t, first, second)
	timed := filepath.Join(folder, "timed.safetensors")
	run("condense", "demo", "--method", "cgc", "--nodes", "70", "-o", timed, "--timings")
	small, err := condense.Load(timed)
	if err != nil {
		t.Fatal(err)
	}
	if !small.Timed || small.Seconds.Total <= 0 || small.Seconds.Of("propagate") <= 0 {
		t.Errorf("--timings writes the seconds %+v", small.Seconds)
	}
	small.Timed = false
	if err := small.Save(t.Context(), timed); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, first, timed)
}

// sameFiles compares two files, or the files of two folders.
func sameFiles(t *testing.T, first, second string) {
	t.Helper()
	count := 0
	err := filepath.WalkDir(first, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(first, path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		count++
		got, err := os.ReadFile(filepath.Join(second, below))
		if err == nil && !bytes.Equal(got, want) {
			t.Errorf("%s and %s differ in %s", first, second, below)
		}
		return err
	})
	if err != nil || count == 0 {
		t.Errorf("%s: %d files, error %v", first, count, err)
	}
}

package main

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestClusterPage runs the scripts of docs/how-to/several-machines.md, with the tasks of a Slurm array as concurrent
// processes. Each script must give the same condensed graph as a single process.
func TestClusterPage(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	text := mattest.Must(os.ReadFile("../../docs/how-to/several-machines.md"))
	var blocks []string
	for _, found := range regexp.MustCompile("(?s)```(?:sh|bash)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(found[1], "cgc propagate") {
			blocks = append(blocks, found[1])
		}
	}
	if len(blocks) != 2 {
		t.Fatalf("the page has %d scripts, expected those by hand and of an array", len(blocks))
	}
	after := blocks[0][strings.Index(blocks[0], "cgc propagate --merge"):]
	want := condensed(t, t.TempDir(), "cgc condense demo --method cgc --nodes 35 -o small.safetensors")
	t.Run("by hand", func(t *testing.T) {
		mattest.True(t, condensed(t, t.TempDir(), blocks[0]) == want, "another condensed graph than that of one process")
	})
	t.Run("slurm", func(t *testing.T) {
		dir := t.TempDir()
		last := mattest.Must(strconv.Atoi(regexp.MustCompile(`--array=0-(\d+)`).FindStringSubmatch(blocks[1])[1]))
		var tasks sync.WaitGroup
		for id := range last + 1 {
			tasks.Go(func() { script(t, dir, blocks[1], "SLURM_ARRAY_TASK_ID="+strconv.Itoa(id)) })
		}
		tasks.Wait()
		mattest.True(t, condensed(t, dir, after) == want, "another condensed graph than that of one process")
	})
}

// script runs a shell script in a folder.
func script(t *testing.T, dir, text string, environment ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", text)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	mattest.True(t, err == nil, "%s: %v\n%s", text, err, out)
}

// condensed runs a script that writes small.safetensors, and returns checksums of the arrays in that file.
func condensed(t *testing.T, dir, text string) string {
	t.Helper()
	script(t, dir, text)
	path := filepath.Join(dir, "small.npz")
	if code := cli.Run(t.Context(), []string{"convert", filepath.Join(dir, "small.safetensors"), path, "--quiet"},
		io.Discard, os.Stderr); code != 0 {
		t.Fatalf("converting ended with code %d", code)
	}
	archive := mattest.Must(zip.OpenReader(path))
	defer archive.Close()
	var sums strings.Builder
	for _, entry := range archive.File {
		if entry.Name != "cgc.npy" { // cgc.npy contains the seconds
			fmt.Fprintf(&sums, "%s %08x\n", entry.Name, entry.CRC32)
		}
	}
	return sums.String()
}

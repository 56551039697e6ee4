package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset"
)

// TestTooLittleMemory checks that too little memory for a graph, in a control group or under ulimit -v, causes an error
// with the estimate of cgc.Expect that --dry-run prints, also of commands that condense several times. The graph itself
// can be read in parts, but its embeddings do not fit into memory. The old output is kept.
func TestTooLittleMemory(t *testing.T) {
	dir := t.TempDir()
	file, small := filepath.Join(dir, "graph.safetensors"), filepath.Join(dir, "small.safetensors")
	g := wide(20_000, 2, 64) // all nodes but two train
	g.Split.Train, g.Split.Val, g.Split.Test = nil, []int32{0}, []int32{1}
	for v := 2; v < g.Nodes(); v++ {
		g.Split.Train = append(g.Split.Train, int32(v))
	}
	check(t, errors.Join(dataset.Write(t.Context(), file, g), os.WriteFile(small, []byte("precious"), 0o600)))
	config := cgc.Defaults()
	config.Nodes, config.Hops = 40, 600 // 5 MB for each hop
	want, err := cgc.Expect(g, config)
	check(t, err)
	estimate := report.Bytes(want.Memory)
	line := []string{"cgc", "condense", file, "--nodes", "40", "--hops", "600", "-o", small, "--force"}
	check := func(said string, err error, by string) {
		t.Helper()
		said = said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:]
		sentence := regexp.MustCompile(`cgc: condensing \S+ takes about (.*) of memory, .* in blocks, and ` + by)
		found := sentence.FindStringSubmatch(said)
		if err == nil || len(found) < 2 || found[1] != estimate {
			t.Errorf("%v, %q, want %s that %s", err, said, estimate, by)
		}
		if left, err := os.ReadFile(small); err != nil || string(left) != "precious" {
			t.Errorf("the output is %d bytes, %v, want what stood there", len(left), err)
		}
	}

	t.Run("control group", func(t *testing.T) {
		_, err := confined(t, 128<<20, nil, line...)
		check(fmt.Sprint(err)[strings.Index(fmt.Sprint(err), "cgc: "):], err, "the control group allows 134 MB")
	})
	t.Run("commands that condense several times", func(t *testing.T) {
		for _, line := range [][]string{
			{"run", file, "--nodes", "40", "--hops", "600", "-o", file + ".small.safetensors"},
			{"experiment", file, "--nodes", "40", "--hops", "600", "--methods", "random,cgc", "-o", file + "-results"},
			{"tune", file, "--nodes", "40", "--hops", "600", "-o", file + ".json"},
		} {
			_, err := confined(t, 128<<20, nil, append([]string{"cgc"}, line...)...)
			if err == nil || !strings.Contains(err.Error(), "in blocks, and the control group allows 134 MB") {
				t.Errorf("%s: error %v, want an estimate", line[0], err)
			}
		}
	})
	t.Run("ulimit -v", func(t *testing.T) {
		// Go reserves about 1.3 GB of address space. The remaining 1.7 GB are less than the estimate.
		cmd := exec.Command("sh", append([]string{"-c", `ulimit -v 3000000 && exec "$@"`, "sh"}, line...)...)
		out, err := cmd.CombinedOutput()
		check(string(out), err, "ulimit -v allows ")
	})
}

// TestGoesOutOfCore checks that, without --memory, a graph file larger than the memory of the control group is
// condensed in blocks, with the same result as an unlimited run.
func TestGoesOutOfCore(t *testing.T) {
	dir := t.TempDir()
	file, small := filepath.Join(dir, "graph.safetensors"), filepath.Join(dir, "small.safetensors")
	g := wide(120_000, 8, 128)
	onDisk(t, file, g)
	said := filepath.Join(dir, "said")
	line := []string{"sh", "-c", `exec "$@" 2> "$0"`, said, "cgc", "condense", file, "--method", "cgc", "--nodes",
		"40", "-o", small}
	_, err := confined(t, 64<<20, []string{"CGC_PROGRESS="}, line...)
	notes, _ := os.ReadFile(said)
	if err != nil || !strings.Contains(string(notes), "it is done in blocks, as with --memory 59 MB") {
		t.Fatalf("%v, %s", err, notes)
	}
	config := cgc.Defaults()
	config.Nodes = 40
	want, err := cgc.Condense(t.Context(), g, config)
	check(t, err)
	got, err := cgc.Load(small)
	check(t, err)
	got.Config, want.Config = nil, nil
	if !bytes.Equal(saved(t, got), saved(t, want)) {
		t.Error("another file than without a limit")
	}
}

// TestTooLittleMemoryForTesting checks that a model whose test would exceed the memory of the control group causes an
// error before the first training.
func TestTooLittleMemoryForTesting(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small.safetensors")
	ok(t, "condense", "demo", "--method", "random", "-o", small)
	_, err := confined(t, 64<<20, nil, "cgc", "evaluate", small, "--on", "demo", "--seeds", "1", "--hidden",
		"9000", "--models", "gat")
	want := regexp.MustCompile(`testing gat takes about [\d.]+ [MG]B of memory beside [\d.]+ MB for the program, ` +
		`the graph and the training, and the control group allows 67 MB`)
	if err == nil || !want.MatchString(err.Error()) {
		t.Errorf("error %v", err)
	}
}

// TestTooLittleMemoryForReading checks that a graph in text format that is too large for the system is rejected before
// it is read, with an estimate of the memory it needs.
func TestTooLittleMemoryForReading(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "wide")
	check(t, os.Mkdir(folder, 0o700))
	const nodes, features = 40_000, 400 // 64 MB
	row := strings.Repeat(",1", features)[1:] + "\n"
	var edges, labels strings.Builder
	for v := range nodes {
		fmt.Fprintf(&edges, "%d,%d\n", v, (v+1)%nodes)
		fmt.Fprintf(&labels, "%d\n", v%2)
	}
	for name, text := range map[string]string{
		"edges.csv": edges.String(), "labels.csv": labels.String(), "features.csv": strings.Repeat(row, nodes),
	} {
		check(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	for _, line := range [][]string{
		{"condense", folder, "--nodes", "40", "--dry-run"},
		{"run", folder, "--nodes", "40", "-o", folder + ".safetensors"},
		{"experiment", folder, "--nodes", "40", "-o", folder + "-results"},
		{"tune", folder, "--nodes", "40", "-o", folder + ".json"},
	} {
		_, err := confined(t, 64<<20, nil, append([]string{"cgc"}, line...)...)
		const want = "takes about 91 MB of memory, and the control group allows 67 MB (cgc convert"
		if err == nil || !strings.Contains(err.Error(), "reading "+folder) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want …%s", line[0], err, want)
		}
	}
}

package cli_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
)

// hooked is a buffer that calls hook on the first write that contains word.
type hooked struct {
	bytes.Buffer
	word string
	hook func()
	once sync.Once
}

// Write appends p to the buffer.
func (h *hooked) Write(p []byte) (int, error) {
	if strings.Contains(string(p), h.word) {
		h.once.Do(h.hook)
	}
	return h.Buffer.Write(p)
}

// TestShrinkingFile checks that a mapped file that shrinks while it is read causes an error message, and that the old
// output is kept.
func TestShrinkingFile(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "wide.safetensors"), filepath.Join(dir, "small.safetensors")
	g := wide(20_000, 4, 64)
	mattest.OK(t, dataset.Write(t.Context(), file, g))
	ok(t, "condense", "demo", "--method", "random", "-o", out)
	old := mattest.Must(os.ReadFile(out))
	var stdout bytes.Buffer
	stderr := &hooked{word: "block", hook: func() {
		if err := os.Truncate(file, 4096); err != nil {
			t.Error(err)
		}
	}}
	code := cli.Run(t.Context(), []string{
		"condense", file, "--nodes", "40", "--memory", "100MB", "-o", out,
	}, &stdout, stderr)
	said := stderr.String()
	const want = "cgc: a file that is mapped into memory cannot be read any more: it was truncated or changed, or"
	mattest.True(t, code == 1 && strings.Contains(said, want) && !strings.Contains(said, "goroutine"),
		"exit code %d, %q, want %q", code, said, want)
	if left, err := os.ReadFile(out); err != nil || !bytes.Equal(left, old) {
		t.Errorf("what stood at -o is changed: %v", err)
	}
	wantAlone(t, dir, "small.safetensors", "wide.safetensors")
}

// TestPropagateResumes checks that cgc propagate, after an interruption, computes only the columns that are left, and
// all of them if anything has changed. The folder is byte-identical to that of an uninterrupted run.
func TestPropagateResumes(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("CGC_PROGRESS", "json")
	g := wide(2000, 20, 96)
	write := func() { mattest.OK(t, dataset.Write(t.Context(), "wide.safetensors", g)) }
	list := func(ids string) { mattest.OK(t, os.WriteFile("some.csv", []byte(ids), 0o600)) }
	write()
	list("7\n1900\n")
	args := []string{"propagate", "wide.safetensors", "--only", "some.csv", "--hops", "2", "-o", "hops/"}
	for what, change := range map[string]func(){
		"nothing":          func() {},
		"a feature":        func() { g.X.(*mat.Dense).Row(1001)[90]++; write() }, // the file has the same size
		"an option":        func() { args = append(args, "--propagation", "ppr") },
		"the nodes":        func() { list("8\n1900\n") },
		"the kept columns": func() { mattest.OK(t, os.Truncate("hops.checkpoint", 1000)) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		stderr := &hooked{word: `"propagate","done":192`, hook: cancel} // the last hop of the last block
		if code := cli.Run(ctx, args, io.Discard, stderr); code != 130 ||
			!strings.Contains(stderr.String(), "hops.checkpoint keeps the finished columns: run the same command again") {
			t.Fatalf("exit code %d, %s", code, stderr)
		}
		change()
		_, said := ok(t, args...)
		if strings.Contains(said, "columns, which are not computed again") != (what == "nothing") ||
			strings.Contains(said, "all columns are computed") == (what == "nothing") {
			t.Errorf("after a change of %s: %s", what, said)
		}
		ok(t, append(args[:len(args):len(args)], "-o", "whole")...)
		for _, name := range []string{"hop0.npy", "hop1.npy", "hop2.npy", "nodes.npy"} {
			got, want := mattest.Must(os.ReadFile("hops/"+name)), mattest.Must(os.ReadFile("whole/"+name))
			mattest.True(t, bytes.Equal(got, want), "after a change of %s: %s has other bytes", what, name)
		}
		wantAlone(t, ".", "hops", "some.csv", "whole", "wide.safetensors")
	}
}

// wantAlone fails the test unless the folder contains exactly these files.
func wantAlone(t *testing.T, dir string, files ...string) {
	t.Helper()
	var names []string
	for _, e := range mattest.Must(os.ReadDir(dir)) {
		names = append(names, e.Name())
	}
	mattest.Equal(t, names, files, "%s holds", dir)
}

// TestUnwritable checks that each output that cannot be written causes an error message, and that the old output is
// kept.
func TestUnwritable(t *testing.T) {
	commands := func(out string) [][]string {
		return [][]string{
			{"condense", "demo", "--method", "random", "-o", out + ".safetensors"},
			{"condense", "demo", "--method", "random", "-o", out + ".npz"},
			{"condense", "demo", "--method", "random", "-o", out + ".pt"},
			{"convert", "demo", out + ".safetensors"},
			{"propagate", "demo", "-o", out + ".safetensors"},
			{"data", "make", "--like", "cora", "-o", out + ".safetensors"},
		}
	}
	for name, folder := range map[string]func(t *testing.T) string{
		"disk full": func(t *testing.T) string { return mounted(t, "size=8k,nr_inodes=20") },
		"read-only": func(t *testing.T) string { return mounted(t, "ro") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			for _, args := range commands(filepath.Join(dir, "out")) {
				code, _, said := cli.RunLine(t, append(args, "--quiet")...)
				mattest.True(t, code != 0 && strings.Count(said, "\n") == 1 && strings.Contains(said, "out"),
					"%v: exit code %d, %q", args, code, said)
			}
			wantAlone(t, dir)
		})
	}
}

// mounted mounts a new in-memory file system and returns its folder. It skips the test if mounting is not allowed.
func mounted(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	flags := uintptr(0)
	if options == "ro" {
		flags, options = syscall.MS_RDONLY, ""
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
		t.Skipf("no file system can be mounted here (%v): as root it can", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestForbidden checks the error messages for missing read or write permission. The commands run as user nobody, so the
// test must run as root.
func TestForbidden(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run commands as another user")
	}
	dir := mattest.Must(os.MkdirTemp("/tmp", "cgc-forbidden-"))
	defer os.RemoveAll(dir)
	secret := filepath.Join(dir, "secret.safetensors")
	mattest.OK(t, dataset.Write(t.Context(), secret, wide(200, 2, 8)))
	self := mattest.Must(exec.LookPath("cgc"))
	program := mattest.Must(os.ReadFile(self))
	copied := filepath.Join(dir, "cgc")
	mattest.OK(t, os.WriteFile(copied, program, 0o755))
	for path, mode := range map[string]os.FileMode{dir: 0o755, secret: 0o600, copied: 0o755} {
		mattest.OK(t, os.Chmod(path, mode))
	}
	for _, args := range [][]string{
		{"condense", "demo", "--nodes", "35", "-o", filepath.Join(dir, "small.safetensors")},
		{"condense", secret, "--nodes", "8", "-o", filepath.Join(os.TempDir(), "never.safetensors")},
		{"evaluate", secret, "--on", "demo"},
	} {
		cmd := exec.Command(copied, append(args, "--quiet")...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "permission denied") || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%v: %v, %q, want one line with: permission denied", args, err, out)
		}
	}
	wantAlone(t, dir, "cgc", "secret.safetensors")
}

// process runs cgc in a separate process.
func process(t *testing.T, args ...string) {
	t.Helper()
	said, err := exec.Command("cgc", args...).CombinedOutput()
	mattest.True(t, err == nil, "%v: %s", err, said)
}

// TestOnePath checks that when several runs write to one path at once, the complete file of one of them remains.
func TestOnePath(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "small.safetensors")
	const runs = 8
	var group sync.WaitGroup
	for i := range runs {
		group.Go(func() {
			process(t, "condense", "demo", "--method", "cgc", "--nodes", fmt.Sprint(35+5*i), "-o", out, "--quiet")
		})
	}
	group.Wait()
	small := mattest.Must(condense.Load(out))
	n := small.Nodes()
	mattest.True(t, n >= 35 && n <= 35+5*runs && n%5 == 0, "%d nodes", n)
	wantAlone(t, dir, "small.safetensors")
}

// TestManyProcesses checks that 16 processes that read one graph file at once write the same bytes.
func TestManyProcesses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "wide.safetensors")
	mattest.OK(t, dataset.Write(t.Context(), file, wide(5_000, 4, 16)))
	var files [16]string
	var group sync.WaitGroup
	for i := range files {
		files[i] = filepath.Join(dir, fmt.Sprintf("small-%d.safetensors", i))
		group.Go(func() {
			process(t, "condense", file, "--method", "cgc", "--nodes", "16", "-o", files[i], "--quiet", "--threads",
				fmt.Sprint(1+i%3))
		})
	}
	group.Wait()
	for _, other := range files {
		if !t.Failed() && !sameContents(t, other, files[0]) {
			t.Errorf("%s has other bytes than %s", other, files[0])
		}
	}
}

// TestTooLittleMemory checks that too little memory for a graph, in a control group or under ulimit -v, causes an error
// with the estimate of cgc.Expect that --dry-run prints, even in commands that condense several times. The graph itself
// can be read in parts, but its embeddings do not fit into memory. The old output is kept.
func TestTooLittleMemory(t *testing.T) {
	dir := t.TempDir()
	file, small := filepath.Join(dir, "graph.safetensors"), filepath.Join(dir, "small.safetensors")
	g := wide(20_000, 2, 64) // all nodes but two are training nodes
	g.Split = graph.Split{Train: memory.Range(2, g.Nodes()), Val: []int32{0}, Test: []int32{1}}
	mattest.OK(t, errors.Join(dataset.Write(t.Context(), file, g), os.WriteFile(small, []byte("precious"), 0o600)))
	config := cgc.Defaults()
	config.Nodes, config.Hops = 40, 600 // 5 MB for each hop
	want := mattest.Must(cgc.Expect(g, config))
	estimate := report.Bytes(want.Memory)
	line := []string{"cgc", "condense", file, "--nodes", "40", "--hops", "600", "-o", small, "--force"}
	check := func(said string, err error, by string) {
		t.Helper()
		said = said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:]
		sentence := regexp.MustCompile(`cgc: condensing \S+ takes about (.*) of memory, .* in blocks, and ` + by)
		found := sentence.FindStringSubmatch(said)
		mattest.True(t, err != nil && len(found) >= 2 && found[1] == estimate,
			"%v, %q, want %s that %s", err, said, estimate, by)
		mattest.Equal(t, string(mattest.Must(os.ReadFile(small))), "precious", "the output is")
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
			mattest.WantError(t, err, "in blocks, and the control group allows 134 MB")
		}
	})
	t.Run("ulimit -v", func(t *testing.T) {
		// Go reserves about 1.3 GB of address space. The remaining 1.7 GB are less than the estimate.
		cmd := exec.Command("sh", append([]string{"-c", `ulimit -v 3000000 && exec "$@"`, "sh"}, line...)...)
		out, err := cmd.CombinedOutput()
		check(string(out), err, "ulimit -v allows ")
	})
	t.Run("no room for the file", func(t *testing.T) {
		large := filepath.Join(dir, "large.safetensors")
		const size = 3e9 // a file with a hole
		header := fmt.Sprintf(`{"x":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}`, int(size), int(size))
		start := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
		mattest.OK(t, errors.Join(os.WriteFile(large, append(start, header...), 0o600),
			os.Truncate(large, int64(len(start)+len(header)+size))))
		out, err := exec.Command("sh", "-c", `ulimit -v 3000000 && exec cgc data describe "$0"`, large).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "bytes into memory: cannot allocate memory (ulimit -v may be too") {
			t.Errorf("%v, %s", err, out)
		}
	})
}

// TestGoesOutOfCore checks that, without --memory, a graph file larger than the memory of the control group is
// condensed in blocks, with the same result as an unlimited run.
func TestGoesOutOfCore(t *testing.T) {
	slow.Test(t, "makes a large graph")
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
	want := mattest.Must(cgc.Condense(t.Context(), g, config))
	got := mattest.Must(cgc.Load(small))
	got.Config, want.Config = nil, nil
	mattest.True(t, bytes.Equal(saved(t, got), saved(t, want)), "another file than without a limit")
}

// TestTooLittleMemoryForTesting checks that a model whose test would exceed the memory of the control group causes an
// error before the first training.
func TestTooLittleMemoryForTesting(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small.safetensors")
	ok(t, "condense", "demo", "--method", "random", "-o", small)
	_, err := confined(t, 64<<20, nil, "cgc", "evaluate", small, "--on", "demo", "--seeds", "1", "--hidden",
		"9000", "--models", "gat")
	want := regexp.MustCompile(`testing gat takes about [\d.]+ [MG]B of memory in addition to [\d.]+ MB for ` +
		`the program, ` +
		`the graph and the training, and the control group allows 67 MB`)
	mattest.True(t, err != nil && want.MatchString(err.Error()), "error %v", err)
}

// TestPeakOfTesting checks that kept_bytes of an evaluation includes the memory of training and testing.
func TestPeakOfTesting(t *testing.T) {
	small := filepath.Join(t.TempDir(), "small.safetensors")
	ok(t, "condense", "demo", "--method", "random", "-o", small)
	out, err := exec.Command("cgc", "evaluate", small, "--on", "demo", "--seeds", "1", "--epochs", "1", "--hidden",
		"4096", "--json").Output()
	mattest.OK(t, err)
	var r struct {
		Kept int64 `json:"kept_bytes"`
	}
	mattest.OK(t, json.Unmarshal(out, &r))
	if least := int64(50e6); r.Kept < least { // 1,400 rows of 4096 hidden units take 23 MB, in each of several matrices
		t.Errorf("kept %d bytes, want at least %d", r.Kept, least)
	}
}

// TestTooLittleMemoryForReading checks that a graph in text format that is too large for the system is rejected before
// it is read, with an estimate of the memory it needs.
func TestTooLittleMemoryForReading(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "wide")
	mattest.OK(t, os.Mkdir(folder, 0o700))
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
		mattest.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	for _, line := range [][]string{
		{"condense", folder, "--nodes", "40", "--dry-run"},
		{"run", folder, "--nodes", "40", "-o", folder + ".safetensors"},
		{"experiment", folder, "--nodes", "40", "-o", folder + "-results"},
		{"tune", folder, "--nodes", "40", "-o", folder + ".json"},
	} {
		_, err := confined(t, 64<<20, nil, append([]string{"cgc"}, line...)...)
		const want = "takes about 91 MB of memory, and the control group allows 67 MB (cgc convert"
		mattest.WantError(t, err, "reading "+folder, want)
	}
}

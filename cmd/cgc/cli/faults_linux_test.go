package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
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
	if err := dataset.Write(t.Context(), file, g); err != nil {
		t.Fatal(err)
	}
	if code := cli.Run(t.Context(), []string{"condense", "demo", "--method", "random", "--nodes", "35", "-o", out}, &bytes.Buffer{},
		&bytes.Buffer{}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	old, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
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
	const want = "cgc: a file that is mapped into memory cannot be read any more: it was cut or changed, or"
	if code != 1 || !strings.Contains(said, want) || strings.Contains(said, "goroutine") {
		t.Errorf("exit code %d, %q, want %q", code, said, want)
	}
	if left, err := os.ReadFile(out); err != nil || !bytes.Equal(left, old) {
		t.Errorf("what stood at -o is changed: %v", err)
	}
	wantAlone(t, dir, "small.safetensors", "wide.safetensors")
}

// wantAlone fails the test unless the folder contains exactly these files.
func wantAlone(t *testing.T, dir string, files ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != strings.Join(files, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, files)
	}
}

// TestUnwritable checks that each output that cannot be written causes an error message, and that the old output is
// kept.
func TestUnwritable(t *testing.T) {
	var graphs bytes.Buffer
	run := func(args ...string) (said string, code int) {
		var stderr bytes.Buffer
		code = cli.Run(t.Context(), append(args, "--quiet"), &graphs, &stderr)
		return stderr.String(), code
	}
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
		"no folder": func(t *testing.T) string { return filepath.Join(t.TempDir(), "nowhere") },
		"a file for a folder": func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			for _, args := range commands(filepath.Join(dir, "out")) {
				said, code := run(args...)
				if code == 0 || strings.Count(said, "\n") != 1 || !strings.Contains(said, "out") {
					t.Errorf("%v: exit code %d, %q", args, code, said)
				}
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("left behind: %v", entries)
			}
		})
	}
	t.Run("the output is a folder", func(t *testing.T) {
		dir := t.TempDir()
		for _, args := range commands(filepath.Join(dir, "out")) {
			out := args[len(args)-1]
			if err := os.MkdirAll(filepath.Join(out, "inside"), 0o755); err != nil {
				t.Fatal(err)
			}
			if said, code := run(args...); code == 0 || strings.Count(said, "\n") != 1 {
				t.Errorf("%v: exit code %d, %q", args, code, said)
			}
			wantAlone(t, out, "inside")
		}
	})
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
	dir, err := os.MkdirTemp("/tmp", "cgc-forbidden-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	secret := filepath.Join(dir, "secret.safetensors")
	if err := dataset.Write(t.Context(), secret, wide(200, 2, 8)); err != nil {
		t.Fatal(err)
	}
	self, err := exec.LookPath("cgc")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "cgc")
	if err := os.WriteFile(copied, program, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o755, secret: 0o600, copied: 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
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

// TestOnePath checks that when several runs write to one path at once, the complete file of one of them remains.
func TestOnePath(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "small.safetensors")
	const runs = 8
	var group sync.WaitGroup
	for i := range runs {
		group.Go(func() {
			args := []string{"condense", "demo", "--method", "cgc", "--nodes", fmt.Sprint(35 + 5*i), "-o", out, "--quiet"}
			if said, err := exec.Command("cgc", args...).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
	group.Wait()
	small, err := condense.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if n := small.Nodes(); n < 35 || n > 35+5*runs || n%5 != 0 {
		t.Errorf("%d nodes", n)
	}
	wantAlone(t, dir, "small.safetensors")
}

// TestManyProcesses checks that 16 processes that read one graph file at once write the same bytes.
func TestManyProcesses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "wide.safetensors")
	if err := dataset.Write(t.Context(), file, wide(5_000, 4, 16)); err != nil {
		t.Fatal(err)
	}
	const processes = 16
	var files [processes][]byte
	var group sync.WaitGroup
	for i := range processes {
		group.Go(func() {
			out := filepath.Join(dir, fmt.Sprintf("small-%d.safetensors", i))
			args := []string{"condense", file, "--method", "cgc", "--nodes", "16", "-o", out, "--quiet", "--threads",
				fmt.Sprint(1 + i%3)}
			if said, err := exec.Command("cgc", args...).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, said)
				return
			}
			var err error
			if files[i], err = os.ReadFile(out); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i, text := range files {
		if text != nil && files[0] != nil && !bytes.Equal(text, files[0]) {
			t.Errorf("process %d writes other bytes", i)
		}
	}
}

// TestSymbolicLinks checks that a graph behind a symbolic link is read. A link at -o, even a dangling one, is replaced,
// and its target is kept. A link to a folder counts as a folder.
func TestSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) (said string, code int) {
		var stderr bytes.Buffer
		code = cli.Run(t.Context(), append(args, "--quiet"), &bytes.Buffer{}, &stderr)
		return stderr.String(), code
	}
	if err := dataset.Write(t.Context(), in("graph.safetensors"), wide(5000, 2, 8)); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"linked.safetensors": "graph.safetensors", "out.safetensors": "precious.safetensors", "lost.safetensors": "nowhere",
		"folder.safetensors": ".", "round.safetensors": "round.safetensors",
	} {
		if err := os.Symlink(to, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	condense := func(from, to string) (string, int) {
		return run("condense", in(from), "--method", "cgc", "--nodes", "8", "-o", in(to))
	}
	if said, code := condense("graph.safetensors", "precious.safetensors"); code != 0 {
		t.Fatal(said)
	}
	precious, err := os.ReadFile(in("precious.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"out.safetensors", "lost.safetensors"} {
		if said, code := condense("linked.safetensors", out); code != 0 {
			t.Fatal(said)
		}
		if info, err := os.Lstat(in(out)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is %v, %v, want a file in place of the link", out, info.Mode(), err)
		}
		if small, err := nodesOf(in(out)); err != nil || small != 8 {
			t.Errorf("%s has %d nodes, %v", out, small, err)
		}
	}
	if left, err := os.ReadFile(in("precious.safetensors")); err != nil || !bytes.Equal(left, precious) {
		t.Errorf("what the link leads to is changed: %v", err)
	}
	for from, to := range map[string]string{
		"graph.safetensors": "folder.safetensors", "round.safetensors": "new.safetensors",
	} {
		if said, code := condense(from, to); code == 0 || strings.Count(said, "\n") != 1 {
			t.Errorf("%s to %s: exit code %d, %q", from, to, code, said)
		}
	}
	wantAlone(t, dir, "folder.safetensors", "graph.safetensors", "linked.safetensors", "lost.safetensors",
		"out.safetensors", "precious.safetensors", "round.safetensors")
}

// nodesOf returns the number of nodes of a condensed graph.
func nodesOf(path string) (int, error) {
	small, err := condense.Load(path)
	if err != nil {
		return 0, err
	}
	return small.Nodes(), nil
}

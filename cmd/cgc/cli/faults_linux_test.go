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
	check(t, dataset.Write(t.Context(), file, g))
	ok(t, "condense", "demo", "--method", "random", "-o", out)
	old, err := os.ReadFile(out)
	check(t, err)
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
	check(t, err)
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
				code, _, said := run(t, append(args, "--quiet")...)
				if code == 0 || strings.Count(said, "\n") != 1 || !strings.Contains(said, "out") {
					t.Errorf("%v: exit code %d, %q", args, code, said)
				}
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("left behind: %v", entries)
			}
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
	dir, err := os.MkdirTemp("/tmp", "cgc-forbidden-")
	check(t, err)
	defer os.RemoveAll(dir)
	secret := filepath.Join(dir, "secret.safetensors")
	check(t, dataset.Write(t.Context(), secret, wide(200, 2, 8)))
	self, err := exec.LookPath("cgc")
	check(t, err)
	program, err := os.ReadFile(self)
	check(t, err)
	copied := filepath.Join(dir, "cgc")
	check(t, os.WriteFile(copied, program, 0o755))
	for path, mode := range map[string]os.FileMode{dir: 0o755, secret: 0o600, copied: 0o755} {
		check(t, os.Chmod(path, mode))
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
	check(t, err)
	if n := small.Nodes(); n < 35 || n > 35+5*runs || n%5 != 0 {
		t.Errorf("%d nodes", n)
	}
	wantAlone(t, dir, "small.safetensors")
}

// TestManyProcesses checks that 16 processes that read one graph file at once write the same bytes.
func TestManyProcesses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "wide.safetensors")
	check(t, dataset.Write(t.Context(), file, wide(5_000, 4, 16)))
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

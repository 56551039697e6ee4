package buildinfo

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// TestAsk reads a checkout: its commit, and whether files differ from it. Elsewhere it says nothing.
func TestAsk(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	folder := t.TempDir()
	var none Info
	if none.ask(folder); none != (Info{}) {
		t.Errorf("without a checkout: %+v", none)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", folder}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a",
			"GIT_COMMITTER_EMAIL=a@example.org")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, text)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	var clean, changed Info
	clean.ask(folder)
	if len(clean.Revision) != 40 || clean.Time != "2026-01-02T03:04:05Z" || clean.Modified {
		t.Errorf("clean: %+v", clean)
	}
	if err := os.WriteFile(filepath.Join(folder, "new"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if changed.ask(folder); changed.Revision != clean.Revision || !changed.Modified {
		t.Errorf("changed: %+v", changed)
	}
}

// TestJustBuilt: only programs that "go run" built may be compared with the checkout as it is now.
func TestJustBuilt(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/go-build12/b001/exe/cgc": true, "/c/ab/" + strings.Repeat("a0", 32) + "-d/cgc": true,
		"/tmp/go-build12/b001/cli.test": false, "/usr/local/bin/cgc": false,
	} {
		if justBuilt(filepath.FromSlash(path), nil) != want {
			t.Errorf("%s: want %v", path, want)
		}
	}
	if justBuilt("/tmp/go-build12/b001/exe/cgc", os.ErrNotExist) {
		t.Error("an unknown path counts as just built")
	}
}

// TestLinker: what the linker set goes before what the go command stamped.
func TestLinker(t *testing.T) {
	version, revision, committed, modified = "v2.0.0", "abc", "2026-01-02T03:04:05Z", "true"
	defer func() { version, revision, committed, modified = "", "", "", "" }()
	if i := of(new(debug.BuildInfo)); i.Revision != "abc" || i.Version != "v2.0.0" || i.Time != committed || !i.Modified {
		t.Errorf("%+v", i)
	}
}

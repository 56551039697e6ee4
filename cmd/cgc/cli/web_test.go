package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/web"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestWebAddress checks that an invalid address of cgc web, or one that is in use, causes a single error message.
func TestWebAddress(t *testing.T) {
	taken := mattest.Must(net.Listen("tcp", "localhost:0"))
	defer taken.Close()
	address := taken.Addr().String()
	isTaken := ": another program has this port (--addr localhost:0 chooses a free one)\n"
	for _, c := range []struct {
		address string
		code    int
		want    string
	}{
		{address, 1, "cgc: --addr " + address + isTaken},
		{"8080", 2, "cgc: --addr 8080, must be HOST:PORT as in localhost:8080\n"},
		{"localhost:99999", 2, "cgc: --addr localhost:99999: port 99999, must be from 0 to 65535\n"},
	} {
		code, stdout, stderr := RunLine(t, "web", "--addr", c.address)
		mattest.True(t, code == c.code && stderr == c.want && stdout == "",
			"%s: exit code %d, %q, want %q", c.address, code, stderr, c.want)
	}
}

// fakeGo replaces the go command with one that compiles anything instantly, or fails.
func fakeGo(t *testing.T, fails bool) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program that stands for Go is a script")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\nset -e\nif [ \"$1\" = list ]; then exit; fi\n" +
		"if [ \"$1\" = env ]; then echo " + dir + "; exit; fi\n" +
		"while [ \"$1\" != -o ]; do shift; done\n" +
		"[ $3 = github.com/graph-condensation/cgc/cmd/cgc/internal/web/wasm ]\necho program > $2\n"
	if fails {
		script = "#!/bin/sh\necho no module provides the package >&2; exit 1\n"
	}
	glue := filepath.Join(dir, "lib", "wasm", "wasm_exec.js")
	mattest.OK(t, os.MkdirAll(filepath.Dir(glue), 0o755))
	mattest.OK(t, os.WriteFile(glue, []byte("glue"), 0o644))
	mattest.OK(t, os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestWebWithoutProgram checks that, in a checkout with Go, a build without the program of the page compiles it.
// Elsewhere the error says what to do.
func TestWebWithoutProgram(t *testing.T) {
	if _, err := web.Files(); err == nil {
		t.Skip("this build carries the program")
	}
	folder := filepath.Join(t.TempDir(), "site")
	fakeGo(t, true)
	code, stdout, stderr := RunLine(t, "web", "-o", folder)
	if code != 1 || !strings.HasSuffix(stderr, "go generate ./cmd/cgc/internal/web && go install ./cmd/cgc\n") ||
		strings.Count(stderr, "\n") != 1 || stdout != "" {
		t.Errorf("outside of a checkout: exit code %d, %q", code, stderr)
	}
	fakeGo(t, false)
	if code, _, stderr := RunLine(t, "web", "-o", folder); code != 0 {
		t.Fatalf("with Go: exit code %d, %q", code, stderr)
	}
	for _, name := range []string{"cgc.wasm.gz", "wasm_exec.js", "index.html"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWeb checks that cgc web serves the page until it is interrupted.
func TestWeb(t *testing.T) {
	if _, err := web.Files(); err != nil {
		fakeGo(t, false)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- Run(ctx, []string{"web", "--addr", "localhost:0", "--json"}, writer, &stderr)
		writer.Close()
	}()
	var started struct{ URL string }
	err := json.NewDecoder(reader).Decode(&started)
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	answer := mattest.Must(http.Get(started.URL))
	defer answer.Body.Close()
	mattest.Says(t, string(mattest.Must(io.ReadAll(answer.Body))), "<!doctype html>")
	cancel()
	got := <-code
	mattest.True(t, got == exitInterrupted, "exit code %d after the interruption: %s", got, &stderr)
}

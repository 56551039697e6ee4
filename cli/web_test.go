package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/web"
)

// The address of cgc web is wrong, or taken: one sentence says so.
func TestWebAddress(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	isTaken := ": another program has this port (--addr localhost:0 takes one that is free)\n"
	for _, c := range []struct {
		address string
		code    int
		want    string
	}{
		{address, 1, "cgc: --addr " + address + isTaken},
		{"8080", 2, "cgc: --addr 8080, want HOST:PORT as in localhost:8080\n"},
		{"localhost:99999", 1, "cgc: --addr localhost:99999: address 99999: invalid port\n"},
	} {
		var stdout, stderr bytes.Buffer
		code := Run(t.Context(), []string{"web", "--addr", c.address}, &stdout, &stderr)
		if code != c.code || stderr.String() != c.want || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, %q, want %q", c.address, code, &stderr, c.want)
		}
	}
}

// cgc web serves the page until it is interrupted. A build without the program of the page says how to make it.
func TestWeb(t *testing.T) {
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
	if _, without := web.Files(); errors.Is(without, web.ErrNoProgram) {
		if got := <-code; got != 1 || !strings.Contains(stderr.String(), "go generate ./web") {
			t.Errorf("exit code %d, %q", got, &stderr)
		}
		code := Run(t.Context(), []string{"web", "-o", filepath.Join(t.TempDir(), "site")}, io.Discard, &stderr)
		if code != 1 {
			t.Errorf("-o without a program: exit code %d", code)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	answer, err := http.Get(started.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), "<!doctype html>") {
		t.Errorf("%v: the page is %.40q", err, text)
	}
	cancel()
	if got := <-code; got != exitInterrupted {
		t.Errorf("exit code %d after the interruption: %s", got, &stderr)
	}
}

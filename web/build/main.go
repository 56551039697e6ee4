// Command build makes the program of the page: dist/cgc.wasm.gz, and dist/wasm_exec.js, which connects it with
// JavaScript. `go generate ./web` runs it. Both come from the Go that runs, since they must fit each other.
//
// The first argument is the folder. Others are flags of go build, in place of -trimpath -ldflags "-s -w".
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/internal/atomicfile"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "build: want the folder to write to, and flags of go build if there are any")
		os.Exit(2)
	}
	flags := os.Args[2:]
	if len(flags) == 0 {
		flags = []string{"-trimpath", "-ldflags=-s -w"}
	}
	if err := build(os.Args[1], flags); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// build writes the two files into folder.
func build(folder string, flags []string) error {
	scratch, err := os.MkdirTemp("", "cgc-web")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	program := filepath.Join(scratch, "cgc.wasm")
	words := append([]string{"build"}, flags...)
	compile := exec.Command("go", append(words, "-o", program, "github.com/graph-condensation/cgc/web/wasm")...)
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	compile.Stderr = os.Stderr
	if err := compile.Run(); err != nil {
		return fmt.Errorf("compiling to WebAssembly: %w", err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("the file of Go that connects WebAssembly with JavaScript: %w", err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return errors.Join(
		atomicfile.Write(filepath.Join(folder, "cgc.wasm.gz"), func(w io.Writer) error { return pack(w, text) }),
		atomicfile.Write(filepath.Join(folder, "wasm_exec.js"), func(w io.Writer) error {
			_, err := io.Copy(w, bytes.NewReader(glue))
			return err
		}),
	)
}

// pack writes text with gzip: without a name and a time, so that equal programs give equal bytes.
func pack(w io.Writer, text []byte) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	return z.Close()
}

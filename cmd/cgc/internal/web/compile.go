package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is the package of the page's WebAssembly program.
const source = "github.com/graph-condensation/cgc/cmd/cgc/internal/web/wasm"

// ErrNoSource is the error of Compile outside of a checkout of the repository.
var ErrNoSource = errors.New("the current folder is not in a checkout of cgc")

// Compile compiles the page's WebAssembly program with the installed Go, and returns two files by name: the program,
// and Go's script that connects it with JavaScript. Both come from the same Go, because they must match. If the
// current folder is not in a checkout of the repository, the error is ErrNoSource; without Go, it is exec.ErrNotFound.
//
// flags are flags of go build that replace -trimpath -ldflags "-s -w". Equal sources and flags give equal bytes.
func Compile(ctx context.Context, flags ...string) (map[string][]byte, error) {
	wasm := append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	list := exec.CommandContext(ctx, "go", "list", source)
	list.Env = wasm
	switch err := list.Run(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, err
	case err != nil:
		return nil, ErrNoSource
	}
	if len(flags) == 0 {
		flags = []string{"-trimpath", "-ldflags=-s -w"}
	}
	scratch, err := os.MkdirTemp("", "cgc-web")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	program := filepath.Join(scratch, "cgc.wasm")
	words := append([]string{"build"}, flags...)
	words = append(words, "-o", program, source)
	compile := exec.CommandContext(ctx, "go", words...)
	compile.Env = wasm
	if said, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling to WebAssembly: %w: %s", err, bytes.TrimSpace(said))
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, fmt.Errorf("the file of Go that connects WebAssembly with JavaScript: %w", err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	// The archive has no name and no time, so that equal programs give equal bytes.
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level exists
	_, err = z.Write(text)
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, err
	}
	return map[string][]byte{programs[0]: packed.Bytes(), programs[1]: glue}, nil
}

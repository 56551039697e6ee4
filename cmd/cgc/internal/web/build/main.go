// Command build builds the page's WebAssembly program, dist/cgc.wasm.gz, and dist/wasm_exec.js, which connects it with
// JavaScript. Both come from the installed Go, because they must match. `go generate ./cmd/cgc/internal/web` runs the
// command.
//
// The first argument is the output folder. The others are flags of go build that replace -trimpath -ldflags "-s -w".
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/web"
	"github.com/graph-condensation/cgc/internal/atomicfile"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "build: needs the folder to write to, and flags of go build if there are any")
		os.Exit(2)
	}
	if err := build(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// build writes the two files into folder.
func build(folder string, flags []string) error {
	program, err := web.Compile(context.Background(), flags...)
	if err != nil {
		return err
	}
	for name, content := range program {
		err := atomicfile.Write(filepath.Join(folder, name), func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Command build builds the page's WebAssembly program, dist/cgc.wasm.gz, and the files that it needs beside it (see
// web.Compile). `go generate ./cmd/cgc/internal/web` runs the command.
//
// The first argument is the output folder. The others are flags of go build that replace -trimpath -ldflags "-s -w".
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/web"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "build: needs the folder to write to, and flags of go build if there are any")
		os.Exit(2)
	}
	program, err := web.Compile(context.Background(), os.Args[2:]...)
	if err == nil {
		err = web.Export(program, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

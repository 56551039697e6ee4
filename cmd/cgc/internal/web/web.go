// Package web contains the page that condenses graphs in a browser: its files, and a handler that serves them.
//
// All the work is done in the browser. A worker runs the library, compiled to WebAssembly, and reads the user's files.
// Nothing is uploaded, and the page sends no requests to other servers. Any static file server can serve the page.
//
// The files of the page are in the folder page. The WebAssembly program is not in the repository: `go generate
// ./cmd/cgc/internal/web` builds it, and later builds of cgc embed it.
package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/kernel/simd128"
)

//go:generate go run ./build dist

//go:embed page
var page embed.FS

//go:embed all:dist
var dist embed.FS

// programs lists the generated files.
var programs = []string{"cgc.wasm.gz", "wasm_exec.js", "loops.wasm", "relay.wasm"}

// ErrNoProgram is the error of a build that does not contain the WebAssembly program.
var ErrNoProgram = errors.New("this cgc was built without the page; in a checkout with Go, " +
	"build it with the page: go generate ./cmd/cgc/internal/web && go install ./cmd/cgc")

// policy is the content security policy that allows the page to load only its own files. The frame of the report has
// another policy (framePolicy).
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; worker-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// framePolicy is the policy of the frame that shows a report. A report contains its scripts and styles, and must not
// load anything.
const framePolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; " +
	"font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

const frame = "frame.html"

// types maps file extensions to media types, because the system's types may differ.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".gz": "application/gzip", ".wasm": "application/wasm",
}

// Files returns the contents of the page's files by name. All files belong in one folder. The error is ErrNoProgram if
// this build has no WebAssembly program.
func Files() (map[string][]byte, error) {
	program := map[string][]byte{}
	for _, name := range programs {
		program[name], _ = dist.ReadFile("dist/" + name) // With reports a missing file
	}
	return With(program)
}

// With returns the files of the page, combined with a program built by Compile.
func With(program map[string][]byte) (map[string][]byte, error) {
	all := map[string][]byte{}
	entries, err := page.ReadDir("page")
	for _, e := range entries {
		if err == nil {
			all[e.Name()], err = page.ReadFile("page/" + e.Name())
		}
	}
	if err != nil {
		return nil, err
	}
	for _, name := range programs {
		if all[name] = program[name]; len(all[name]) == 0 {
			return nil, ErrNoProgram
		}
	}
	return all, nil
}

// Handler serves the files of the page at the root path. Other paths get status 404.
func Handler(all map[string][]byte) http.Handler {
	tags := map[string]string{}
	for name, content := range all {
		tags[name] = fmt.Sprintf(`"%.12x"`, sha256.Sum256(content))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/") // the path of CONNECT, and of http://HOST, is empty
		if name == "" {
			name = "index.html"
		}
		content, found := all[name]
		switch {
		case !found:
			http.NotFound(w, r)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this server only serves files", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", types[path.Ext(name)])
		h.Set("Content-Security-Policy", policy)
		if name == frame {
			h.Set("Content-Security-Policy", framePolicy)
		}
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache") // browsers revalidate by the tag
		h.Set("ETag", tags[name])
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content)) // status 304 if the tag is known
	})
}

// Export writes files of the page into a folder, for any static file server. It creates the folder if necessary,
// replaces files with these names, and keeps other files.
func Export(all map[string][]byte, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range all {
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

// source is the package of the page's WebAssembly program.
const source = "github.com/graph-condensation/cgc/cmd/cgc/internal/web/wasm"

// ErrNoSource is the error of Compile outside of a checkout of the repository.
var ErrNoSource = errors.New("the current folder is not in a checkout of cgc")

// Compile compiles the page's WebAssembly program with the installed Go, and returns four files by name: the program,
// Go's script that connects it with JavaScript, and the two modules of package simd128 that the program calls. All
// must match. If the current folder is not in a checkout of the repository, the error is ErrNoSource; without Go, it is
// exec.ErrNotFound.
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
	words := append([]string{"build", "-tags=simd128"}, flags...)
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
	return map[string][]byte{
		programs[0]: packed.Bytes(), programs[1]: glue, programs[2]: simd128.Module(), programs[3]: simd128.Relay(),
	}, nil
}

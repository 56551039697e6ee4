// Package web is the page that condenses in a browser: its files, and a handler that serves them.
//
// The page does all work itself. A worker runs the library, compiled to WebAssembly, and reads the files that the user
// chose. Nothing is uploaded, and the page asks no other server for anything. Any server of static files will do.
//
// The page stands in the folder page. The program is not in the repository: `go generate ./web` makes it, and a build
// of cgc after that carries it.
package web

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"

	"github.com/graph-condensation/cgc/internal/atomicfile"
)

//go:generate go run ./build dist

//go:embed page
var page embed.FS

//go:embed all:dist
var dist embed.FS

// programs are the files that go generate makes.
var programs = []string{"cgc.wasm.gz", "wasm_exec.js"}

// ErrNoProgram is the error of a build that was made without the program of the page.
var ErrNoProgram = errors.New("web: this build of cgc does not carry the program of the page; in a checkout, " +
	"run go generate ./web and build again")

// policy allows the page its own files and nothing else. The report has a frame of its own (framePolicy).
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; worker-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// framePolicy is for the frame that shows a report. A report carries its scripts and styles, and may load nothing.
const framePolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; " +
	"font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// frame is the file of that frame.
const frame = "frame.html"

// types are the media types of the files, by extension. Those of the system may differ.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".gz": "application/gzip",
}

// Files returns the name and the content of each file of the page. All stand in one folder. The error is ErrNoProgram
// if this build has no program.
func Files() (map[string][]byte, error) { return files(page, dist) }

func files(page, dist fs.FS) (map[string][]byte, error) {
	all := map[string][]byte{}
	entries, err := fs.ReadDir(page, "page")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	for _, e := range entries {
		if all[e.Name()], err = fs.ReadFile(page, path.Join("page", e.Name())); err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
	}
	for _, name := range programs {
		if all[name], err = fs.ReadFile(dist, path.Join("dist", name)); err != nil {
			return nil, ErrNoProgram
		}
	}
	return all, nil
}

// Handler returns what serves the page at the root. The error is ErrNoProgram if this build has no program.
func Handler() (http.Handler, error) {
	all, err := Files()
	if err != nil {
		return nil, err
	}
	return handler(all), nil
}

// handler serves files. Names that are not among them are not found.
func handler(all map[string][]byte) http.Handler {
	tags := map[string]string{}
	for name, content := range all {
		tags[name] = tag(content)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path[1:]
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
		h.Set("Cache-Control", "no-cache") // asked for again after each start, and answered by the tag
		h.Set("ETag", tags[name])
		serve(w, r, content)
	})
}

// Export writes the files of the page into a folder, for any server of static files. It makes the folder if there is
// none. Files of these names are replaced, others stay.
func Export(folder string) error {
	all, err := Files()
	if err != nil {
		return err
	}
	return export(all, folder)
}

func export(all map[string][]byte, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("web: %w", err)
	}
	for name, content := range all {
		err := atomicfile.Write(filepath.Join(folder, name), func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
		if err != nil {
			return fmt.Errorf("web: %w", err)
		}
	}
	return nil
}

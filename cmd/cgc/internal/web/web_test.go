package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// built returns stand-ins for the files of go generate.
func built() map[string][]byte {
	return map[string][]byte{
		"cgc.wasm.gz": []byte("\x1f\x8bprogram"), "wasm_exec.js": []byte("glue"), "other": []byte("left"),
		"loops.wasm": []byte("loops"), "relay.wasm": []byte("relay"),
	}
}

// TestHandler checks that the handler serves the files of the page with their types and a policy, and nothing else.
func TestHandler(t *testing.T) {
	all := mattest.Must(With(built()))
	h := Handler(all)
	get := func(method, target, tag string) *http.Response {
		r := httptest.NewRequest(method, target, nil)
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	for target, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/index.html": "text/html; charset=utf-8",
		"/app.js": "text/javascript; charset=utf-8", "/style.css": "text/css; charset=utf-8",
		"/icon.svg": "image/svg+xml", "/cgc.wasm.gz": "application/gzip", "/wasm_exec.js": "text/javascript; charset=utf-8",
		"/frame.html": "text/html; charset=utf-8", "/loops.wasm": "application/wasm", "/relay.wasm": "application/wasm",
	} {
		r := get("GET", target, "")
		body, _ := io.ReadAll(r.Body)
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != kind || len(body) == 0 ||
			r.Header.Get("Content-Encoding") != "" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s, %d bytes, %v", target, r.Status, len(body), r.Header)
		}
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; ") ||
			strings.Contains(policy, "unsafe-inline") != (target == "/frame.html") {
			t.Errorf("%s has the policy %q", target, policy)
		}
		tag := r.Header.Get("ETag")
		again := get("GET", target, tag)
		mattest.True(t, again.StatusCode == http.StatusNotModified, "%s with its tag %s: %s", target, tag, again.Status)
		other := get("GET", target, `"other"`)
		mattest.True(t, other.StatusCode == 200, "%s with another tag: %s", target, other.Status)
	}
	for _, target := range []string{"/other", "/page/index.html", "/web.go", "/dist/cgc.wasm.gz", "/app.js/"} {
		mattest.Equal(t, get("GET", target, "").StatusCode, http.StatusNotFound, "%s:", target)
	}
	proxied := get("GET", "http://localhost", "") // a request to a proxy, without a path
	mattest.Equal(t, proxied.StatusCode, http.StatusOK, "the address without a path:")
	mattest.Equal(t, get("POST", "/", "").StatusCode, http.StatusMethodNotAllowed, "POST:")
}

// TestNoProgram checks that a missing program causes an error that says how to build it, and that no incomplete page is
// returned.
func TestNoProgram(t *testing.T) {
	for _, program := range []map[string][]byte{nil, {"cgc.wasm.gz": {1}}, {"wasm_exec.js": {1}}} {
		all, err := With(program)
		mattest.True(t, errors.Is(err, ErrNoProgram) && all == nil, "with %v: %d files, error %v", program, len(all), err)
	}
	mattest.Says(t, ErrNoProgram.Error(), "go generate ./cmd/cgc/internal/web")
}

// TestPageIsWhole checks that the page contains all files that it refers to, and that nothing refers to another server.
func TestPageIsWhole(t *testing.T) {
	all := mattest.Must(With(built()))
	names := regexp.MustCompile(`(?:src|href)="([^"]+)"|from "\./([^"]+)"|import\("\./([^"]+)"\)|Worker\("([^"]+)"`)
	found := 0
	for name, content := range all {
		for _, match := range names.FindAllStringSubmatch(string(content), -1) {
			named := path.Clean(strings.Join(match[1:], ""))
			if _, is := all[named]; !is {
				t.Errorf("%s names %s, which the page does not have", name, named)
			}
			found++
		}
		if at := regexp.MustCompile(`(https?:)?//[a-z0-9-]+\.`).FindString(string(content)); at != "" &&
			at != "http://www." { // the beginning of SVG's namespace
			t.Errorf("%s names another server: %s", name, at)
		}
		mattest.True(t, types[path.Ext(name)] != "", "%s has no media type", name)
	}
	mattest.True(t, found >= 10, "found %d names of files, want those of scripts, styles and the worker", found)
}

// TestPoliciesInFiles checks that the policies in the HTML files equal those of the handler, except frame-ancestors,
// which HTML cannot set.
func TestPoliciesInFiles(t *testing.T) {
	for name, want := range map[string]string{"index.html": policy, frame: framePolicy} {
		text := mattest.Must(page.ReadFile("page/" + name))
		want, _, _ = strings.Cut(want, "; frame-ancestors")
		mattest.True(t, strings.Contains(string(text), `"Content-Security-Policy" content="`+want+`"`),
			"%s does not have the policy %s", name, want)
	}
}

// TestSize checks that the generated page and program are at most 4 MB compressed, as documented.
func TestSize(t *testing.T) {
	all, err := Files()
	if errors.Is(err, ErrNoProgram) {
		t.Skip(err)
	}
	const most = 4_000_000
	sum := 0
	for name, content := range all {
		n := len(content)
		if filepath.Ext(name) != ".gz" {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			mattest.Must(z.Write(content))
			mattest.OK(t, z.Close())
			n = packed.Len()
		}
		sum += n
	}
	if t.Logf("%d bytes packed, %d of them the program", sum, len(all["cgc.wasm.gz"])); sum > most {
		t.Errorf("page and program take %d bytes, want at most %d", sum, most)
	}
}

func TestExport(t *testing.T) {
	all := mattest.Must(With(built()))
	folder := filepath.Join(t.TempDir(), "new", "public")
	for range 2 { // the second time, the files already exist
		mattest.OK(t, Export(all, folder))
	}
	entries := mattest.Must(os.ReadDir(folder))
	mattest.True(t, len(entries) == len(all), "%d files, want %d", len(entries), len(all))
	mattest.Equal(t, mattest.Must(os.ReadFile(filepath.Join(folder, "cgc.wasm.gz"))), all["cgc.wasm.gz"], "the program is")
	file := filepath.Join(folder, "index.html")
	mattest.WantError(t, Export(all, filepath.Join(file, "below")), file)
}

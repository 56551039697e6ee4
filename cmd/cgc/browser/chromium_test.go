//go:build browser

package browser_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/browser"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestPage checks that a page's errors, exceptions and requests are recorded.
func TestPage(t *testing.T) {
	b := browser.Start(t)
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	file := filepath.Join(t.TempDir(), "page.html")
	write := func(body string) {
		text := `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>page</title>` + body
		mattest.OK(t, os.WriteFile(file, []byte(text), 0o666))
	}

	write("<p>nothing</p>")
	p := b.Open(t, "file://"+file, browser.View{})
	mattest.True(t, len(p.Errors()) == 0, "a page without errors has %q", p.Errors())
	mattest.Equal(t, p.Requests(), []string{"file://" + file}, "a page without requests asked for")

	write(`<script>console.error("bad", 7); setTimeout(() => { done = true; null.length });
		fetch("` + server.URL + `/gone").catch(() => {})</script>`)
	p = b.Open(t, "file://"+file, browser.View{})
	p.Wait("window.done === true && performance.getEntriesByType('resource').length > 0")
	text := strings.Join(p.Errors(), "\n")
	mattest.Says(t, text, `"bad" 7`, "exception", "null")
	mattest.True(t, slices.Contains(p.Requests(), server.URL+"/gone"),
		"requests %q leave out %s", p.Requests(), server.URL)
}

// TestView checks that a page is shown with the size and colours of its View.
func TestView(t *testing.T) {
	b := browser.Start(t)
	for _, v := range []browser.View{{Width: 390, Dark: true}, {Width: 1000, Height: 300}} {
		p := b.Open(t, "data:text/html,<meta name=viewport content=width%3Ddevice-width>", v)
		width := browser.Value[int64](p, "innerWidth")
		dark := browser.Value[bool](p, "matchMedia('(prefers-color-scheme: dark)').matches")
		mattest.True(t, width == v.Width && dark == v.Dark, "width %d, dark %v, want %+v", width, dark, v)
		file := filepath.Join(t.TempDir(), "picture.png")
		p.Screenshot(file)
		if picture, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(picture), "\x89PNG") {
			t.Errorf("picture: %v, %d bytes", err, len(picture))
		}
	}
}

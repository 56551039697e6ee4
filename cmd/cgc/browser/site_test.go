//go:build browser

package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	protocol "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/graph-condensation/cgc/cmd/cgc/browser"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// portable is a setting of Go's runtime that makes the command compute without assembly, like the page.
const portable = "GODEBUG=cpu.avx2=off,cpu.avx512f=off"

// folder is the output folder of build. It is empty before build has run.
var folder string

// build builds the tested command once, like a release, with the page embedded.
var build = sync.OnceValues(func() (cgc string, err error) {
	run := func(args ...string) {
		cmd := exec.Command("go", args...)
		cmd.Dir = "../../.."
		if text, failed := cmd.CombinedOutput(); err == nil && failed != nil {
			err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), failed, text)
		}
	}
	if folder, err = os.MkdirTemp("", "cgc-web-test"); err != nil {
		return "", err
	}
	cgc = filepath.Join(folder, "cgc")
	run("run", "./cmd/cgc/internal/web/build", folder)
	overlay, failed := overlaid(folder)
	run("build", "-overlay", overlay, "-o", cgc, "./cmd/cgc")
	return cgc, errors.Join(err, failed)
})

// overlaid writes the overlay file that makes go build embed the page's program from folder. Running go generate in
// internal/web/dist instead would disturb other builds of the same checkout.
func overlaid(folder string) (path string, err error) {
	dist, err := filepath.Abs("../internal/web/dist")
	if err != nil {
		return "", err
	}
	replaced := make(map[string]string)
	for _, name := range []string{"cgc.wasm.gz", "wasm_exec.js", "loops.wasm", "relay.wasm"} {
		replaced[filepath.Join(dist, name)] = filepath.Join(folder, name)
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	path = filepath.Join(folder, "overlay.json")
	return path, errors.Join(err, os.WriteFile(path, text, 0o600))
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// serve starts cgc web and returns the address of the page. The server stops when the test ends.
func serve(t *testing.T) string {
	t.Helper()
	program := mattest.Must(build())
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "web", "--addr", "localhost:0", "--json")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	out := mattest.Must(cmd.StdoutPipe())
	mattest.OK(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
			t.Errorf("cgc web ends with %v after Ctrl-C, want exit code 130", err)
		}
	})
	var started struct{ URL string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&started); err != nil || started.URL == "" {
		t.Fatalf("cgc web says %v, %+v", err, started)
	}
	return started.URL
}

// site is the page of cgc web, open in a browser.
type site struct {
	*browser.Page
	t         *testing.T
	downloads string
}

// open opens the page of cgc web and waits until the program accepts requests. flags are command-line flags of
// Chromium.
func open(t *testing.T, view browser.View, flags ...chromedp.ExecAllocatorOption) *site {
	t.Helper()
	b := browser.Start(t, flags...) // skips the test before anything is built
	return openAt(t, b, serve(t), view)
}

func openAt(t *testing.T, b *browser.Browser, address string, view browser.View) *site {
	t.Helper()
	s := &site{Page: b.Open(t, address, view), t: t, downloads: t.TempDir()}
	s.Run(protocol.SetDownloadBehavior(protocol.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(s.downloads))
	s.Wait(`document.body.dataset.ready === "true"`)
	t.Cleanup(func() { s.Quiet(address, "blob:"+address) })
	return s
}

func (s *site) click(selector string) {
	s.t.Helper()
	s.Run(chromedp.Click(selector, chromedp.ByQuery))
}

// text returns the text of an element as shown.
func (s *site) text(selector string) string {
	s.t.Helper()
	return browser.Value[string](s.Page, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// visible waits until an element is visible.
func (s *site) visible(selector string) {
	s.t.Helper()
	s.Wait(fmt.Sprintf("document.querySelector(%q)?.checkVisibility()", selector))
}

// saved clicks a download link and returns the path of the saved file.
func (s *site) saved(name string) string {
	s.t.Helper()
	s.click(fmt.Sprintf("#downloads a[download=%q]", name))
	return s.arrived(name)
}

// arrived waits for a file that the page saves. The browser first creates an empty file with that name, and later
// replaces it with the complete file.
func (s *site) arrived(name string) string {
	s.t.Helper()
	path := filepath.Join(s.downloads, name)
	for begun := time.Now(); time.Since(begun) < browser.Patience/2; {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return path
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("%s was not saved", name)
	return ""
}

// sameAsPortable checks that the page and the command write the same bytes.
func (s *site) sameAsPortable(name, folder string) {
	s.t.Helper()
	if page, command := s.andPortable(name, folder); !bytes.Equal(contents(s.t, page), contents(s.t, command)) {
		s.t.Errorf("the page and the command make different files %s", name)
	}
}

// andPortable saves the condensed graph of the page. In folder, it runs the command line that the page shows, with the
// portable code path. It returns the paths of both files.
func (s *site) andPortable(name, folder string) (page, command string) {
	s.t.Helper()
	words := strings.Fields(s.text("#command"))
	if words[0] != "cgc" {
		s.t.Fatalf("the page shows the command %q", words)
	}
	cmd := exec.Command(mattest.Must(build()), words[1:]...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), portable)
	mattest.Run(s.t, cmd)
	return s.saved(name), filepath.Join(folder, name)
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	return mattest.Must(os.ReadFile(path))
}

// drop drops files and folders onto the page, as if dragged from another window.
func (s *site) drop(paths ...string) {
	s.t.Helper()
	var box struct{ X, Y, Width, Height float64 }
	s.Eval(`document.getElementById("drop").getBoundingClientRect().toJSON()`, &box)
	x, y := box.X+box.Width/2, box.Y+20
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{input.DragEnter, input.DragOver, input.Drop} {
		s.Run(input.DispatchDragEvent(kind, x, y, data))
	}
}

// choose selects files in a file input of the page.
func (s *site) choose(selector string, paths ...string) {
	s.t.Helper()
	s.Run(chromedp.SetUploadFiles(selector, paths, chromedp.ByQuery))
}

func command(t *testing.T, args ...string) {
	t.Helper()
	mattest.Run(t, exec.Command(mattest.Must(build()), args...))
}

// demo opens the demo graph.
func (s *site) demo() {
	s.t.Helper()
	s.click("#demo")
	s.visible("#condense")
}

// condense condenses the open graph, and waits for the result and its report.
func (s *site) condense() {
	s.t.Helper()
	s.click("#run")
	s.visible("#result")
	s.visible("#report")
}

// by chooses a method under More options.
func (s *site) by(method string) {
	s.t.Helper()
	s.Eval(fmt.Sprintf(`void ((field) => {
		field.value = %q;
		field.dispatchEvent(new Event("change"));
	})(document.getElementById("method"))`, method), new(any))
}

// fits fails the test if the page is wider than the window.
func (s *site) fits() {
	s.t.Helper()
	widths := browser.Value[[]float64](s.Page, `[document.documentElement.scrollWidth, innerWidth]`)
	if widths[0] > widths[1] {
		s.t.Errorf("the page is %v wide in a window of %v", widths[0], widths[1])
	}
}

// TestAccess checks that the page can be used by keyboard only: Tab reaches the demo, the focus moves on to each part
// that opens, and Enter condenses. Each control has a name, and text has the contrast that WCAG 2 AA requires.
func TestAccess(t *testing.T) {
	for _, view := range []browser.View{{}, {Width: 390, Dark: true}} {
		s := open(t, view)
		reach := func(id string) {
			t.Helper()
			for range 40 {
				s.Run(chromedp.KeyEvent(kb.Tab))
				if browser.Value[string](s.Page, "document.activeElement.id") != id {
					continue
				}
				outline := "parseFloat(getComputedStyle(document.activeElement).outlineWidth)"
				mattest.True(t, browser.Value[float64](s.Page, outline) >= 1,
					"%+v: #%s has the focus and does not show it", view, id)
				return
			}
			t.Fatalf("%+v: Tab does not reach #%s", view, id)
		}
		reach("demo")
		s.Run(chromedp.KeyEvent(kb.Enter))
		s.visible("#condense")
		s.Wait("document.activeElement.id === 'graph-title'")
		reach("nodes")
		s.Run(chromedp.KeyEvent(kb.Enter)) // Enter submits the form
		s.visible("#result")
		s.Wait("document.activeElement.id === 'result-title'")
		for _, heard := range s.Heard() {
			switch heard.Role {
			case "button", "textbox", "spinbutton", "slider", "checkbox", "combobox", "link", "Iframe", "progressbar",
				"DisclosureTriangle", "heading":
				mattest.True(t, strings.TrimSpace(heard.Name) != "", "%+v: a %s has no name", view, heard.Role)
			}
		}
		ratio, text := s.LeastContrast()
		mattest.True(t, ratio >= 4.5, "%+v: the contrast of %q is %.2f, want 4.5", view, text, ratio)
	}
}

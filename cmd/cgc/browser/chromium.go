//go:build browser

// Package browser opens pages in a local, headless Chromium for tests. Its own tests open the pages of package html,
// and use the page of package web like a user: they drop files, condense, stop, save the result and train on it.
//
// A page records errors and warnings on its console, exceptions, and all its requests. Without Chromium, tests are
// skipped with a message.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/graph-condensation/cgc/internal/slow"
)

// Patience is the time limit for one page, from opening it to the end of its test. It is generous for busy machines.
const Patience = 5 * time.Minute

// names lists the names of the Chromium executable on different systems.
var names = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// Browser is a running Chromium.
type Browser struct{ ctx context.Context }

// Start starts Chromium, with additional command-line flags, and stops it after the test. The program is the value of
// the environment variable CHROMIUM, or the first executable found on the system. Start skips the test if Chromium is
// missing or slow tests are disabled.
func Start(t testing.TB, flags ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	slow.Test(t, "opens pages in a browser")
	path := os.Getenv("CHROMIUM")
	for i := 0; path == "" && i < len(names); i++ {
		path, _ = exec.LookPath(names[i])
	}
	if path == "" {
		t.Skip("found none of " + strings.Join(names, ", ") +
			"; install Debian's package browser, or name the program in CHROMIUM")
	}
	// Containers lack the namespaces that the sandbox needs, and have little shared memory. Disabling the sandbox is safe,
	// because only the tests' own pages are opened.
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("hide-scrollbars", false), chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(options, flags...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	return &Browser{ctx}
}

// View describes the window in which a page is shown.
type View struct {
	// Width and Height are the size of the window in CSS pixels. Width 0 means 1400×900; Height 0 means 844.
	Width, Height int64
	// Dark means that the system prefers dark colours.
	Dark bool
}

// Page is an open page.
type Page struct {
	t   testing.TB
	ctx context.Context

	mutex    sync.Mutex
	errors   []string
	requests []string
}

// Open opens an address and waits for the page's load event. The page closes after the test.
func (b *Browser) Open(t testing.TB, address string, v View) *Page {
	t.Helper()
	if v.Width == 0 {
		v.Width, v.Height = 1400, 900
	}
	if v.Height == 0 {
		v.Height = 844
	}
	ctx, cancel := chromedp.NewContext(b.ctx)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, Patience)
	t.Cleanup(stop)
	p := &Page{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, p.hear)
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	p.Run(
		network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(v.Width, v.Height, 1, v.Width < 600),
		emulation.SetEmulatedMedia().WithFeatures(features),
		chromedp.Navigate(address),
	)
	return p
}

// EvalFrame evaluates an expression like Eval, but in the first frame of the page. A sandboxed frame is accessible only
// if Chromium was started with FramesTogether. If the frame is replaced meanwhile, EvalFrame evaluates the expression
// in the new frame.
func (p *Page) EvalFrame(expression string, out any) {
	p.t.Helper()
	p.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			err := evalFrame(ctx, expression, out)
			var gone *cdproto.Error
			if !errors.As(err, &gone) || gone.Code != frameGone || ctx.Err() != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
		}
	}))
}

// frameGone is the code of Chromium's errors about a frame, or its context, that no longer exists.
const frameGone = -32000

func evalFrame(ctx context.Context, expression string, out any) error {
	tree, err := page.GetFrameTree().Do(ctx)
	if err != nil {
		return err
	}
	if len(tree.ChildFrames) == 0 {
		return errors.New("the page has no frame, or one of another process")
	}
	world, err := page.CreateIsolatedWorld(tree.ChildFrames[0].Frame.ID).Do(ctx)
	if err != nil {
		return err
	}
	value, thrown, err := runtime.Evaluate(expression).WithContextID(world).WithReturnByValue(true).Do(ctx)
	if err != nil {
		return err
	}
	if thrown != nil {
		return thrown
	}
	return json.Unmarshal(value.Value, out)
}

// FramesTogether is the flag that keeps sandboxed frames in the process of their page.
var FramesTogether = chromedp.Flag("disable-features", "IsolateSandboxedIframes,site-per-process,Translate")

// hear records the errors and requests of a page.
func (p *Page) hear(event any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning || e.Type == runtime.APITypeAssert {
			var words []string
			for _, a := range e.Args {
				words = append(words, string(a.Value)+a.Description)
			}
			p.errors = append(p.errors, string(e.Type)+": "+strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, "exception: "+e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			p.errors = append(p.errors, fmt.Sprintf("log: %s %s", e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	}
}

// Errors returns the errors and warnings of the page so far.
func (p *Page) Errors() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.errors)
}

// Requests returns the addresses that the page has requested so far, starting with its own. It includes data and blob
// addresses, which never leave the page.
func (p *Page) Requests() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.requests)
}

// Quiet fails the test if the page has reported an error or a warning, or has requested an address that begins with
// none of the given prefixes.
func (p *Page) Quiet(own ...string) {
	p.t.Helper()
	if errors := p.Errors(); len(errors) > 0 {
		p.t.Errorf("the console says %q", errors)
	}
	for _, address := range p.Requests() {
		if !slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(address, o) }) {
			p.t.Errorf("the page asks for %s", address)
		}
	}
}

// Run runs chromedp actions on the page. An error fails the test immediately.
func (p *Page) Run(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatalf("in the page: %v; its console: %q", err, p.Errors())
	}
}

// Eval evaluates a JavaScript expression in the page, waits for it if it is a promise, and stores its value in out.
func (p *Page) Eval(expression string, out any) {
	p.t.Helper()
	p.Run(chromedp.Evaluate(expression, out, func(e *runtime.EvaluateParams) *runtime.EvaluateParams {
		return e.WithAwaitPromise(true)
	}))
}

// Value returns the value of a JavaScript expression in the page, like Eval.
func Value[T any](p *Page, expression string) (value T) {
	p.t.Helper()
	p.Eval(expression, &value)
	return value
}

// Wait waits until a JavaScript expression is true.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	p.Run(chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(Patience/2)))
}

// Move moves the mouse to a position in the window, in CSS pixels.
func (p *Page) Move(x, y float64) {
	p.t.Helper()
	p.Run(chromedp.MouseEvent("mouseMoved", x, y))
}

// Screenshot saves the visible part of the page as a PNG file.
func (p *Page) Screenshot(file string) {
	p.t.Helper()
	var picture []byte
	p.Run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		picture, err = page.CaptureScreenshot().Do(ctx)
		return err
	}))
	if err := os.WriteFile(file, picture, 0o666); err != nil {
		p.t.Fatal(err)
	}
}

// Heard is an element of the page as a screen reader announces it.
type Heard struct{ Role, Name, Description string }

// Heard returns the elements that a screen reader announces, in the order of the page.
func (p *Page) Heard() (all []Heard) {
	p.t.Helper()
	type value struct {
		Value any `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored     bool  `json:"ignored"`
			Role        value `json:"role"`
			Name        value `json:"name"`
			Description value `json:"description"`
		} `json:"nodes"`
	}
	p.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		return cdp.Execute(ctx, accessibility.CommandGetFullAXTree, nil, &tree)
	}))
	text := func(v value) string {
		if v.Value == nil {
			return ""
		}
		return fmt.Sprint(v.Value)
	}
	for _, n := range tree.Nodes {
		if !n.Ignored {
			all = append(all, Heard{text(n.Role), text(n.Name), text(n.Description)})
		}
	}
	return all
}

// contrasts finds the text with the lowest contrast to its background, by the formula of WCAG 2. It expands collapsed
// parts.
const contrasts = `(() => {
	const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, k) =>
		sum + weight * (c[k] <= 10 ? c[k] / 255 / 12.92 : ((c[k] / 255 + 0.055) / 1.055) ** 2.4), 0);
	const contrast = (a, b) => {
		const [x, y] = [light(a), light(b)].sort((u, v) => v - u);
		return (x + 0.05) / (y + 0.05);
	};
	const rgb = (text) => (text.match(/[\d.]+/g) || []).map(Number);
	const ground = (e) => {
		for (; e; e = e.parentElement) {
			const c = rgb(getComputedStyle(e).backgroundColor);
			if (c.length === 3 || c[3] > 0.99) return c;
		}
		return [255, 255, 255];
	};
	window.contrasts = { contrast, rgb };
	document.querySelectorAll('details').forEach((d) => { d.open = true; });
	let worst = { ratio: 99, text: '' };
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const e = n.parentElement;
		if (!n.textContent.trim() || ['SCRIPT', 'NOSCRIPT'].includes(e.tagName) || !e.checkVisibility()) continue;
		const ratio = contrast(rgb(getComputedStyle(e).color), ground(e));
		if (ratio < worst.ratio) worst = { ratio, text: n.textContent.trim().slice(0, 40) };
	}
	return worst;
})()`

// LeastContrast returns the lowest contrast ratio (WCAG 2) between a text and its background, and that text. It expands
// collapsed parts.
func (p *Page) LeastContrast() (ratio float64, text string) {
	p.t.Helper()
	var worst struct {
		Ratio float64
		Text  string
	}
	p.Eval(contrasts, &worst)
	return worst.Ratio, worst.Text
}

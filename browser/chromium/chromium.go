// Package chromium opens pages in the Chromium of this machine, without a window, for tests.
//
// A page collects what goes wrong in it: messages on its console that are errors or warnings, exceptions, and every
// request that it makes. A test that finds no Chromium is skipped, and says so.
package chromium

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
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds the time of one page, from opening to the end of its test.
const patience = 2 * time.Minute

// names are what Chromium is called on different systems.
var names = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// Browser is a running Chromium.
type Browser struct{ ctx context.Context }

// Find returns the path of Chromium: that of the environment variable CHROMIUM, or the first that the system has.
func Find() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("chromium: found none of " + strings.Join(names, ", ") +
		"; install Debian's package chromium, or name the program in CHROMIUM")
}

// Start starts Chromium, with further flags of its command line if there are any, and ends it with the test. Without
// Chromium the test is skipped.
func Start(t testing.TB, flags ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	path, err := Find()
	if err != nil {
		t.Skip(err)
	}
	// Containers have neither the name spaces of the sandbox nor much shared memory. Only pages of the tests are opened.
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

// View is how a page is looked at.
type View struct {
	// Width and Height are the size of the window in CSS pixels; 0 means 1400×900.
	Width, Height int64
	// Dark says that the system prefers dark colours.
	Dark bool
	// Print says that the page is laid out as for a printer.
	Print bool
}

// Page is an open page.
type Page struct {
	t   testing.TB
	ctx context.Context

	mutex    sync.Mutex
	errors   []string
	requests []string
}

// Open opens an address and waits for the page's load event. The page closes with the test.
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
	ctx, stop := context.WithTimeout(ctx, patience)
	t.Cleanup(stop)
	p := &Page{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, p.hear)
	scheme, media := "light", ""
	if v.Dark {
		scheme = "dark"
	}
	if v.Print {
		media = "print"
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	p.Run(
		network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(v.Width, v.Height, 1, v.Width < 600),
		emulation.SetEmulatedMedia().WithMedia(media).WithFeatures(features),
		chromedp.Navigate(address),
	)
	return p
}

// EvalFrame is Eval in the first frame of the page. A frame in a sandbox is reached only if Chromium was started with
// FramesTogether. If the frame is replaced meanwhile, EvalFrame asks the new one.
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

// frameGone is the code of Chromium's errors about a frame, or about its context, that is not there any more.
const frameGone = -32000

func evalFrame(ctx context.Context, expression string, out any) error {
	tree, err := page.GetFrameTree().Do(ctx)
	if err != nil {
		return err
	}
	if len(tree.ChildFrames) == 0 {
		return errors.New("chromium: the page has no frame, or one of another process")
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

// FramesTogether is the flag that keeps frames in a sandbox in the process of their page.
var FramesTogether = chromedp.Flag("disable-features", "IsolateSandboxedIframes,site-per-process,Translate")

// hear keeps what a page says of errors and requests.
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

// Errors returns the errors and warnings that the page has told of so far.
func (p *Page) Errors() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.errors)
}

// Requests returns the addresses that the page has asked for so far, its own first. Addresses of data and of blobs
// never leave the page, but are listed too.
func (p *Page) Requests() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.requests)
}

// Run runs actions of package chromedp on the page. An error ends the test.
func (p *Page) Run(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatalf("in the page: %v; its console: %q", err, p.Errors())
	}
}

// Eval evaluates an expression of JavaScript in the page, waits for it if it is a promise, and puts its value into out.
func (p *Page) Eval(expression string, out any) {
	p.t.Helper()
	p.Run(chromedp.Evaluate(expression, out, func(e *runtime.EvaluateParams) *runtime.EvaluateParams {
		return e.WithAwaitPromise(true)
	}))
}

// Wait waits until an expression of JavaScript is true.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	p.Run(chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(patience/2)))
}

// Move moves the mouse to a place, in CSS pixels of the window.
func (p *Page) Move(x, y float64) {
	p.t.Helper()
	p.Run(chromedp.MouseEvent("mouseMoved", x, y))
}

// Screenshot writes a picture of the whole page, or of the window alone, as PNG to a file.
func (p *Page) Screenshot(file string, whole bool) {
	p.t.Helper()
	var picture []byte
	p.Run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		picture, err = page.CaptureScreenshot().WithCaptureBeyondViewport(whole).Do(ctx)
		return err
	}))
	if err := os.WriteFile(file, picture, 0o666); err != nil {
		p.t.Fatal(err)
	}
}

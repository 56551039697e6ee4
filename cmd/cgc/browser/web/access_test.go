package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/graph-condensation/cgc/cmd/cgc/browser/internal/chromium"
)

// TestAccess checks that the page can be used by keyboard only: Tab reaches the demo, the focus moves on to each part
// that opens, and Enter condenses. Each control has a name, and text has the contrast that WCAG 2 AA requires.
func TestAccess(t *testing.T) {
	for _, view := range []chromium.View{{}, {Width: 390, Dark: true}} {
		s := open(t, view)
		reach := func(id string) {
			t.Helper()
			for range 40 {
				s.Run(chromedp.KeyEvent(kb.Tab))
				if chromium.Value[string](s.Page, "document.activeElement.id") != id {
					continue
				}
				outline := "parseFloat(getComputedStyle(document.activeElement).outlineWidth)"
				if chromium.Value[float64](s.Page, outline) < 1 {
					t.Errorf("%+v: #%s has the focus and does not show it", view, id)
				}
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
				if strings.TrimSpace(heard.Name) == "" {
					t.Errorf("%+v: a %s has no name", view, heard.Role)
				}
			}
		}
		if ratio, text := s.LeastContrast(); ratio < 4.5 {
			t.Errorf("%+v: the contrast of %q is %.2f, want 4.5", view, text, ratio)
		}
	}
}

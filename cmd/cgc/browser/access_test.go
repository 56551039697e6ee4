//go:build browser

package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/graph-condensation/cgc/cmd/cgc/browser"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestScreenReader checks that a screen reader finds ordered headings, a name on each control, and a name, a
// description and a table for each plot.
func TestScreenReader(t *testing.T) {
	p := opener(t)(browser.View{})
	count := map[string]int{}
	for _, heard := range p.Heard() {
		role, name := heard.Role, heard.Name
		count[role]++
		switch role {
		case "button", "img", "image", "application", "figure", "DisclosureTriangle":
			mattest.True(t, strings.TrimSpace(name) != "", "a %s has no name", role)
		}
		if role == "application" || role == "img" || role == "image" {
			if len(heard.Description) < 20 && name != "A figure" { // "A figure" has no caption
				t.Errorf("the plot %q has the description %q", name, heard.Description)
			}
		}
	}
	if plots := count["application"] + count["img"] + count["image"]; plots != 6 || count["application"] != 2 {
		t.Errorf("%d plots, %d of them to step through, want 6 and 2: %v", plots, count["application"], count)
	}
	// Of the six plots, only the accuracies show their table expanded. The parameters are collapsed.
	mattest.True(t, count["DisclosureTriangle"] == 5+1 && count["status"] == 1 && count["main"] == 1,
		"want 6 folded tables, one status and one main: %v", count)
	levels := browser.Value[[]int](p,
		"[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((h) => Number(h.tagName[1]))")
	for i, level := range levels {
		before := append([]int{0}, levels...)[i]
		mattest.True(t, level <= before+1, "headings have the levels %v, want none to be skipped", levels)
	}
	rows := browser.Value[string](p, `document.querySelector('#plot-0 details tbody tr').textContent`)
	mattest.True(t, strings.Contains(rows, "topic 0"), "the first row of the table of the embeddings is %q", rows)
}

// TestTab checks that Tab reaches every control in page order, and that the focus is visible.
func TestTab(t *testing.T) {
	open := opener(t)
	for _, v := range []browser.View{{}, {Width: 390, Dark: true}} {
		p := open(v)
		all := browser.Value[int](p, `(() => {
			window.controls = [...document.querySelectorAll('button, summary, .plot[tabindex="0"]')];
			return controls.length;
		})()`)
		var order []int
		for range all {
			p.Run(chromedp.KeyEvent(kb.Tab))
			var at struct {
				Place, Outline int
			}
			// Besides the controls, scrollable boxes can have the focus too.
			for range 3 {
				p.Eval(`({ place: controls.indexOf(document.activeElement),
					outline: parseFloat(getComputedStyle(document.activeElement).outlineWidth) })`, &at)
				if at.Place >= 0 {
					break
				}
				p.Run(chromedp.KeyEvent(kb.Tab))
			}
			mattest.True(t, at.Outline >= 1, "%+v: control %d has the focus and does not show it", v, at.Place)
			order = append(order, at.Place)
		}
		for i, place := range order {
			if place != i {
				t.Fatalf("%+v: Tab goes to the controls %v, want 0 to %d in their order", v, order, all-1)
			}
		}
	}
}

// TestKeys checks that the arrow keys step through the condensed nodes, with the effect of hovering, and that the
// screen reader describes each node. Other keys zoom and move the view.
func TestKeys(t *testing.T) {
	p := opener(t)(browser.View{})
	press := func(keys ...string) {
		for _, key := range keys {
			p.Run(chromedp.KeyEvent(key))
		}
	}
	said := func() string { return browser.Value[string](p, "document.getElementById('said').textContent") }
	for _, plot := range []int{0, network} {
		p.Eval(fmt.Sprintf("document.querySelector('#plot-%d .plot').focus()", plot), nil)
		for _, step := range []struct {
			key  string
			node int
		}{{kb.ArrowRight, 0}, {kb.ArrowDown, 1}, {kb.End, 41}, {kb.ArrowRight, 41}, {kb.ArrowLeft, 40}, {kb.Home, 0}} {
			press(step.key)
			for _, part := range []string{fmt.Sprintf("condensed node %d,", step.node), "source node", "paper-"} {
				mattest.True(t, strings.Contains(said(), part), "plot %d: %q does not tell %q", plot, said(), part)
			}
			tip := fmt.Sprintf("document.querySelector('#plot-%d .tip')", plot)
			p.Wait(fmt.Sprintf("%s !== null && %s.textContent.startsWith('condensed node %d')", tip, tip, step.node))
		}
		p.Wait(fmt.Sprintf("report.plots[%d].chart.getOption().series.some((s) => s.id === 'near')", plot))
		zoom := fmt.Sprintf("report.plots[%d].chart.getOption().dataZoom.flatMap((z) => [z.start, z.end])", plot)
		window := func() [4]float64 { return browser.Value[[4]float64](p, zoom) }
		press("0")
		all := window()
		mattest.True(t, all == [4]float64{0, 100, 0, 100}, "plot %d: 0 shows %v", plot, all)
		press("+")
		in := window()
		mattest.True(t, in[1]-in[0] <= 61, "plot %d: + leaves %v in sight", plot, in)
		before := window()
		p.Run(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(8))) // Shift
		if after := window(); after[0] <= before[0] || after[2] != before[2] {
			t.Errorf("plot %d: Shift with an arrow moves %v to %v", plot, before, after)
		}
		press(kb.Escape)
	}
}

// markContrast computes the lowest contrast between a mark colour and the background of the card. It divides the
// contrast of text colours by 1.5, because text needs 4.5 and marks need 3.
const markContrast = `(() => {
	const { contrast, rgb } = contrasts;
	const hex = (name) => [1, 3, 5].map((k) =>
		parseInt(getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(k, k + 2), 16));
	const card = rgb(getComputedStyle(document.querySelector('.card')).backgroundColor);
	const marks = ['--c0', '--c1', '--c2', '--c3', '--c4', '--c5', '--c6', '--c7', '--before', '--after'];
	const words = ['--soft', '--faint', '--ink'].map((name) => contrast(hex(name), card) / 1.5);
	return Math.min(...words, ...marks.map((name) => contrast(hex(name), card)));
})()`

// largest computes the position of a condensed node that has many source nodes and is not too close to other nodes.
const largest = `(() => {
	const { chart } = report.plots[0], box = chart.getDom().getBoundingClientRect();
	const all = chart.getOption().series.filter((s) => s.type === 'scatter' && s.id.startsWith('1-')).flatMap((s) =>
		s.data.map((d) => ({ size: s.symbolSize(d), at: chart.convertToPixel({ gridIndex: 0 }, d.slice(0, 2)), i: d[2] })));
	const apart = (a, b) => Math.hypot(a.at[0] - b.at[0], a.at[1] - b.at[1]);
	const room = (m) => Math.min(12, ...all.filter((o) => o !== m).map((o) => apart(o, m)));
	const best = all.sort((a, b) => b.size * room(b) - a.size * room(a))[0];
	return { x: box.left + best.at[0], y: box.top + best.at[1], i: best.i };
})()`

// TestFigures takes the screenshots for docs/figures from the page in $CGC_PAGE: a wide window with the mouse on a
// condensed node, in light and dark colours, and a window of the size of a phone. It writes them to the folder
// $CGC_FIGURES.
func TestFigures(t *testing.T) {
	file, folder := os.Getenv("CGC_PAGE"), os.Getenv("CGC_FIGURES")
	if file == "" || folder == "" {
		t.Skip("CGC_PAGE and CGC_FIGURES do not say which page to look at, and where its pictures go")
	}
	b := browser.Start(t)
	for name, v := range map[string]browser.View{
		"report-1400": {Width: 1400, Height: 1100}, "report-dark-1400": {Width: 1400, Height: 1100, Dark: true},
		"report-390": {Width: 390},
	} {
		p := b.Open(t, "file://"+file, v)
		p.Eval("report.ready", nil)
		p.Eval("document.documentElement.style.scrollbarWidth = 'none'", nil)
		if v.Width == 1400 {
			mark := browser.Value[place](p, largest)
			p.Move(mark.X-60, mark.Y)
			p.Move(mark.X, mark.Y)
		}
		p.Screenshot(filepath.Join(folder, name+".png"))
	}
}

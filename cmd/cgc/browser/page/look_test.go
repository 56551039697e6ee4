package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/browser/internal/chromium"
)

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
	browser := chromium.Start(t)
	for name, v := range map[string]chromium.View{
		"report-1400": {Width: 1400, Height: 1100}, "report-dark-1400": {Width: 1400, Height: 1100, Dark: true},
		"report-390": {Width: 390},
	} {
		p := browser.Open(t, "file://"+file, v)
		p.Eval("report.ready", nil)
		p.Eval("document.documentElement.style.scrollbarWidth = 'none'", nil)
		if v.Width == 1400 {
			mark := chromium.Value[place](p, largest)
			p.Move(mark.X-60, mark.Y)
			p.Move(mark.X, mark.Y)
		}
		p.Screenshot(filepath.Join(folder, name+".png"))
	}
}

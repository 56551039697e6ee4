//go:build browser

package browser_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/browser"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/html"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// evil is a class name that runs scripts in a page that fails to treat it as text.
const evil = `</script><script>alert(1)</script><img src=x onerror="alert(2)">`

// page writes the report page of a condensed demo graph, with plots of every kind, and returns its path.
func page(t *testing.T) string {
	t.Helper()
	text := mattest.Must(rendered())
	file := filepath.Join(t.TempDir(), "page.html")
	mattest.OK(t, os.WriteFile(file, text, 0o666))
	return file
}

// rendered renders the page once for all tests.
var rendered = sync.OnceValues(func() ([]byte, error) {
	ctx := context.Background()
	g := synth.Demo()
	for v := range g.Nodes() {
		g.IDs = append(g.IDs, fmt.Sprintf("paper-%d", v))
	}
	for c := range g.Classes {
		g.ClassNames = append(g.ClassNames, fmt.Sprintf("topic %d", c))
	}
	g.ClassNames[1] = evil
	config := cgc.Defaults()
	config.Nodes, config.Threshold = 42, 0.2
	small, err := cgc.Condense(ctx, g, config)
	if err != nil {
		return nil, err
	}
	small.Seconds.Total += 10 // pretend that the graph is large, so that the steps are drawn
	for i := range small.Seconds.Steps {
		small.Seconds.Steps[i].Seconds += 2
	}
	steps, err := bench.Steps(g, small, bench.Ceilings{Stream: 10, Gather: 5, Compute: 50})
	if err != nil {
		return nil, err
	}
	small.Warnings = []string{"This is " + evil}
	training := gnn.Defaults()
	training.Epochs = 4
	e := experiment.Evaluation{Models: []gnn.Model{gnn.GCN(), gnn.SGC()}, Training: training, Trainings: 2}
	s := overview.Subject{
		Graph: g, Condensed: small, Over: "training seeds", Steps: steps, Command: "cgc condense demo -o demo.safetensors",
		Source: "demo", File: "demo.safetensors", Date: "2026-11-23",
	}
	if s.Small, err = e.Run(ctx, small, g); err != nil {
		return nil, err
	}
	if s.Whole, err = e.Whole(ctx, small, g); err != nil {
		return nil, err
	}
	d, err := s.Document(ctx)
	if err != nil {
		return nil, err
	}
	d.Add(&report.Plot{Title: "A figure", Data: &report.Lines{
		X: "nodes", Y: "accuracy",
		Series: []report.Series{{
			Name: evil, X: []float64{1, 2, 3}, Y: []float64{3, 4, 2}, Std: []float64{1, 0, 1}, Joined: true,
		}},
	}})
	var b bytes.Buffer
	err = html.Render(&b, d)
	return b.Bytes(), err
})

// network is the index of the plot of the condensed graph on that page.
const network = 3

// want lists the kinds of the plots on that page, in order.
const want = "[scatter bars heatmap network bars figure]"

// shown opens a page and waits until its plots are drawn. It checks what must hold in every view: an empty console, no
// requests, marks in every plot, and nothing wider than the window.
func shown(t *testing.T, b *browser.Browser, file string, v browser.View) *browser.Page {
	t.Helper()
	p := b.Open(t, "file://"+file, v)
	p.Eval("report.ready", nil)
	kinds := browser.Value[[]string](p, "report.plots.map((p) => p.kind)")
	mattest.Equal(t, fmt.Sprint(kinds), want, "%+v: the plots are", v)
	// The marks of a plot are coloured. Its background and text are nearly grey.
	colours := browser.Value[[]int](p, `Promise.all(report.plots.map(async ({ chart }) => {
		const canvas = chart.renderToCanvas({ pixelRatio: 1 });
		const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
		let coloured = 0;
		for (let i = 0; i < data.length; i += 4) {
			const [r, g, b, a] = data.slice(i, i + 4);
			if (a > 40 && Math.max(r, g, b) - Math.min(r, g, b) > 40) coloured++;
		}
		return coloured;
	}))`)
	for i, n := range colours {
		mattest.True(t, n >= 30, "%+v: plot %d (%s) has %d coloured pixels, want at least 30", v, i, kinds[i], n)
	}
	wide, window := browser.Value[int](p, "document.documentElement.scrollWidth"), browser.Value[int](p, "innerWidth")
	mattest.True(t, wide <= window, "%+v: the page is %d pixels wide in a window of %d", v, wide, window)
	p.Quiet("file://"+file, "data:")
	return p
}

// opener starts a browser and returns a function that shows the page. At the end of the test, the page must still be
// quiet.
func opener(t *testing.T) func(browser.View) *browser.Page {
	t.Helper()
	b, file := browser.Start(t), page(t)
	return func(v browser.View) *browser.Page {
		t.Helper()
		p := shown(t, b, file, v)
		t.Cleanup(func() { p.Quiet("file://"+file, "data:") })
		return p
	}
}

// TestViews checks wide and narrow windows, light and dark: the page is complete, no text in a plot is cut off, and the
// contrast meets WCAG 2, level AA (4.5 for text, 3 for marks).
func TestViews(t *testing.T) {
	open := opener(t)
	for _, v := range []browser.View{{}, {Dark: true}, {Width: 390}, {Width: 390, Dark: true}} {
		p := open(v)
		theme := browser.Value[string](p, "document.documentElement.dataset.theme")
		ground := browser.Value[string](p, "getComputedStyle(document.body).backgroundColor")
		dark := ground == "rgb(17, 21, 27)"
		mattest.True(t, dark == v.Dark && (theme == "dark") == v.Dark, "%+v: theme %s on %s", v, theme, ground)
		ticks := browser.Value[[]float64](p,
			"report.plots[1].chart.getModel().getComponent('xAxis').axis.scale.getTicks().map((t) => t.value)")
		for i := 2; i < len(ticks); i++ {
			mattest.True(t, math.Abs(ticks[i]-2*ticks[i-1]+ticks[i-2]) <= 1e-9,
				"%+v: the accuracies have the ticks %v, want equal distances", v, ticks)
		}
		texts := browser.Value[[]string](p, cut)
		mattest.True(t, len(texts) == 0, "%+v: these are cut off: %q", v, texts)
		text, where := p.LeastContrast()
		if marks := browser.Value[float64](p, markContrast); text < 4.5 || marks < 3 {
			t.Errorf("%+v: the contrast of text is %.2f (%q), want 4.5; that of marks %.2f, want 3", v, text, where, marks)
		}
		p.Run(chromedp.Click("#theme"))
		after := browser.Value[string](p, "document.documentElement.dataset.theme")
		mattest.True(t, after != theme, "%+v: the switch leaves the theme %s", v, theme)
	}
}

// TestEvil checks that strings from the data are treated as text: they are shown literally and never run.
func TestEvil(t *testing.T) {
	b, file := browser.Start(t), page(t)
	p := shown(t, b, file, browser.View{})
	images, scripts := browser.Value[int](p, "document.images.length"), browser.Value[int](p, "document.scripts.length")
	if images != 0 || scripts != 4 { // the compressed library, the data, the page's script, and the decompressed library
		t.Errorf("%d images and %d scripts, want 0 and 4", images, scripts)
	}
	warning := browser.Value[string](p, "document.querySelector('.warning').textContent")
	keys := browser.Value[string](p, "document.querySelector('.key').textContent")
	mattest.Says(t, warning, evil)
	mattest.Says(t, keys, evil)
	// The policy must block foreign scripts and requests, even if something on the page tried them.
	ran := browser.Value[bool](p, `(() => {
		const s = document.createElement('script');
		s.textContent = 'window.ran = true';
		document.head.append(s);
		return window.ran === true;
	})()`)
	asked := browser.Value[bool](p, "fetch('https://localhost/').then(() => true, () => false)")
	mattest.True(t, !ran && !asked && len(p.Errors()) >= 2,
		"a script ran: %v; a request was answered: %v; the console says %q, want two refusals", ran, asked, p.Errors())
}

// at finds the mark of a layer with the most free space around it and returns its position in the window.
const at = `((plot, layer) => {
	const { chart } = report.plots[plot], option = chart.getOption();
	document.getElementById('plot-' + plot).scrollIntoView({ block: 'center' });
	const all = option.series.filter((s) => s.type === 'scatter' && s.id.startsWith(layer + '-')).flatMap((s) => s.data)
		.map((d) => ({ i: d[2], at: chart.convertToPixel({ gridIndex: 0 }, d.slice(0, 2)) }));
	const apart = (a, b) => Math.hypot(a.at[0] - b.at[0], a.at[1] - b.at[1]);
	const room = (m) => Math.min(...all.filter((o) => o !== m).map((o) => apart(o, m)));
	const best = all.filter((m) => chart.containPixel('grid', m.at)).sort((a, b) => room(b) - room(a))[0];
	const box = chart.getDom().getBoundingClientRect();
	return { x: box.left + best.at[0], y: box.top + best.at[1], i: best.i };
})`

type place struct {
	X, Y float64
	I    int
}

// TestHover checks that hovering a condensed node shows its class and its source nodes, and draws lines to them.
func TestHover(t *testing.T) {
	p := opener(t)(browser.View{})
	hover := func(plot, layer int) place {
		mark := browser.Value[place](p, fmt.Sprintf("%s(%d, %d)", at, plot, layer))
		p.Move(mark.X-60, mark.Y) // within the plot
		p.Move(mark.X, mark.Y)
		return mark
	}
	for plot, layer := range map[int]int{0: 1, network: 0} {
		mark := hover(plot, layer)
		tip := fmt.Sprintf("document.querySelector('#plot-%d .tip')", plot)
		p.Wait(tip + " !== null && getComputedStyle(" + tip + ".parentElement).visibility === 'visible'")
		text := browser.Value[string](p, tip+".textContent")
		mattest.Says(t, text, fmt.Sprintf("condensed node %d", mark.I), "source node", "paper-")
	}
	hover(0, 1)
	p.Wait("report.plots[0].chart.getOption().series.find((s) => s.id === 'near').data.length > 0")
	p.Move(5, 5)
	p.Wait("report.plots[0].chart.getOption().series.find((s) => s.id === 'near').data.length === 0")
}

// cut computes the texts in plots that are not drawn completely, because they extend beyond the canvas or are clipped.
const cut = `report.plots.flatMap(({ chart }) => chart.getZr().storage.getDisplayList(true)
	.filter((e) => e.type === 'tspan' && !e.ignore && !e.invisible)
	.filter((e) => {
		const box = e.getBoundingRect().clone();
		if (e.transform) box.applyTransform(e.transform);
		const ends = (e.__clipPaths || []).map((c) => c.getBoundingRect());
		ends.push({ x: 0, y: 0, width: chart.getWidth(), height: chart.getHeight() });
		return ends.some((c) => box.x < c.x - 3 || box.x + box.width > c.x + c.width + 3);
	})
	.map((e) => e.style.text))`

// TestZoom checks that the buttons and the wheel zoom, and that selecting a class keeps the zoom.
func TestZoom(t *testing.T) {
	p := opener(t)(browser.View{})
	const zoom = "(() => { const z = report.plots[3].chart.getOption().dataZoom[0]; return z.end - z.start; })()"
	part := func() float64 { return browser.Value[float64](p, zoom) }
	mattest.Equal(t, part(), 100, "percentage in sight at first:")
	p.Run(chromedp.Click("#plot-3 [aria-label='zoom in']"))
	mattest.Near(t, part(), 60, 1, "percentage in sight after zooming in:")
	p.Run(chromedp.Click("#plot-3 .key button"))
	if got := part(); got > 61 {
		t.Errorf("choosing a class zooms to %v%%", got)
	}
	dim := browser.Value[int](p, `report.plots[3].chart.getOption().series
		.filter((s) => s.type === 'scatter' && s.itemStyle.opacity < 0.1).length`)
	mattest.Equal(t, dim, 6, "dim classes while one of 7 is chosen:")
	p.Run(chromedp.Click("#plot-3 [aria-label='show all']"))
	mattest.Equal(t, part(), 100, "percentage in sight after showing all:")
	mark := browser.Value[place](p, at+"(3, 0)")
	p.Run(chromedp.MouseEvent("mouseMoved", mark.X-60, mark.Y), chromedp.MouseEvent("mouseWheel", mark.X-60, mark.Y,
		func(e *input.DispatchMouseEventParams) *input.DispatchMouseEventParams {
			return e.WithDeltaX(0).WithDeltaY(-240).WithModifiers(input.ModifierCtrl)
		}))
	p.Wait("report.plots[3].chart.getOption().dataZoom[0].end < 100")
}

// TestSwitches checks the switch between views of the embeddings and the switch between sheets of the matrix.
func TestSwitches(t *testing.T) {
	p := opener(t)(browser.View{})
	const marks = "JSON.stringify(report.plots[%d].chart.getOption().series.map((s) => s.data))"
	first := func(plot int) string { return browser.Value[string](p, fmt.Sprintf(marks, plot)) }
	for plot, label := range map[int]string{0: "by spread", 2: "full"} {
		before := first(plot)
		p.Run(chromedp.Click(fmt.Sprintf("//*[@id='plot-%d']//button[text()='%s']", plot, label), chromedp.BySearch))
		mattest.True(t, first(plot) != before, "plot %d: the switch %q changes nothing", plot, label)
	}
}

// TestSlider checks that the slider merges the 42 condensed nodes to one per class, placed between the merged nodes,
// and splits them again.
func TestSlider(t *testing.T) {
	p := opener(t)(browser.View{})
	type mark = [3]float64 // x, y and number
	set := func(nodes int) (said string, marks [][]mark) {
		p.Eval(fmt.Sprintf(`(() => {
			const input = document.querySelector('#plot-0 .slider input');
			input.value = %d;
			input.dispatchEvent(new Event('input'));
			return input.getAttribute('aria-valuetext');
		})()`, nodes), &said)
		p.Eval(`report.plots[0].chart.getOption().series.filter((s) => /^1-/.test(s.id)).map((s) => s.data)`, &marks)
		return said, marks
	}
	sizes := func() string {
		return browser.Value[string](p, "document.querySelector('#plot-0 .layers').textContent")
	}
	said, whole := set(42)
	all := sizes()
	if said != "42 condensed nodes" || len(whole) != 7 {
		t.Fatalf("at first %q, with marks of %d classes", said, len(whole))
	}
	said, united := set(7)
	for c, marks := range united {
		if len(whole[c]) != 6 || len(marks) != 1 {
			t.Fatalf("class %d has %d and %d marks, want 6 and 1", c, len(whole[c]), len(marks))
		}
		for k := range 2 {
			least, most := math.Inf(1), math.Inf(-1)
			for _, m := range whole[c] {
				least, most = min(least, m[k]), max(most, m[k])
			}
			at := marks[0][k]
			mattest.True(t, at > least && at < most, "class %d: coordinate %v, must be between %v and %v", c, at, least, most)
		}
	}
	mattest.True(t, said == "7 condensed nodes" && sizes() != all,
		"at the left end %q, with the sizes of %q", said, sizes())
	if _, again := set(42); !reflect.DeepEqual(again, whole) || sizes() != all {
		t.Error("the marks are others when the slider is back")
	}
}

// TestCopy checks that the copy buttons copy the program and the command.
func TestCopy(t *testing.T) {
	p := opener(t)(browser.View{})
	p.Eval("navigator.clipboard.writeText = async (text) => { window.copied = text; }; 0", nil)
	for what, begins := range map[string]string{"program": "import cgc\n", "command": "cgc condense demo"} {
		p.Run(chromedp.Click("[aria-label='copy the " + what + "']"))
		p.Wait(fmt.Sprintf("(window.copied || '').startsWith(%q)", begins))
	}
}

// TestPrint checks that the printed page is light and has no buttons, and that its plots are drawn at once, as wide as
// the paper.
func TestPrint(t *testing.T) {
	p := opener(t)(browser.View{Dark: true})
	for i, n := range browser.Value[[]int](p, `(dispatchEvent(new Event('beforeprint')), report.plots.map(({ chart }) => {
		const canvas = chart.getDom().querySelector('.paper');
		const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
		return data.filter((v, at) => at % 4 === 3 && v > 40).length;
	}))`) {
		mattest.True(t, n >= 30, "plot %d is printed with %d pixels, want at least 30", i, n)
	}
	theme := func() string { return browser.Value[string](p, "document.documentElement.dataset.theme") }
	for _, w := range browser.Value[[]int](p, "report.plots.map((p) => p.chart.getWidth())") {
		mattest.True(t, w >= 250 && w <= 680, "a plot is %d pixels wide on paper of 680", w)
	}
	mattest.Equal(t, theme(), "light", "the theme on paper is")
	p.Eval("dispatchEvent(new Event('afterprint'))", nil)
	mattest.Equal(t, theme(), "dark", "the theme after printing is")
}

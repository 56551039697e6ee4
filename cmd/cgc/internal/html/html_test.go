package html_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/html"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// evil is a string that runs code in a page that fails to treat it as text.
const evil = `</script><script>alert(1)</script><img src=x onerror="alert(2)">'"` + "`${alert(3)}`"

// document returns a document with every kind of block, each containing the given word.
func document(word string) *report.Document {
	t := &report.Table{Title: word, Foot: word, Columns: []report.Column{{Name: word}, {Name: "n"}}}
	t.Row(word, 1234)
	lead := &report.Table{Lead: true, Columns: report.Columns("what", "value", "remark")}
	lead.Row(word, 70, word)
	folded := &report.Table{Title: word, Folded: true, Columns: report.Columns(word)}
	folded.Row(word)
	marks := report.Marks{
		Name: word, Noun: word, Class: []int32{0}, Label: []string{word}, Detail: []string{word}, Size: []float64{1},
	}
	of := func(data report.PlotData) *report.Plot { return &report.Plot{Title: word, Caption: word, Data: data} }
	d := &report.Document{Title: word}
	d.Add(report.Heading(word), report.Paragraph(word), report.Warning(word), report.Command(word), report.Code(word),
		report.Notes{word}, lead, folded, t, of(&report.Scatter{
			Classes: []string{word}, Layers: []report.Layer{{Marks: marks}},
			Views: []report.View{{Name: word, X: word, Y: word, At: [][][2]float64{{{0, 0}}}}},
		}),
		of(&report.Network{Classes: []string{word}, Marks: marks, At: [][2]float64{{0, 0}}, Radius: 1}),
		of(&report.Bars{Rows: []string{word}, Axis: word, Series: []report.BarSeries{{Name: word, Values: []float64{1}}}}),
		of(&report.Heatmap{
			X: word, Y: word, Rows: []string{word}, Columns: []string{word},
			Sheets: []report.Sheet{{Name: word, Values: [][]int{{1}}}},
		}),
		&report.Plot{Title: word, Data: &report.Lines{
			X: word, Y: word, Series: []report.Series{{Name: word, X: []float64{1}, Y: []float64{2}}},
		}})
	return d
}

// rendered returns the page of a document.
func rendered(t *testing.T, d *report.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	mattest.OK(t, html.Render(&b, d))
	return b.Bytes()
}

// TestEscapes checks that data is written as text: a page with an evil string has the same elements as a page with a
// harmless one.
func TestEscapes(t *testing.T) {
	elements := regexp.MustCompile(`<[a-zA-Z/!][^>]*`)
	count := func(word string) map[string]int {
		page := rendered(t, document(word))
		n := map[string]int{}
		for _, tag := range elements.FindAllString(string(page), -1) {
			n[regexp.MustCompile(`^</?[a-zA-Z!]+`).FindString(tag)]++
		}
		return n
	}
	want, got := count("harmless"), count(evil)
	mattest.True(t, fmt.Sprint(got) == fmt.Sprint(want) && want["<script"] == 3,
		"elements with an evil word: %v\nwith a harmless one: %v, with 3 scripts", got, want)
}

// TestSelfContained checks that the page contains no address to load from, and that its data is the JSON of the plots.
func TestSelfContained(t *testing.T) {
	d := document("harmless")
	page := rendered(t, d)
	for _, loads := range []string{`src="`, "url(", "@import", "http://", "https://", "<iframe", "<base"} {
		text := strings.ReplaceAll(string(page), "http://www.w3.org/2000/svg", "")
		mattest.True(t, !strings.Contains(text, loads), "the page has %q", loads)
	}
	mattest.True(t, bytes.Contains(page[:4096], []byte(html.Mark)), "the page does not begin with %s", html.Mark)
	_, data, _ := strings.Cut(string(page), `<script type="application/json" id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	var plots []struct{ Kind string }
	mattest.OK(t, json.Unmarshal([]byte(data), &plots))
	mattest.Equal(t, fmt.Sprint(plots), "[{scatter} {network} {bars} {heatmap} {figure}]", "the plots are")
	mattest.True(t, bytes.Equal(page, rendered(t, d)), "the same document gives other bytes")
}

// TestParts checks that tiles keep their position, that programs have a copy button, and that collapsed tables have a
// title that expands them.
func TestParts(t *testing.T) {
	page := rendered(t, document("harmless"))
	for _, part := range []string{
		`<dl class="lead"><div><dt>harmless</dt><dd>70</dd><dd class="remark">harmless</dd></div></dl>`,
		`<div class="copied program"><code>harmless</code><button type="button" aria-label="copy the program">`,
		`<details class="card"><summary>harmless</summary>`,
	} {
		mattest.True(t, bytes.Contains(page, []byte(part)), "the page has no %s", part)
	}
	for _, dark := range []bool{false, true} {
		for i, colour := range report.Palette(dark) {
			mattest.True(t, bytes.Contains(page, fmt.Appendf(nil, "--c%d: %s;", i, colour)),
				"the page has no colour %d %s", i, colour)
		}
	}
}

// TestWithoutPlots checks that a page without plots does not contain the library that draws them.
func TestWithoutPlots(t *testing.T) {
	page := rendered(t, &report.Document{Title: "none", Blocks: []report.Block{report.Paragraph("Text.")}})
	mattest.True(t, len(page) <= 60_000 && bytes.Contains(page, []byte("<p>Text.</p>")),
		"%d bytes, want a page of less than 60,000 with the paragraph", len(page))
}

package html

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	escape "html"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// writer writes a page. It replaces html/template, whose use of reflection keeps the linker from dropping unused
// methods: with html/template, the WebAssembly program would be almost twice as large.
type writer struct {
	bytes.Buffer
	plots []*report.Plot // written so far
	level string         // the element of a plot's title: h3 after a heading, otherwise h2
}

// put writes HTML in which each %s is replaced by the next value, escaped for elements and quoted attributes.
func (w *writer) put(format string, values ...string) {
	escaped := make([]any, len(values))
	for i, v := range values {
		escaped[i] = escape.EscapeString(v)
	}
	fmt.Fprintf(w, format, escaped...)
}

// page writes a document and, if it has plots, the library that draws them and their data.
func (w *writer) page(d *report.Document, policy string) error {
	w.put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"+
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"+Mark+
		"\n<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n"+
		"<title>%s</title>\n<style>", policy, d.Title)
	w.WriteString(style)
	w.put("</style>\n</head>\n<body>\n<main>\n<header><h1>%s</h1>"+
		"<button type=\"button\" id=\"theme\" title=\"colours of the page\">dark</button></header>\n"+
		"<noscript><p class=\"warning\">The plots need JavaScript. The tables do not.</p></noscript>\n"+
		"<p class=\"unseen\" id=\"said\" role=\"status\"></p>\n", d.Title)
	w.level = "h2"
	for rest := d.Blocks; len(rest) > 0; {
		if side := adjacent(rest); len(side) > 0 {
			w.grid(side)
			rest = rest[len(side):]
		} else {
			w.block(rest[0])
			rest = rest[1:]
		}
		w.put("\n")
	}
	data, err := json.Marshal(append([]*report.Plot{}, w.plots...)) // <, > and & are escaped, so the data forms no element
	if err != nil {
		return err
	}
	w.put("<footer>Made by cgc, a graph condenser. This page is one file and loads nothing from the network. " +
		"How to read it: docs/how-to/report.md in github.com/graph-condensation/cgc.")
	if len(w.plots) > 0 {
		w.put(" Plots: Apache ECharts 6.1.0, Apache License 2.0.")
	}
	w.put("</footer>\n</main>\n")
	if len(w.plots) > 0 {
		w.put("<script type=\"text/plain\" id=\"library\">%s</script>\n", base64.StdEncoding.EncodeToString(packed))
	}
	fmt.Fprintf(w, "<script type=\"application/json\" id=\"data\">%s</script>\n<script>%s</script>\n</body>\n</html>\n",
		data, script)
	return nil
}

// block writes a block that is not a plot.
func (w *writer) block(block report.Block) {
	switch block := block.(type) {
	case report.Heading:
		w.put("<h2>%s</h2>", string(block))
		w.level = "h3"
	case report.Paragraph:
		w.put("<p>%s</p>", string(block))
	case report.Warning:
		w.put("<p class=\"warning\"><strong>Warning:</strong> %s</p>", string(block))
	case report.Command:
		w.copied("command", string(block))
	case report.Code:
		w.copied("program", strings.TrimRight(string(block), "\n"))
	case report.Notes:
		if len(block) == 0 {
			return
		}
		w.put("<ul class=\"notes\">")
		for _, note := range block {
			w.put("<li>%s</li>", note)
		}
		w.put("</ul>")
	case *report.Table:
		switch {
		case block.Lead:
			w.lead(block)
		case block.Folded:
			w.put("<details class=\"card\"><summary>%s</summary>", block.Title)
			w.table(block, "")
			w.put("</details>")
		default:
			w.table(block, block.Title)
		}
	}
}

// copied writes a text with a copy button.
func (w *writer) copied(what, text string) {
	w.put("<div class=\"copied %s\"><code>%s</code><button type=\"button\" aria-label=\"copy the %s\">copy</button></div>",
		what, text, what)
}

// lead writes each row of a table as a tile with a name, a large value and a remark.
func (w *writer) lead(t *report.Table) {
	w.put("<dl class=\"lead\">")
	for i := range t.Rows {
		w.put("<div><dt>%s</dt>", textOf(t, i, 0))
		if value := textOf(t, i, 1); value != "" {
			w.put("<dd>%s</dd>", value)
		}
		if remark := textOf(t, i, 2); remark != "" {
			w.put("<dd class=\"remark\">%s</dd>", remark)
		}
		w.put("</div>")
	}
	w.put("</dl>")
}

// textOf returns the text of row i and column j, without surrounding spaces.
func textOf(t *report.Table, i, j int) string { return strings.TrimSpace(t.Cell(i, j).Text) }

// adjacent returns the plots at the beginning of blocks. They are drawn side by side.
func adjacent(blocks []report.Block) (plots []*report.Plot) {
	for _, block := range blocks {
		p, is := block.(*report.Plot)
		if !is {
			break
		}
		plots = append(plots, p)
	}
	return plots
}

// wide reports whether a plot needs the width of the page.
func wide(p *report.Plot) bool {
	switch data := p.Data.(type) {
	case *report.Scatter:
		return true
	case *report.Bars:
		return len(data.Rows) > 16 // many rows are drawn as vertical bars
	case *report.Heatmap:
		return len(data.Columns) > 16
	}
	return false
}

// grid writes plots in pairs. A wide plot, or one without a neighbour, is as wide as the page.
func (w *writer) grid(plots []*report.Plot) {
	w.put("<div class=\"grid\">\n")
	for len(plots) > 0 {
		if len(plots) > 1 && !slices.ContainsFunc(plots[:2], wide) {
			w.plot(plots[0], "")
			w.plot(plots[1], "")
			plots = plots[2:]
			continue
		}
		w.plot(plots[0], "wide")
		plots = plots[1:]
	}
	w.put("</div>")
}

func (w *writer) plot(p *report.Plot, class string) {
	number := strconv.Itoa(len(w.plots))
	w.plots = append(w.plots, p)
	w.put("<figure class=\"card %s\" id=\"plot-%s\" aria-labelledby=\"title-%s\">\n<div class=\"head\">"+
		"<%s id=\"title-%s\">%s</%s><div class=\"tools\"></div></div>\n"+
		"<div class=\"plot\" role=\"img\" aria-labelledby=\"title-%s\"",
		class, number, number, w.level, number, p.Title, w.level, number)
	if p.Caption == "" {
		w.put("></div>\n")
	} else {
		w.put(" aria-describedby=\"caption-%s\"></div>\n<figcaption id=\"caption-%s\">%s</figcaption>\n",
			number, number, p.Caption)
	}
	switch numbers := p.Outline(); {
	case p.Numbers != nil:
		w.table(numbers, numbers.Title)
	case numbers != nil:
		w.put("<details><summary>numbers<span class=\"unseen\"> of: %s</span></summary>", p.Title)
		w.table(numbers, numbers.Title)
		w.put("</details>\n")
	}
	w.put("</figure>\n")
}

// table writes a table with a title.
func (w *writer) table(t *report.Table, title string) {
	w.put("<div class=\"scroll\"><table>")
	if title != "" {
		w.put("<caption>%s</caption>", title)
	}
	w.put("\n")
	class := func(j int) string {
		if t.Align(j) == report.Right {
			return "right"
		}
		return "text"
	}
	if t.Headed() {
		w.put("<thead><tr>")
		for j, c := range t.Columns {
			w.put("<th scope=\"col\" class=\"%s\">%s</th>", class(j), c.Head())
		}
		w.put("</tr></thead>")
	}
	w.put("\n<tbody>")
	for i := range t.Rows {
		w.put("<tr>")
		for j := range t.Columns {
			w.put("<td class=\"%s\">%s</td>", class(j), textOf(t, i, j))
		}
		w.put("</tr>\n")
	}
	w.put("</tbody></table>")
	if t.Foot != "" {
		w.put("<p class=\"foot\">%s</p>", t.Foot)
	}
	w.put("</div>")
}

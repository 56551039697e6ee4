package html

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
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

// raw writes trusted text without escaping.
func (w *writer) raw(parts ...string) {
	for _, part := range parts {
		w.WriteString(part)
	}
}

// text writes data, escaped for elements and quoted attributes.
func (w *writer) text(text string) { w.WriteString(escape.EscapeString(text)) }

// element writes an element that contains text. open holds its attributes.
func (w *writer) element(name, open, text string) {
	w.raw("<", name, open, ">")
	w.text(text)
	w.raw("</", name, ">")
}

// page writes a document and, if it has plots, the library that draws them and their data.
func (w *writer) page(d *report.Document, policy string) error {
	w.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="`)
	w.text(policy)
	w.raw("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n", Mark,
		"\n<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n")
	w.element("title", "", d.Title)
	w.raw("\n<style>", style, "</style>\n</head>\n<body>\n<main>\n<header>")
	w.element("h1", "", d.Title)
	w.raw("<button type=\"button\" id=\"theme\" title=\"colours of the page\">dark</button></header>\n",
		"<noscript><p class=\"warning\">The plots need JavaScript. The tables do not.</p></noscript>\n")
	w.raw("<p class=\"unseen\" id=\"said\" role=\"status\"></p>\n")
	w.level = "h2"
	for rest := d.Blocks; len(rest) > 0; {
		if side := adjacent(rest); len(side) > 0 {
			w.grid(side)
			rest = rest[len(side):]
		} else {
			w.block(rest[0])
			rest = rest[1:]
		}
		w.raw("\n")
	}
	data, err := json.Marshal(append([]*report.Plot{}, w.plots...)) // its <, > and & are escaped, so it is no element
	if err != nil {
		return err
	}
	w.raw("<footer>Made by cgc, a graph condenser. This page is one file and loads nothing from the network. ",
		"How to read it: docs/how-to/report.md in github.com/graph-condensation/cgc.")
	if len(w.plots) > 0 {
		w.raw(" Plots: Apache ECharts 6.1.0, Apache License 2.0.")
	}
	w.raw("</footer>\n</main>\n")
	if len(w.plots) > 0 {
		library := base64.StdEncoding.EncodeToString(packed)
		w.raw("<script type=\"text/plain\" id=\"library\">", library, "</script>\n")
	}
	w.raw("<script type=\"application/json\" id=\"data\">", string(data), "</script>\n<script>", script,
		"</script>\n</body>\n</html>\n")
	return nil
}

// block writes a block that is not a plot.
func (w *writer) block(block report.Block) {
	switch block := block.(type) {
	case report.Heading:
		w.element("h2", "", string(block))
		w.level = "h3"
	case report.Paragraph:
		w.element("p", "", string(block))
	case report.Warning:
		w.raw("<p class=\"warning\"><strong>Warning.</strong> ")
		w.text(string(block))
		w.raw("</p>")
	case report.Command:
		w.copied("command", string(block))
	case report.Code:
		w.copied("program", strings.TrimRight(string(block), "\n"))
	case report.Notes:
		if len(block) == 0 {
			return
		}
		w.raw("<ul class=\"notes\">")
		for _, note := range block {
			w.element("li", "", note)
		}
		w.raw("</ul>")
	case *report.Table:
		switch {
		case block.Lead:
			w.lead(block)
		case block.Folded:
			w.raw("<details class=\"card\"><summary>")
			w.text(block.Title)
			w.raw("</summary>")
			w.table(block, "")
			w.raw("</details>")
		default:
			w.table(block, block.Title)
		}
	}
}

// copied writes a text with a copy button.
func (w *writer) copied(what, text string) {
	w.raw("<div class=\"copied ", what, "\">")
	w.element("code", "", text)
	w.raw("<button type=\"button\" aria-label=\"copy the ", what, "\">copy</button></div>")
}

// lead writes each row of a table as a tile with a name, a large value and a remark.
func (w *writer) lead(t *report.Table) {
	w.raw("<dl class=\"lead\">")
	for i := range t.Rows {
		w.raw("<div>")
		w.element("dt", "", textOf(t, i, 0))
		for j := 1; j < len(t.Columns); j++ {
			if text := textOf(t, i, j); text != "" {
				w.element("dd", []string{"", ` class="remark"`}[min(j-1, 1)], text)
			}
		}
		w.raw("</div>")
	}
	w.raw("</dl>")
}

// textOf returns the text of row i and column j, without spaces around it.
func textOf(t *report.Table, i, j int) string { return strings.TrimSpace(t.Cell(i, j).Text) }

// adjacent returns the plots at the beginning of blocks, which are drawn side by side.
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

// grid writes plots in pairs. A plot without a neighbour is as wide as the page too.
func (w *writer) grid(plots []*report.Plot) {
	w.raw("<div class=\"grid\">\n")
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
	w.raw("</div>")
}

func (w *writer) plot(p *report.Plot, class string) {
	number := strconv.Itoa(len(w.plots))
	w.plots = append(w.plots, p)
	w.raw("<figure class=\"card ", class, "\" id=\"plot-", number, "\" aria-labelledby=\"title-", number,
		"\">\n<div class=\"head\">")
	w.element(w.level, ` id="title-`+number+`"`, p.Title)
	w.raw("<div class=\"tools\"></div></div>\n<div class=\"plot\" role=\"img\" aria-labelledby=\"title-", number, `"`)
	if p.Caption != "" {
		w.raw(" aria-describedby=\"caption-", number, `"`)
	}
	w.raw("></div>\n")
	if p.Caption != "" {
		w.element("figcaption", ` id="caption-`+number+`"`, p.Caption)
		w.raw("\n")
	}
	switch numbers := p.Outline(); {
	case p.Numbers != nil:
		w.table(numbers, numbers.Title)
	case numbers != nil:
		w.raw("<details><summary>numbers")
		w.element("span", ` class="unseen"`, " of: "+p.Title)
		w.raw("</summary>")
		w.table(numbers, numbers.Title)
		w.raw("</details>\n")
	}
	w.raw("</figure>\n")
}

// table writes a table with a title.
func (w *writer) table(t *report.Table, title string) {
	w.raw("<div class=\"scroll\"><table>")
	if title != "" {
		w.element("caption", "", title)
	}
	w.raw("\n")
	class := func(j int) string {
		if t.Align(j) == report.Right {
			return ` class="right"`
		}
		return ` class="text"`
	}
	if t.Headed() {
		w.raw("<thead><tr>")
		for j, c := range t.Columns {
			w.element("th", ` scope="col"`+class(j), c.Head())
		}
		w.raw("</tr></thead>")
	}
	w.raw("\n<tbody>")
	for i := range t.Rows {
		w.raw("<tr>")
		for j := range t.Columns {
			w.element("td", class(j), textOf(t, i, j))
		}
		w.raw("</tr>\n")
	}
	w.raw("</tbody></table>")
	if t.Foot != "" {
		w.element("p", ` class="foot"`, t.Foot)
	}
	w.raw("</div>")
}

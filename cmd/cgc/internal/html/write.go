package html

import (
	"bytes"
	escape "html"
	"strconv"
)

// writer writes a page. It replaces html/template, whose use of reflection keeps the linker from dropping unused
// methods: with html/template, the WebAssembly program would be almost twice as large.
type writer struct{ bytes.Buffer }

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

func (w *writer) page(p *page) {
	w.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="`)
	w.text(p.Policy)
	w.raw("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n", Mark,
		"\n<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n")
	w.element("title", "", p.Title)
	w.raw("\n<style>", style, "</style>\n</head>\n<body>\n<main>\n<header>")
	w.element("h1", "", p.Title)
	w.raw("<button type=\"button\" id=\"theme\" title=\"colours of the page\">dark</button></header>\n",
		"<noscript><p class=\"warning\">The plots need JavaScript. The tables do not.</p></noscript>\n")
	w.raw("<p class=\"unseen\" id=\"said\" role=\"status\"></p>\n")
	for i := range p.Parts {
		w.part(&p.Parts[i])
		w.raw("\n")
	}
	w.raw("<footer>Made by cgc, a graph condenser. This page is one file and loads nothing from the network. ",
		"How to read it: docs/how-to/report.md in github.com/graph-condensation/cgc.")
	if p.Library != "" {
		w.raw(" Plots: Apache ECharts 6.1.0, Apache License 2.0.")
	}
	w.raw("</footer>\n</main>\n")
	if p.Library != "" {
		w.raw("<script type=\"text/plain\" id=\"library\">", p.Library, "</script>\n")
	}
	w.raw("<script type=\"application/json\" id=\"data\">", p.Data, "</script>\n<script>", script,
		"</script>\n</body>\n</html>\n")
}

// part writes the field that is set.
func (w *writer) part(p *part) {
	switch {
	case p.Heading != "":
		w.element("h2", "", p.Heading)
	case p.Text != "":
		w.element("p", "", p.Text)
	case p.Warning != "":
		w.raw("<p class=\"warning\"><strong>Warning.</strong> ")
		w.text(p.Warning)
		w.raw("</p>")
	case p.Command != "":
		w.copied("command", p.Command)
	case p.Code != "":
		w.copied("program", p.Code)
	case len(p.Notes) > 0:
		w.raw("<ul class=\"notes\">")
		for _, note := range p.Notes {
			w.element("li", "", note)
		}
		w.raw("</ul>")
	case p.Lead != nil:
		w.lead(p.Lead)
	case p.Table != nil:
		w.table(p.Table)
	case p.Folded != nil:
		w.raw("<details class=\"card\"><summary>")
		w.text(p.Folded.Title)
		w.raw("</summary>")
		p.Folded.Title = ""
		w.table(p.Folded)
		w.raw("</details>")
	case len(p.Plots) > 0:
		w.raw("<div class=\"grid\">\n")
		for i := range p.Plots {
			w.plot(&p.Plots[i])
		}
		w.raw("</div>")
	}
}

// copied writes a text with a copy button.
func (w *writer) copied(what, text string) {
	w.raw("<div class=\"copied ", what, "\">")
	w.element("code", "", text)
	w.raw("<button type=\"button\" aria-label=\"copy the ", what, "\">copy</button></div>")
}

// lead writes each row of a table as a tile with a name, a large value and a remark.
func (w *writer) lead(t *table) {
	w.raw("<dl class=\"lead\">")
	for _, row := range t.Rows {
		w.raw("<div>")
		w.element("dt", "", row[0].Text)
		for j, c := range row[1:] {
			if c.Text != "" {
				w.element("dd", []string{"", ` class="remark"`}[min(j, 1)], c.Text)
			}
		}
		w.raw("</div>")
	}
	w.raw("</dl>")
}

func (w *writer) plot(p *plot) {
	number := strconv.Itoa(p.Number)
	w.raw("<figure class=\"card ", p.Class, "\" id=\"plot-", number, "\" aria-labelledby=\"title-", number,
		"\">\n<div class=\"head\">")
	w.element(p.Level, ` id="title-`+number+`"`, p.Title)
	w.raw("<div class=\"tools\"></div></div>\n<div class=\"plot\" role=\"img\" aria-labelledby=\"title-", number, `"`)
	if p.Caption != "" {
		w.raw(" aria-describedby=\"caption-", number, `"`)
	}
	w.raw("></div>\n")
	if p.Caption != "" {
		w.element("figcaption", ` id="caption-`+number+`"`, p.Caption)
		w.raw("\n")
	}
	switch {
	case p.Numbers != nil && p.Open:
		w.table(p.Numbers)
	case p.Numbers != nil:
		w.raw("<details><summary>numbers")
		w.element("span", ` class="unseen"`, " of: "+p.Title)
		w.raw("</summary>")
		w.table(p.Numbers)
		w.raw("</details>\n")
	}
	w.raw("</figure>\n")
}

func (w *writer) table(t *table) {
	w.raw("<div class=\"scroll\"><table>")
	if t.Title != "" {
		w.element("caption", "", t.Title)
	}
	w.raw("\n")
	if len(t.Head) > 0 {
		w.raw("<thead><tr>")
		for _, c := range t.Head {
			w.element("th", ` scope="col" class="`+c.Class+`"`, c.Text)
		}
		w.raw("</tr></thead>")
	}
	w.raw("\n<tbody>")
	for _, row := range t.Rows {
		w.raw("<tr>")
		for _, c := range row {
			w.element("td", ` class="`+c.Class+`"`, c.Text)
		}
		w.raw("</tr>\n")
	}
	w.raw("</tbody></table>")
	if t.Foot != "" {
		w.element("p", ` class="foot"`, t.Foot)
	}
	w.raw("</div>")
}

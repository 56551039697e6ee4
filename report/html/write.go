package html

import (
	"bytes"
	escape "html"
	"strconv"
)

// writer writes a page. Package html/template would do it too, but it keeps the linker from leaving out unused methods:
// with it, a program for a browser is almost twice as large.
type writer struct{ bytes.Buffer }

// raw writes what this package wrote itself.
func (w *writer) raw(parts ...string) {
	for _, part := range parts {
		w.WriteString(part)
	}
}

// text writes what comes from data: as text, also within the quotes of an attribute.
func (w *writer) text(text string) { w.WriteString(escape.EscapeString(text)) }

// element writes an element with text in it. open is its name with attributes.
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
	w.raw("<footer>Made by cgc. This page holds all that it shows and asks no server for anything.")
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

// part writes the one field that is set.
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
		w.raw("<div class=\"command\">")
		w.element("code", "", p.Command)
		w.raw("<button type=\"button\" aria-label=\"copy the command\">copy</button></div>")
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
	case len(p.Plots) > 0:
		w.raw("<div class=\"grid\">\n")
		for i := range p.Plots {
			w.plot(&p.Plots[i])
		}
		w.raw("</div>")
	}
}

// lead writes a table of before and after as large numbers.
func (w *writer) lead(t *table) {
	w.raw("<dl class=\"lead\">")
	for _, row := range t.Rows {
		w.raw("<div>")
		for j, c := range row {
			switch {
			case j == 0:
				w.element("dt", "", c.Text)
			case j == 1:
				w.raw("<dd>")
				w.text(c.Text)
			case j == 2:
				w.raw(` <i aria-hidden="true">→</i><span class="unseen"> before, after: </span> `)
				w.text(c.Text)
			case c.Text != "":
				w.element("small", "", c.Text)
			}
		}
		w.raw("</dd></div>")
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
	if p.Numbers != nil {
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

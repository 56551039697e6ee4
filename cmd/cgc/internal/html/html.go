// Package html writes a document as a self-contained page: it includes styles, plots and the library that draws them,
// and loads nothing from a server.
//
// A content security policy in the page forbids all requests, and all scripts except the two that this package writes,
// identified by their hashes. Data is written as text, never as code, so a name that contains HTML is shown literally.
//
// Apache ECharts draws the plots. The folder plots contains the necessary parts of ECharts, the script that builds
// them, and their licences. The library is compressed; browsers of 2023 or later can decompress it.
package html

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

//go:embed page
var files embed.FS

// style is the style sheet of a page, including the colours of classes.
var style = read("page.css") + palette(":root", false) + palette(":root[data-theme='dark']", true)

// palette returns a CSS rule that defines the colours --c0, --c1, … for the given selector.
func palette(selector string, dark bool) string {
	rule := selector + " {\n"
	for i, colour := range report.Palette(dark) {
		rule += "  --c" + strconv.Itoa(i) + ": " + colour + ";\n"
	}
	return rule + "}\n"
}

// script is the code of a page. All scripts are in one function, so that the only global name is window.report.
var script = "(function () {\n'use strict';\n" + read("keys.js") + read("steps.js") + read("plane.js") +
	read("bars.js") + read("heatmap.js") + read("lines.js") + read("page.js") + "})();\n"

// read returns the content of a file in the folder page.
func read(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // the file is embedded
	}
	return string(text)
}

//go:embed plots/plots.min.js.gz
var packed []byte

// Mark is near the beginning of each page, so that programs recognise pages of this package.
const Mark = `<meta name="generator" content="cgc report">`

// Render returns the page of a document. Equal documents give equal bytes.
func Render(d *report.Document) ([]byte, error) {
	p := page{Title: d.Title}
	p.body(d.Blocks)
	data, err := json.Marshal(p.plots) // Marshal escapes <, > and &, so the data cannot close its element
	if err != nil {
		return nil, fmt.Errorf("html: %w", err)
	}
	if p.Data = "[]"; len(p.plots) > 0 {
		p.Data, p.Library = string(data), base64.StdEncoding.EncodeToString(packed)
	}
	hash, err := libraryHash()
	if err != nil {
		return nil, err
	}
	p.Policy = "default-src 'none'; script-src '" + hashOf([]byte(script)) + "' '" + hash + "'; " +
		"style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
	var w writer
	w.page(&p)
	return w.Bytes(), nil
}

// libraryHash returns the hash of the decompressed library, which the browser runs.
var libraryHash = sync.OnceValues(func() (string, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("html: the library of the plots: %w", err)
	}
	code, err := io.ReadAll(unpacked)
	if err != nil {
		return "", fmt.Errorf("html: the library of the plots: %w", err)
	}
	return hashOf(code), nil
})

// hashOf returns the hash of a script in the syntax of a content security policy.
func hashOf(code []byte) string {
	sum := sha256.Sum256(code)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

type page struct {
	Title, Policy string
	// Library is the library of the plots in base 64, or empty without plots. Data is the JSON of the plots.
	Library, Data string
	Parts         []part

	plots []any
}

// part is a block, or several plots side by side. Exactly one field is set.
type part struct {
	Heading, Text, Warning, Command, Code string
	Notes                                 []string
	Lead, Table, Folded                   *table
	Plots                                 []plot
}

type plot struct {
	Number                int
	Level                 string // element of the title: h3 after a heading, otherwise h2
	Title, Caption, Class string
	Numbers               *table
	Open                  bool // the table is unfolded
}

// body converts blocks to parts of the page.
func (p *page) body(blocks []report.Block) {
	for _, block := range blocks {
		var next part
		switch block := block.(type) {
		case report.Heading:
			next.Heading = string(block)
		case report.Paragraph:
			next.Text = string(block)
		case report.Warning:
			next.Warning = string(block)
		case report.Command:
			next.Command = string(block)
		case report.Code:
			next.Code = strings.TrimRight(string(block), "\n")
		case report.Notes:
			next.Notes = block
		case *report.Table:
			switch t := newTable(block); {
			case block.Lead:
				next.Lead = t
			case block.Folded:
				next.Folded = t
			default:
				next.Table = t
			}
		case *report.Figure:
			p.add(block, plot{Title: block.Title, Numbers: newTable(block.Outline())})
			continue
		case *report.Plot:
			shown := plot{Title: block.Title, Caption: block.Caption, Open: block.Numbers != nil}
			switch data := block.Data.(type) {
			case *report.Scatter:
				shown.Class = wide
			case *report.Bars:
				if len(data.Rows) > 16 { // many rows are drawn as vertical bars
					shown.Class = wide
				}
			case *report.Heatmap:
				if len(data.Columns) > 16 {
					shown.Class = wide
				}
			}
			if t := block.Outline(); t != nil {
				shown.Numbers = newTable(t)
			}
			p.add(block, shown)
			continue
		}
		p.Parts = append(p.Parts, next)
	}
	for _, part := range p.Parts {
		alone := -1 // index of a plot that has no neighbour yet
		for i := range part.Plots {
			switch {
			case part.Plots[i].Class != wide && alone < 0:
				alone = i
				continue
			case part.Plots[i].Class == wide && alone >= 0:
				part.Plots[alone].Class = wide
			}
			alone = -1
		}
		if alone >= 0 {
			part.Plots[alone].Class = wide
		}
	}
}

// wide is the CSS class of a plot that is as wide as the page.
const wide = "wide"

// add adds a plot. If the previous block is a plot too, both are placed side by side.
func (p *page) add(data any, shown plot) {
	shown.Number, shown.Level = len(p.plots), "h2"
	if slices.ContainsFunc(p.Parts, func(before part) bool { return before.Heading != "" }) {
		shown.Level = "h3"
	}
	p.plots = append(p.plots, data)
	if last := len(p.Parts) - 1; last >= 0 && p.Parts[last].Plots != nil {
		p.Parts[last].Plots = append(p.Parts[last].Plots, shown)
		return
	}
	p.Parts = append(p.Parts, part{Plots: []plot{shown}})
}

// table is a report.Table prepared for writing.
type table struct {
	Title, Foot string
	Head        []cell
	Rows        [][]cell
}

// cell is the text of a table cell with the CSS class of its alignment.
type cell struct{ Text, Class string }

func newTable(t *report.Table) *table {
	shown := &table{Title: t.Title, Foot: t.Foot}
	class := func(j int) string {
		if t.Align(j) == report.Right {
			return "right"
		}
		return "text"
	}
	if t.Headed() {
		for j, c := range t.Columns {
			shown.Head = append(shown.Head, cell{c.Head(), class(j)})
		}
	}
	for i := range t.Rows {
		var row []cell
		for j := range t.Columns {
			row = append(row, cell{strings.TrimSpace(t.Cell(i, j).Text), class(j)})
		}
		shown.Rows = append(shown.Rows, row)
	}
	return shown
}

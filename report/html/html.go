// Package html writes a document as a page that needs nothing else: styles, plots and the library that draws them are
// in it, and the page asks no server for anything.
//
// A policy in the page forbids all requests, and all scripts but the two that this package writes, which it names by
// their hashes. What comes from data is text, never code. So a name with HTML in it is shown as it is.
//
// The plots are drawn by Apache ECharts, whose parts that are needed lie in the folder plots, with the way to build
// them and their licences. The library is packed, and a browser of 2023 or later unpacks it.
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
	"strings"
	"sync"

	"github.com/graph-condensation/cgc/report"
)

//go:embed page
var files embed.FS

// style is the style of a page.
var style = read("page.css")

// script is what runs in a page: all scripts in one function, so that a page has no names but window.report.
var script = "(function () {\n'use strict';\n" + read("keys.js") + read("steps.js") + read("plane.js") +
	read("bars.js") + read("heatmap.js") + read("lines.js") + read("page.js") + "})();\n"

// read returns a file of the folder page.
func read(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it was embedded
	}
	return string(text)
}

//go:embed plots/plots.min.js.gz
var packed []byte

// Mark stands near the beginning of each page. Programs know by it that a file is a page of this package.
const Mark = `<meta name="generator" content="cgc report">`

// HTML is the Renderer for pages, in one call of w.Write. The same document gives the same bytes.
func HTML(w io.Writer, d *report.Document) error {
	page, err := Render(d)
	if err != nil {
		return err
	}
	_, err = w.Write(page)
	return err
}

// Render returns the page of a document.
func Render(d *report.Document) ([]byte, error) {
	p := page{Title: d.Title}
	p.body(d.Blocks)
	data, err := json.Marshal(p.plots) // escapes <, > and &: nothing in it can end the element it lies in
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

// libraryHash is the hash of the library as the browser runs it.
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

// hashOf returns the hash by which a policy allows a script.
func hashOf(code []byte) string {
	sum := sha256.Sum256(code)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// page is what a writer writes.
type page struct {
	Title, Policy string
	// Library is the library of the plots in base 64, empty if there are no plots. Data is the JSON of the plots.
	Library, Data string
	Parts         []part

	plots []any
}

// part is a block, or several plots side by side. One field is set.
type part struct {
	Heading, Text, Warning, Command string
	Notes                           []string
	Lead, Table                     *table
	Plots                           []plot
}

type plot struct {
	Number                int
	Level                 string // of the title: h3 below a heading, else h2
	Title, Caption, Class string
	Numbers               *table
}

// body turns blocks into parts.
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
		case report.Notes:
			next.Notes = block
		case *report.Table:
			if block.Lead {
				next.Lead = newTable(block)
			} else {
				next.Table = newTable(block)
			}
		case *report.Figure:
			p.add(block, plot{Title: block.Title, Numbers: newTable(block.Outline())})
			continue
		case *report.Plot:
			shown := plot{Title: block.Title, Caption: block.Caption}
			switch data := block.Data.(type) {
			case *report.Scatter:
				shown.Class = wide
			case *report.Bars:
				if len(data.Rows) > 16 { // they stand upright
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
		alone := -1 // the plot that has no other beside it yet
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

// wide is the class of a plot that takes the whole width of the page.
const wide = "wide"

// add adds a plot beside the one before it, if there is one.
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

// table is a report.Table as a writer writes it.
type table struct {
	Title, Foot string
	Head        []cell
	Rows        [][]cell
}

// cell is a word with the class of its alignment.
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

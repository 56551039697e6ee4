// Package report is how results are shown: one model of a document, and renderers that write it.
//
// A package that measures something builds a Document from its own result: headings, paragraphs, notes, tables, plots.
// It knows nothing of terminals, Markdown or commas. A Renderer writes any Document in one format:
//
//	d := result.Document()
//	err := report.Text(os.Stdout, d) // or Markdown, CSV, JSON, html.HTML
//
// To add a format, write a Renderer: a function that walks Document.Blocks with a type switch over the kinds of Block.
// Cell.Text is what people read, and Cell.Values is the same in full precision. Table.Align tells the side of a column.
// The example of Renderer writes HTML in forty lines. Package report/html writes a page with plots to look into, and
// package report/chart draws figures and plots for paper.
//
// The same document gives the same bytes.
package report

import "io"

// Document is a result to be shown: a title and blocks in reading order.
type Document struct {
	// Title may be empty: then the first block says what the document is about.
	Title string
	// Blocks are of the kinds Heading, Paragraph, Warning, Command, Notes, *Table, *Figure and *Plot.
	Blocks []Block
}

// Add appends blocks.
func (d *Document) Add(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

// Block is a part of a Document. The kinds are Heading, Paragraph, Warning, Command, Notes, *Table, *Figure and *Plot,
// and no others, so that a renderer that knows these eight can write any document.
type Block interface{ block() }

// Heading begins a section.
type Heading string

// Paragraph is running text.
type Paragraph string

// Warning is a sentence that a reader must not miss.
type Warning string

// Command is a command line that can be copied to a shell.
type Command string

// Notes are remarks that belong together: a line or a list item each. A note may have several lines.
type Notes []string

func (Heading) block()   {}
func (Paragraph) block() {}
func (Warning) block()   {}
func (Command) block()   {}
func (Notes) block()     {}
func (*Table) block()    {}
func (*Figure) block()   {}
func (*Plot) block()     {}

// Renderer writes a document in one format, and returns the error of w.
type Renderer func(w io.Writer, d *Document) error

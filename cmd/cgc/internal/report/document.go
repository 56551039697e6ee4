// Package report presents results: it defines one document model, and renderers that write documents in several
// formats.
//
// A package that measures something builds a Document from its result: headings, paragraphs, notes, tables, plots. It
// needs no code for terminals, Markdown or CSV. A Renderer writes any Document in one format:
//
//	d := result.Document()
//	err := report.Text(os.Stdout, d) // or Markdown, CSV
//
// To add a format, write a Renderer: a function that walks Document.Blocks with a type switch over the kinds of Block.
// Cell.Text is for people, and Cell.Values has the unrounded values. Table.Align returns the alignment of a column.
//
// Equal documents give equal bytes. Sentence, Wrap and Printable are for text outside documents, such as errors.
package report

import "strings"

// Document is a result to show: a title and blocks in reading order.
type Document struct {
	// Title may be empty if the first block introduces the document.
	Title string
	// Blocks have the types that Block lists.
	Blocks []Block
}

// Add appends blocks.
func (d *Document) Add(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

// Block is a part of a Document. The only types are Heading, Paragraph, Warning, Command, Code, Notes, *Table and
// *Plot, so that a renderer of these eight can write any document.
type Block interface{ block() }

// Heading begins a section.
type Heading string

// Paragraph is running text.
type Paragraph string

// Warning is a sentence that a reader must not miss.
type Warning string

// Command is a command line that can be copied to a shell.
type Command string

// Code is a Python program that can be copied.
type Code string

// Notes are a list of remarks. A note may have several lines.
type Notes []string

func (Heading) block()   {}
func (Paragraph) block() {}
func (Warning) block()   {}
func (Command) block()   {}
func (Code) block()      {}
func (Notes) block()     {}
func (*Table) block()    {}
func (*Plot) block()     {}

// lines returns the notes, each with a bullet before its first line and an indent before its other lines.
func (n Notes) lines(bullet string) string {
	var b strings.Builder
	for _, note := range n {
		b.WriteString(bullet + strings.ReplaceAll(note, "\n", "\n  ") + "\n")
	}
	return b.String()
}

// separated joins the parts that are not empty, each with a newline at its end, by empty lines.
func separated(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(part)
		if !strings.HasSuffix(part, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// joined returns a title and the text of each block, separated by empty lines.
func joined(title string, blocks []Block, text func(Block) string) string {
	parts := []string{title}
	for _, block := range blocks {
		parts = append(parts, text(block))
	}
	return separated(parts...)
}

package report

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Text is a Renderer that writes plain text for a terminal, in one call to w.Write. Blocks are separated by empty
// lines, and the columns of tables are aligned. Figures are omitted, because tables have their numbers. A Plot is shown
// as its table and its caption.
func Text(w io.Writer, d *Document) error {
	var b bytes.Buffer
	gap := func() {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
	}
	if d.Title != "" {
		b.WriteString(d.Title + "\n")
	}
	for _, block := range d.Blocks {
		switch block := block.(type) {
		case Heading:
			gap()
			b.WriteString(string(block) + "\n")
		case Paragraph:
			gap()
			b.WriteString(string(block) + "\n")
		case Warning:
			gap()
			b.WriteString("warning: " + string(block) + "\n")
		case Command:
			gap()
			b.WriteString("$ " + string(block) + "\n")
		case Code:
			gap()
			b.WriteString(strings.TrimRight(string(block), "\n") + "\n")
		case Notes:
			if len(block) > 0 {
				gap()
			}
			for _, note := range block {
				b.WriteString(strings.ReplaceAll(note, "\n", "\n  ") + "\n")
			}
		case *Table:
			gap()
			textTable(&b, block)
		case *Plot:
			gap()
			b.WriteString(block.Title + "\n")
			if t := block.Table(); t != nil {
				textTable(&b, t)
			}
			if block.Caption != "" {
				b.WriteString(block.Caption + "\n")
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// textTable writes a table with two spaces between columns, and without trailing spaces.
func textTable(b *bytes.Buffer, t *Table) {
	t.check()
	if t.Title != "" {
		b.WriteString(t.Title + "\n")
	}
	wide := make([]int, len(t.Columns))
	for j, c := range t.Columns {
		wide[j] = utf8.RuneCountInString(c.Head())
		for i := range t.Rows {
			wide[j] = max(wide[j], utf8.RuneCountInString(t.Cell(i, j).Text))
		}
	}
	line := func(text func(j int) string) {
		var line strings.Builder
		for j := range t.Columns {
			if j > 0 {
				line.WriteString("  ")
			}
			cell := text(j)
			space := strings.Repeat(" ", wide[j]-utf8.RuneCountInString(cell))
			if t.Align(j) == Left {
				line.WriteString(cell + space)
			} else {
				line.WriteString(space + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	if t.Headed() {
		line(func(j int) string { return t.Columns[j].Head() })
	}
	for i := range t.Rows {
		line(func(j int) string { return t.Cell(i, j).Text })
	}
	if t.Foot != "" {
		b.WriteString(t.Foot + "\n")
	}
}

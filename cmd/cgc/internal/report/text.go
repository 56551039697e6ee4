package report

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Text is a Renderer that writes plain text for a terminal, in one call to w.Write. Blocks are separated by empty
// lines, and the columns of tables are aligned. A Plot is shown as its table and its caption. Lines are omitted,
// because tables contain their numbers.
func Text(w io.Writer, d *Document) error {
	return write(w, d.Title, d.Blocks, func(block Block) string {
		switch block := block.(type) {
		case Heading:
			return string(block) + "\n"
		case Paragraph:
			return string(block) + "\n"
		case Warning:
			return "warning: " + string(block) + "\n"
		case Command:
			return "$ " + string(block) + "\n"
		case Code:
			return strings.TrimRight(string(block), "\n") + "\n"
		case Notes:
			return block.lines("")
		case *Table:
			return textTable(block)
		case *Plot:
			return textPlot(block)
		}
		return ""
	})
}

func textPlot(p *Plot) string {
	if _, is := p.Data.(*Lines); is {
		return ""
	}
	text := p.Title + "\n"
	if t := p.Table(); t != nil {
		text += textTable(t)
	}
	if p.Caption != "" {
		text += p.Caption + "\n"
	}
	return text
}

// textTable formats a table with two spaces between columns, and without trailing spaces.
func textTable(t *Table) string {
	t.check()
	var b strings.Builder
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
	return b.String()
}

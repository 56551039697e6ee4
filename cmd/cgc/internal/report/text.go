package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Text is a Renderer that writes plain text for a terminal, in one call to w.Write.
func Text(w io.Writer, d *Document) error {
	_, err := io.WriteString(w, d.String())
	return err
}

// String returns d as plain text for a terminal. Blocks are separated by empty lines, and the columns of tables are
// aligned. A Plot is shown as its table and its caption. Lines are omitted, because tables contain their numbers.
// Control characters become "�" (Printable).
func (d *Document) String() string {
	return joined(d.Title, d.Blocks, func(block Block) (text string) {
		defer func() { text = Printable(text) }()
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

// Markdown is a Renderer that writes Markdown with tables, in one call to w.Write. A Plot with a Name becomes an image
// link to NAME.svg, which the caller writes. The table and the caption of a Plot follow, except for Lines.
func Markdown(w io.Writer, d *Document) error {
	title := ""
	if d.Title != "" {
		title = "# " + d.Title
	}
	text := joined(title, d.Blocks, func(block Block) string {
		switch block := block.(type) {
		case Heading:
			return "## " + string(block)
		case Paragraph:
			return string(block) + "\n"
		case Warning:
			return "> **Warning:** " + string(block)
		case Command:
			return "```\n" + string(block) + "\n```"
		case Code:
			return "```python\n" + strings.TrimRight(string(block), "\n") + "\n```"
		case Notes:
			return block.lines("* ")
		case *Table:
			return separated(block.Title, markdownTable(block), block.Foot)
		case *Plot:
			return markdownPlot(block)
		}
		return ""
	})
	_, err := io.WriteString(w, text)
	return err
}

func markdownPlot(p *Plot) string {
	var image, table string
	if p.Name != "" {
		image = fmt.Sprintf("![%s](%s.svg)", p.Title, p.Name)
	}
	if _, is := p.Data.(*Lines); is {
		return image
	}
	if t := p.Table(); t != nil {
		table = markdownTable(t)
	}
	return separated("### "+p.Title, image, table, p.Caption)
}

// markdownTable formats t as a Markdown table. A table without a head gets an empty one, because Markdown requires it.
func markdownTable(t *Table) string {
	t.check()
	var b strings.Builder
	line := func(text func(j int) string) {
		for j := range t.Columns {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(text(j), "|", `\|`))
		}
		b.WriteString("|\n")
	}
	line(func(j int) string { return t.Columns[j].Head() })
	for j := range t.Columns {
		b.WriteString(map[Side]string{Left: "|---", Right: "|--:"}[t.Align(j)])
	}
	b.WriteString("|\n")
	for i := range t.Rows {
		line(func(j int) string { return t.Cell(i, j).Text })
	}
	return b.String()
}

// CSV is a Renderer that writes the tables of a document, in one call to w.Write. Each table has a header with the keys
// of its columns, and rows with unrounded numbers. An empty line separates tables. A column with Parts becomes one
// column for each part. A Plot is written as its table, if it has one. All other blocks are omitted.
func CSV(w io.Writer, d *Document) error {
	var b bytes.Buffer
	for _, block := range d.Blocks {
		t, _ := block.(*Table)
		if p, is := block.(*Plot); is {
			t = p.Table()
		}
		if t == nil {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if err := csv.NewWriter(&b).WriteAll(lines(t)); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// lines returns the lines of a table in CSV.
func lines(t *Table) [][]string {
	t.check()
	var head []string
	for _, c := range t.Columns {
		if len(c.Parts) == 0 {
			head = append(head, c.key())
		}
		for _, part := range c.Parts {
			head = append(head, c.key()+" "+part)
		}
	}
	all := [][]string{head}
	for i := range t.Rows {
		var row []string
		for j, c := range t.Columns {
			values := t.Cell(i, j).Values
			for part := range max(1, len(c.Parts)) {
				text := ""
				if part < len(values) {
					text = full(values[part])
				}
				row = append(row, text)
			}
		}
		all = append(all, row)
	}
	return all
}

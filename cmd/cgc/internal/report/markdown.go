package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Markdown is a Renderer that writes Markdown with tables, in one call to w.Write. A Figure becomes a link to the file
// NAME.svg, which the caller writes. A Figure without a Name is omitted. A Plot becomes such a link, its table and its
// caption.
func Markdown(w io.Writer, d *Document) error {
	var b bytes.Buffer
	paragraph := func(format string, args ...any) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, format, args...)
	}
	if d.Title != "" {
		paragraph("# %s\n", d.Title)
	}
	for _, block := range d.Blocks {
		switch block := block.(type) {
		case Heading:
			paragraph("## %s\n", string(block))
		case Paragraph:
			paragraph("%s\n", string(block))
		case Warning:
			paragraph("> **Warning:** %s\n", string(block))
		case Command:
			paragraph("```\n%s\n```\n", string(block))
		case Code:
			paragraph("```python\n%s\n```\n", strings.TrimRight(string(block), "\n"))
		case Notes:
			if len(block) > 0 {
				paragraph("")
			}
			for _, note := range block {
				fmt.Fprintf(&b, "* %s\n", strings.ReplaceAll(note, "\n", "\n  "))
			}
		case *Table:
			if block.Title != "" {
				paragraph("%s\n", block.Title)
			}
			paragraph("%s", markdownTable(block))
			if block.Foot != "" {
				paragraph("%s\n", block.Foot)
			}
		case *Figure:
			if block.Name != "" {
				paragraph("![%s](%s.svg)\n", block.Title, block.Name)
			}
		case *Plot:
			paragraph("### %s\n", block.Title)
			if block.Name != "" {
				paragraph("![%s](%s.svg)\n", block.Title, block.Name)
			}
			if t := block.Table(); t != nil {
				paragraph("%s", markdownTable(t))
			}
			if block.Caption != "" {
				paragraph("%s\n", block.Caption)
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
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

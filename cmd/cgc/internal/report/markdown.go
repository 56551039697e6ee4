package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown is a Renderer that writes Markdown with tables, in one call to w.Write. A Plot with a Name becomes an image
// link to NAME.svg, which the caller writes. The table and the caption of a Plot follow, except for Lines.
func Markdown(w io.Writer, d *Document) error {
	title := ""
	if d.Title != "" {
		title = "# " + d.Title
	}
	return write(w, title, d.Blocks, func(block Block) string {
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

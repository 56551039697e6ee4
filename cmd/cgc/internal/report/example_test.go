package report_test

import (
	"fmt"
	"html"
	"io"
	"os"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// results returns a typical document.
func results() *report.Document {
	t := &report.Table{Columns: []report.Column{
		{Name: "method"}, {Name: "nodes"}, {Name: "test", Unit: "%", Parts: []string{"mean", "std"}},
	}}
	t.Row(report.Word("cgc"), report.Integer(70), report.PlusMinus(82.0416, 0.5123, 1))
	t.Row(report.Word("whole"), report.Integer(2708), report.PlusMinus(81.5, 0.4, 1))
	d := &report.Document{Title: "cora"}
	d.Add(t, report.Notes{"±: standard deviation over 5 seeds"})
	return d
}

func Example() {
	if err := report.Text(os.Stdout, results()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// cora
	//
	// method  nodes     test, %
	// cgc        70  82.0 ± 0.5
	// whole   2,708  81.5 ± 0.4
	//
	// ±: standard deviation over 5 seeds
}

func ExampleMarkdown() {
	if err := report.Markdown(os.Stdout, results()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// # cora
	//
	// | method | nodes | test, % |
	// |---|--:|--:|
	// | cgc | 70 | 82.0 ± 0.5 |
	// | whole | 2,708 | 81.5 ± 0.4 |
	//
	// * ±: standard deviation over 5 seeds
}

func ExampleCSV() {
	if err := report.CSV(os.Stdout, results()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// method,nodes,test % mean,test % std
	// cgc,70,82.0416,0.5123
	// whole,2708,81.5,0.4
}

// HTML is a new renderer: it writes a page.
func HTML(w io.Writer, d *report.Document) error {
	page := "<title>" + html.EscapeString(d.Title) + "</title>\n"
	for _, block := range d.Blocks {
		switch block := block.(type) {
		case report.Heading:
			page += "<h2>" + html.EscapeString(string(block)) + "</h2>\n"
		case report.Paragraph:
			page += "<p>" + html.EscapeString(string(block)) + "</p>\n"
		case report.Notes:
			for _, note := range block {
				page += "<p>" + html.EscapeString(note) + "</p>\n"
			}
		case *report.Table:
			page += table(block)
		case *report.Figure:
			page += fmt.Sprintf("<img src=%q>\n", block.Name+".svg")
		}
	}
	_, err := io.WriteString(w, page)
	return err
}

// table writes the head and the rows, with numbers right-aligned.
func table(t *report.Table) string {
	text := "<table>\n<tr>"
	for _, c := range t.Columns {
		text += "<th>" + html.EscapeString(c.Head())
	}
	for i := range t.Rows {
		text += "\n<tr>"
		for j := range t.Columns {
			side := map[report.Side]string{report.Left: "left", report.Right: "right"}[t.Align(j)]
			text += "<td align=" + side + ">" + html.EscapeString(t.Cell(i, j).Text)
		}
	}
	return text + "\n</table>\n"
}

func ExampleRenderer() {
	var page report.Renderer = HTML
	if err := page(os.Stdout, results()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <title>cora</title>
	// <table>
	// <tr><th>method<th>nodes<th>test, %
	// <tr><td align=left>cgc<td align=right>70<td align=right>82.0 ± 0.5
	// <tr><td align=left>whole<td align=right>2,708<td align=right>81.5 ± 0.4
	// </table>
	// <p>±: standard deviation over 5 seeds</p>
}

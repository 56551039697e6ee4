package report

import (
	"bytes"
	"encoding/csv"
	"io"
)

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

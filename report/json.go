package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// JSON is the Renderer for programs, in one call of w.Write: one indented object with the keys "title" and "blocks". A
// block has the key "kind" and the fields of its type. The kinds are "heading", "paragraph", "warning", "command",
// "notes", "table", "figure", and for plots "scatter", "network", "bars" and "heatmap". A cell is its value; or an
// array, if the column has parts; or null, if it is blank. Numbers are in full. A number that is not finite is null.
func JSON(w io.Writer, d *Document) error {
	object := struct {
		Title  string `json:"title,omitempty"`
		Blocks []any  `json:"blocks"`
	}{d.Title, []any{}}
	type text struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	for _, block := range d.Blocks {
		switch block := block.(type) {
		case Heading:
			object.Blocks = append(object.Blocks, text{"heading", string(block)})
		case Paragraph:
			object.Blocks = append(object.Blocks, text{"paragraph", string(block)})
		case Warning:
			object.Blocks = append(object.Blocks, text{"warning", string(block)})
		case Command:
			object.Blocks = append(object.Blocks, text{"command", string(block)})
		case Notes:
			object.Blocks = append(object.Blocks, struct {
				Kind  string   `json:"kind"`
				Notes []string `json:"notes"`
			}{"notes", append([]string{}, block...)})
		case *Table:
			object.Blocks = append(object.Blocks, jsonTable(block))
		case *Figure:
			object.Blocks = append(object.Blocks, block)
		case *Plot:
			object.Blocks = append(object.Blocks, block)
		}
	}
	written, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(append(written, '\n'))
	return err
}

func jsonTable(t *Table) any {
	t.check()
	type column struct {
		Key   string   `json:"key"`
		Name  string   `json:"name"`
		Unit  string   `json:"unit,omitempty"`
		Parts []string `json:"parts,omitempty"`
	}
	object := struct {
		Kind    string   `json:"kind"`
		Title   string   `json:"title,omitempty"`
		Foot    string   `json:"foot,omitempty"`
		Columns []column `json:"columns"`
		Rows    [][]any  `json:"rows"`
	}{"table", t.Title, t.Foot, []column{}, [][]any{}}
	for _, c := range t.Columns {
		object.Columns = append(object.Columns, column{c.key(), c.Name, c.Unit, c.Parts})
	}
	for i := range t.Rows {
		row := make([]any, len(t.Columns))
		for j, c := range t.Columns {
			values := t.Cell(i, j).Values
			switch {
			case len(values) == 0:
			case len(c.Parts) == 0:
				row[j] = finite(values[0])
			default:
				parts := make([]any, len(values))
				for part, v := range values {
					parts[part] = finite(v)
				}
				row[j] = parts
			}
		}
		object.Rows = append(object.Rows, row)
	}
	return object
}

// MarshalJSON writes the figure as JSON has it, with the key "kind". A number that is not finite is null.
func (f *Figure) MarshalJSON() ([]byte, error) {
	type series struct {
		Name string `json:"name"`
		X    []any  `json:"x"`
		Y    []any  `json:"y"`
		Std  []any  `json:"std,omitempty"`
		// How the series looks: fields of Series.
		Style  int  `json:"style,omitempty"`
		Hollow bool `json:"hollow,omitempty"`
		Joined bool `json:"joined,omitempty"`
	}
	object := struct {
		Kind   string   `json:"kind"`
		Name   string   `json:"name,omitempty"`
		Title  string   `json:"title"`
		X      string   `json:"x"`
		Y      string   `json:"y"`
		Words  []string `json:"words,omitempty"`
		LogX   bool     `json:"log_x,omitempty"`
		LogY   bool     `json:"log_y,omitempty"`
		Series []series `json:"series"`
	}{"figure", f.Name, f.Title, f.X, f.Y, f.Words, f.LogX, f.LogY, []series{}}
	for _, s := range f.Series {
		object.Series = append(object.Series, series{
			s.Name, finites(s.X), finites(s.Y), finites(s.Std), s.Style, s.Hollow, s.Joined,
		})
	}
	return json.Marshal(object)
}

// finite returns v, or nil for a number that JSON has no word for.
func finite(v any) any {
	if f, is := v.(float64); is && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil
	}
	return v
}

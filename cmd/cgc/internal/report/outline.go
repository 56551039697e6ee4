package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Outline returns a plot as a table, for readers who cannot see it. It returns Numbers if set. Otherwise, marks of
// scatter plots and networks are counted by class, a heatmap with over 12 columns is reduced to the diagonal value and
// the largest other value of each row, and lines have a row for each X and a column for each series.
func (p *Plot) Outline() *Table {
	if p.Numbers != nil {
		return p.Numbers
	}
	return p.Data.outline()
}

func (s *Scatter) outline() *Table {
	t := &Table{Columns: []Column{{Name: "class"}}}
	for _, layer := range s.Layers {
		t.Columns = append(t.Columns, Column{Name: layer.Name, Side: Right},
			Column{Name: "their centre", Key: layer.Name + " centre", Side: Right, Parts: []string{"x", "y"}})
	}
	for c, name := range s.Classes {
		row, some := []Cell(nil), false
		for l, layer := range s.Layers {
			n, x, y := 0, 0.0, 0.0
			for i, of := range layer.Class {
				if int(of) == c {
					at := s.Views[0].At[l][i]
					n, x, y = n+1, x+at[0], y+at[1]
				}
			}
			centre := Cell{}
			if n > 0 {
				x, y, some = x/float64(n), y/float64(n), true
				centre = Cell{Text: short(x, 3) + ", " + short(y, 3), Values: []any{x, y}}
			}
			row = append(row, Integer(n), centre)
		}
		if some {
			t.Row(name, row)
		}
	}
	return t
}

// short formats v with at most the given number of significant digits, without trailing zeros.
func short(v float64, digits int) string { return strconv.FormatFloat(v, 'g', digits, 64) }

func (n *Network) outline() *Table {
	t := &Table{Columns: Columns("class", n.Name, "their size", "edges within", "edges to others")}
	type sum struct {
		nodes, within, across int
		size                  float64
	}
	of := make([]sum, len(n.Classes))
	for i, c := range n.Class {
		of[c].nodes++
		if n.Size != nil {
			of[c].size += n.Size[i]
		}
	}
	for _, link := range n.Links {
		a, b := n.Class[link[0]], n.Class[link[1]]
		if a == b {
			of[a].within++
			continue
		}
		of[a].across++
		of[b].across++
	}
	for c, s := range of {
		if s.nodes > 0 {
			t.Row(n.Classes[c], s.nodes, int(s.size), s.within, s.across)
		}
	}
	return t
}

func (h *Heatmap) outline() *Table {
	if len(h.Columns) <= widest {
		return h.table()
	}
	t := &Table{Columns: []Column{
		{Name: h.Y}, {Name: "on the diagonal", Side: Right}, {Name: "largest elsewhere"}, {Name: "number", Side: Right},
	}}
	sheet := h.Sheets[0]
	for i, name := range h.Rows {
		values, largest := sheet.Values[i], -1
		for j, v := range values {
			if j != i && (largest < 0 || max(v, -v) > max(values[largest], -values[largest])) {
				largest = j
			}
		}
		var own, other, number Cell
		if i < len(values) {
			own = sheet.Cell(values[i])
		}
		if largest >= 0 && values[largest] != 0 {
			other, number = Word(h.Columns[largest]), sheet.Cell(values[largest])
		}
		t.Row(name, own, other, number)
	}
	return t
}

func (f *Lines) outline() *Table {
	t := &Table{Columns: []Column{{Name: f.X, Key: "x"}}}
	for _, s := range f.Series {
		t.Columns = append(t.Columns, Column{Name: s.Name, Side: Right, Parts: MeanParts})
	}
	for _, x := range f.Xs() {
		row := []Cell{{Text: short(x, 6), Values: []any{x}}}
		if i := int(x); float64(i) == x && i >= 0 && i < len(f.Words) {
			row[0] = Word(f.Words[i])
		}
		for _, s := range f.Series {
			cell := Cell{}
			if i := slices.Index(s.X, x); i >= 0 && !math.IsNaN(s.Y[i]) {
				cell = Cell{Text: short(s.Y[i], 4), Values: []any{s.Y[i], 0.0}}
				if s.Std != nil && cmp.Compare(s.Std[i], 0) > 0 {
					cell = Cell{Text: cell.Text + " ± " + short(s.Std[i], 2), Values: []any{s.Y[i], s.Std[i]}}
				}
			}
			row = append(row, cell)
		}
		t.Row(row)
	}
	return t
}

package report_test

import (
	"math"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// TestOutline checks the table of each kind of plot.
func TestOutline(t *testing.T) {
	classes := []string{"a", "b", "none"}
	wide := &report.Heatmap{Y: "true", X: "predicted", Sheets: []report.Sheet{{Signed: true}}}
	for i := range 13 {
		name := string(rune('A' + i))
		row := make([]int, 13)
		row[i], row[(i+1)%13] = 5, -2
		wide.Rows, wide.Columns = append(wide.Rows, name), append(wide.Columns, name)
		wide.Sheets[0].Values = append(wide.Sheets[0].Values, row)
	}
	lines, first, second := &report.Lines{X: "nodes"}, report.Series{Name: "first"}, report.Series{Name: "second"}
	first.Add(lines.Place("zero"), 80, 0.5)
	first.Add(lines.Place("one"), 81, 0)
	second.Add(lines.Place("one"), 70, 0)
	second.Add(2, math.NaN(), 0)
	lines.Series = []report.Series{first, second}
	for name, c := range map[string]struct {
		t    *report.Table
		want []string // rows, with columns separated by |
	}{
		"scatter": {(&report.Plot{Data: &report.Scatter{
			Classes: classes,
			Layers: []report.Layer{
				{Marks: report.Marks{Name: "training nodes", Class: []int32{0, 0, 1}}},
				{Marks: report.Marks{Name: "condensed nodes", Class: []int32{1}}},
			},
			Views: []report.View{{At: [][][2]float64{{{1, 2}, {3, 5}, {0, 0}}, {{7, -8}}}}},
		}}).Outline(), []string{"a|2|2, 3.5|0|", "b|1|0, 0|1|7, -8"}},
		"network": {(&report.Plot{Data: &report.Network{
			Classes: classes,
			Marks:   report.Marks{Name: "condensed nodes", Class: []int32{0, 0, 1}, Size: []float64{2, 3, 4}},
			Links:   [][2]int32{{0, 1}, {1, 2}},
		}}).Outline(), []string{"a|2|5|1|1", "b|1|4|0|1"}},
		"wide matrix": {(&report.Plot{Data: wide}).Outline(), []string{"A|+5|B|−2", "B|+5|C|−2"}},
		"lines":       {(&report.Plot{Data: lines}).Outline(), []string{"zero|80 ± 0.5|", "one|81|70", "2||"}},
	} {
		for i, want := range c.want {
			var row []string
			for j := range c.t.Columns {
				row = append(row, strings.TrimSpace(c.t.Cell(i, j).Text))
			}
			if got := strings.Join(row, "|"); got != want {
				t.Errorf("%s: row %d is %q, want %q", name, i, got, want)
			}
		}
	}
}

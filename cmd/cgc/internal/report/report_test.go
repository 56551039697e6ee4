package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/golden"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// everything returns a document with each kind of block and of cell.
func everything() *report.Document {
	t := &report.Table{
		Title: "numbers", Foot: "below the table",
		Columns: []report.Column{
			{Name: "what"}, {Name: "value", Unit: "s", Key: "value_s"}, {Name: "range", Parts: []string{"low", "high"}},
			{Name: "left", Side: report.Left}, {Name: "a|b", Side: report.Right},
		},
	}
	t.Row("whole", -1234567, report.Interval(-0.04, 12.345, 1), 1, "word")
	t.Row("rounded", report.Mean(0.123456789, 0, 1, 3), report.Mean(1.25, 0.5, 2, 2), report.Signed(-0.05, 1))
	t.Row("share, “quoted”", report.Percent(97.8123, 1), report.Missing(), report.Signed(1.26, 1))
	t.Row("not a number", report.Decimal(math.NaN(), 1), report.Interval(math.Inf(-1), 0, 0), report.Full(true))
	t.Row("large", report.Significant(12345.678, 3), report.Cell{}, report.Full(1.5e-7), report.Signed(-0.01, 1))
	bare := &report.Table{Columns: []report.Column{{Key: "name"}, {Key: "speed"}}}
	bare.Row("stream", report.Significant(9.876, 3))
	bare.Row("compute", report.Significant(0.04321, 2))
	there := report.BarSeries{Name: "there", Tick: true, Detail: []string{"", "far"}}
	there.Estimate(3, 1, 3)
	there.Estimate(4, 1, 2) // no interval
	return &report.Document{Title: "All there is", Blocks: []report.Block{
		report.Paragraph("A paragraph."), t, report.Heading("A section"), bare, report.Notes{},
		&report.Plot{Name: "figure", Title: "A figure", Data: &report.Lines{
			X: "x", Y: "y", LogX: true,
			Series: []report.Series{{Name: "s", X: []float64{1, 2}, Y: []float64{3, math.NaN()}}},
		}},
		report.Notes{"a note", "a note\nof two lines"}, report.Warning("A warning."), report.Command("cgc run 'a b'"),
		report.Code("import cgc\n\nprint(1)\n"),
		&report.Plot{Name: "places", Title: "Places", Caption: "Where all is.", Data: &report.Scatter{
			Classes: []string{"a", "b"},
			Layers: []report.Layer{
				{
					Marks: report.Marks{Name: "nodes", Noun: "node", Class: []int32{0, 1}, Label: []string{"7", "8"}},
					Owner: []int32{0, -1},
				},
				{Marks: report.Marks{
					Name: "groups", Noun: "group", Class: []int32{0}, Label: []string{"0"}, Size: []float64{2},
					Detail: []string{"one"},
				}},
			},
			Views: []report.View{{Name: "flat", X: "x", Y: "y", At: [][][2]float64{{{1, 2}, {3, 4}}, {{5, 6}}}}},
		}},
		&report.Plot{Title: "Net", Data: &report.Network{
			Classes: []string{"a"}, Radius: 1, At: [][2]float64{{0, 0}, {1, 1}}, Links: [][2]int32{{0, 1}},
			Weight: []float64{0.5},
			Marks:  report.Marks{Name: "nodes", Noun: "node", Class: []int32{0, 0}, Label: []string{"0", "1"}},
		}},
		&report.Plot{Title: "Bars", Caption: "One is missing.", Data: &report.Bars{
			Rows: []string{"one", "two"}, Axis: "seconds", Points: true,
			Series: []report.BarSeries{
				{
					Name: "here", Digits: 1, Values: []float64{1.25, math.NaN()}, Low: []float64{1, 2}, High: []float64{2, 3},
					Samples: [][]float64{{1, 1.5}, nil},
				},
				there,
			},
		}},
		&report.Plot{Title: "Matrix", Data: &report.Heatmap{
			X: "to", Y: "from", Rows: []string{"a"}, Columns: []string{"b", "c"},
			Sheets: []report.Sheet{
				{Name: "change", Values: [][]int{{-1, 2}}, Signed: true}, {Name: "now", Values: [][]int{{3, 4}}},
			},
		}},
	}}
}

func TestRenderers(t *testing.T) {
	for file, render := range map[string]func(io.Writer, *report.Document) error{
		"all.txt": report.Text, "all.md": report.Markdown, "all.csv": report.CSV,
	} {
		var b bytes.Buffer
		mattest.OK(t, render(&b, everything()))
		golden.Compare(t, "testdata/"+file, b.Bytes())
		if err := render(full{}, everything()); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want %v", file, err, errFull)
		}
		mattest.OK(t, render(io.Discard, new(report.Document)))
	}
}

// TestControl checks that control characters in a name reach no terminal.
func TestControl(t *testing.T) {
	d := &report.Document{Blocks: []report.Block{report.Paragraph("\x1b[31mred\tor\u202eder\nnext")}}
	mattest.Equal(t, d.String(), "\ufffd[31mred\ufffdor\ufffdder\nnext\n", "text")
}

// TestPlots compares the JSON of plots, which a page draws.
func TestPlots(t *testing.T) {
	var plots []any
	for _, block := range everything().Blocks {
		if p, is := block.(*report.Plot); is {
			plots = append(plots, p)
		}
	}
	text := mattest.Must(json.MarshalIndent(plots, "", "  "))
	golden.Compare(t, "testdata/plots.json", append(text, '\n'))
}

// TestFull checks that numbers survive CSV unchanged.
func TestFull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64().Draw(t, "v")
		table := &report.Table{Columns: []report.Column{{Name: "v"}, {Name: "pair", Parts: []string{"a", "b"}}}}
		table.Row(report.Decimal(v, 1), report.PlusMinus(v, -v, 0))
		d := &report.Document{Blocks: []report.Block{table}}
		var b bytes.Buffer
		if err := report.CSV(&b, d); err != nil {
			t.Fatal(err)
		}
		rows := mattest.Must(csv.NewReader(&b).ReadAll())
		var read [3]float64
		for i, text := range rows[1] {
			if err := json.Unmarshal([]byte(text), &read[i]); err != nil {
				t.Fatal(err)
			}
		}
		if read != [3]float64{v, v, -v} || !slices.Equal(rows[0], []string{"v", "pair a", "pair b"}) {
			t.Errorf("CSV of %v is %v", v, rows)
		}
	})
}

// TestMistakes checks the panics for a row or a cell that does not fit its columns, and for a value that is not a cell.
func TestMistakes(t *testing.T) {
	mattest.Panics(t, "a row of a number without digits", func() { new(report.Table).Row(0.5) })
	for name, row := range map[string][]report.Cell{
		"two cells": {report.Integer(1), report.Integer(2)}, "two values": {report.PlusMinus(1, 2, 1)},
	} {
		table := &report.Table{Columns: []report.Column{{Name: "one"}}, Rows: [][]report.Cell{row}}
		for _, render := range []func(io.Writer, *report.Document) error{report.Text, report.Markdown, report.CSV} {
			mattest.Panics(t, name+" in a table of one column", func() {
				_ = render(io.Discard, &report.Document{Blocks: []report.Block{table}})
			})
		}
	}
}

// TestNumbers checks how numbers are written: rounded to three significant digits with all digits of the integer part,
// as integers, and as sizes in bytes.
func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.5: "0.5", 0.01234: "0.0123", 1: "1.00", 9.876: "9.88", 45.67: "45.7", 321.9: "322", 123456.7: "123457",
		-45.67: "-45.7", 0.9996: "1.00", 9.996: "10.0", 99.96: "100", 0.00001234: "0.0000123",
	} {
		mattest.Equal(t, report.Significant(v, 3).Text, want, "Significant(%v) =", v)
	}
	for want, got := range map[string]string{
		"0%": digits.Percent(0), "0.00001%": digits.Percent(1e-7), "12.3%": digits.Percent(0.12345),
		"99.96%": digits.Percent(0.9996), "100%": digits.Percent(1), "123%": digits.Percent(1.2345),
		"0": report.Count(0), "999": report.Count(999), "1,000": report.Count(1000), "61,859,140": report.Count(61859140),
		"-1,234": report.Count(-1234), "-999": report.Count(-999),
		"0 kB": report.Bytes(0), "52 kB": report.Bytes(51999),
		"123 MB": report.Bytes(123456789), "3.46 GB": report.Bytes(3456000000),
	} {
		mattest.True(t, got == want, "%s, want %s", got, want)
	}
}

// full is a writer that always fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("no space left")

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
			mattest.Equal(t, strings.Join(row, "|"), want, "%s: row %d is", name, i)
		}
	}
}

// linear returns a colour #rrggbb in linear RGB.
func linear(colour string) (c [3]float64) {
	var bytes [3]int
	mattest.Must(fmt.Sscanf(colour, "#%02x%02x%02x", &bytes[0], &bytes[1], &bytes[2]))
	for k, b := range bytes {
		if c[k] = float64(b) / 255 / 12.92; b > 10 {
			c[k] = math.Pow((float64(b)/255+0.055)/1.055, 2.4)
		}
	}
	return c
}

func times(m [3][3]float64, v [3]float64) (out [3]float64) {
	for i, row := range m {
		for j, w := range row {
			out[i] += w * v[j]
		}
	}
	return out
}

// visions map a colour in linear RGB to the colour that readers see: Machado, Oliveira and Fernandes 2009, severity 1.
var visions = map[string][3][3]float64{
	"all cones": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia": {
		{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998},
	},
	"deuteranopia": {
		{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881},
	},
}

// oklab returns a colour of linear RGB in the perceptually uniform space Oklab (Ottosson 2020).
func oklab(c [3]float64) [3]float64 {
	for k := range c {
		c[k] = min(1, max(0, c[k]))
	}
	cones := times([3][3]float64{
		{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566},
		{0.0883024619, 0.2817188376, 0.6299787005},
	}, c)
	for k := range cones {
		cones[k] = math.Cbrt(cones[k])
	}
	return times([3][3]float64{
		{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099},
		{0.0259040371, 0.7827717662, -0.8086757660},
	}, cones)
}

// luminance is the relative luminance of WCAG 2.
func luminance(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// TestPalette checks that readers with each kind of vision can distinguish any two colours of classes, and see each on
// its background.
func TestPalette(t *testing.T) {
	mattest.True(t, len(report.Palette(true)) == len(report.Palette(false)), "the palettes differ in length")
	for dark, ground := range map[bool]string{false: "#ffffff", true: "#191f27"} { // --card of the page
		colours := report.Palette(dark)
		for i, colour := range colours {
			a, b := luminance(linear(colour))+0.05, luminance(linear(ground))+0.05
			ratio := max(a, b) / min(a, b)
			mattest.True(t, ratio >= 3, "%s has a contrast of %.2f to %s, must be at least 3", colour, ratio, ground)
			for _, other := range colours[:i] {
				for name, seen := range visions {
					x, y := oklab(times(seen, linear(colour))), oklab(times(seen, linear(other)))
					d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2])
					mattest.True(t, d >= 0.1, "with %s, %s and %s are %.3f apart, must be at least 0.1", name, colour, other, d)
				}
			}
		}
	}
}

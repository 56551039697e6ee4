package report

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
)

// Plot is an interactive plot. It holds data rather than a drawing. A page shows details of each mark; a file does not.
// Text, Markdown and CSV show the numbers of Bars and of a small Heatmap as a table.
type Plot struct {
	// Name is the name of the plot's files without folder and extension; empty if it has no files.
	Name  string
	Title string
	// Caption explains the plot in a sentence or two.
	Caption string
	Data    PlotData
	// Numbers replaces the table of Data. nil keeps that table.
	Numbers *Table
}

// PlotData is the data of a Plot. The only types are *Lines, *Scatter, *Network, *Bars and *Heatmap. Their JSON is for
// the scripts of a page. The kind determines how a plot is drawn.
type PlotData interface {
	kind() string
	outline() *Table
}

func (*Lines) kind() string   { return "figure" }
func (*Scatter) kind() string { return "scatter" }
func (*Network) kind() string { return "network" }
func (*Bars) kind() string    { return "bars" }
func (*Heatmap) kind() string { return "heatmap" }

// Lines is a plot of values with their spread.
type Lines struct {
	// X and Y name the axes, with the unit.
	X string `json:"x"`
	Y string `json:"y"`
	// Words label the positions 0, 1, … of the horizontal axis. nil means an axis of numbers.
	Words []string `json:"words,omitempty"`
	// LogX and LogY make an axis logarithmic. Its values must be above 0.
	LogX   bool     `json:"log_x,omitempty"`
	LogY   bool     `json:"log_y,omitempty"`
	Series []Series `json:"series"`
}

// Series is one line or one set of marks of Lines.
type Series struct {
	Name string `json:"name"`
	// X and Y have one entry for each point. Points whose Y is NaN are not drawn.
	X Numbers `json:"x"`
	Y Numbers `json:"y"`
	// Std is half the length of the error bar of each point. nil or 0 means no error bar.
	Std Numbers `json:"std,omitempty"`
	// Labels are drawn next to the points. nil means no labels.
	Labels []string `json:"-"`
	// Style is the number of the shape and colour of the marks, from 0. Styles repeat after six. Shapes differ so that
	// marks can be distinguished without colour.
	Style int `json:"style,omitempty"`
	// Hollow draws the marks as outlines and the line dashed, for published numbers.
	Hollow bool `json:"hollow,omitempty"`
	// Joined draws a line through the points.
	Joined bool `json:"joined,omitempty"`
}

// Add appends a point.
func (s *Series) Add(x, y, std float64) {
	s.X, s.Y, s.Std = append(s.X, x), append(s.Y, y), append(s.Std, std)
}

// Xs returns the values of X of all series, ascending and without repeats.
func (l *Lines) Xs() (all []float64) {
	for _, s := range l.Series {
		all = append(all, s.X...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Place returns the position of a word on the horizontal axis. It appends new words to Words.
func (l *Lines) Place(word string) float64 {
	at := slices.Index(l.Words, word)
	if at < 0 {
		at = len(l.Words)
		l.Words = append(l.Words, word)
	}
	return float64(at)
}

// Marks is a group of points, each with a class.
type Marks struct {
	// Name is the plural of what the marks represent, such as "training nodes". Noun is the singular, such as "node".
	Name string `json:"name"`
	Noun string `json:"noun"`
	// Class holds the class of each mark, an index into the names of the classes.
	Class []int32 `json:"class"`
	// Size holds numbers above 0 that are proportional to the areas of the marks. nil draws small marks of equal size.
	// Unit says what Size counts, such as "source nodes".
	Size []float64 `json:"size,omitempty"`
	Unit string    `json:"unit,omitempty"`
	// Label names each mark, after Noun. Detail adds information about each mark and may have several lines, or is nil.
	Label  []string `json:"label"`
	Detail []string `json:"detail,omitempty"`
}

// Scatter is a scatter plot of marks in layers. Later layers are drawn on top.
type Scatter struct {
	Classes []string `json:"classes"`
	// Views are the layouts, at least one. The first is shown, and a reader may switch to another.
	Views  []View  `json:"views"`
	Layers []Layer `json:"layers"`
	// Unions lets a reader of a page choose the number of marks of the last layer. Union k merges two marks into mark
	// n+k, where n is the number of marks, which must have sizes. nil offers no choice.
	Unions [][2]int32 `json:"unions,omitempty"`
}

// Layer is a set of marks of a Scatter.
type Layer struct {
	Marks
	// Owner holds for each mark the mark of the next layer that it belongs to, or −1; nil if marks have no owners.
	Owner []int32 `json:"owner,omitempty"`
}

// View is a layout of the marks of a Scatter. Both axes have the same scale.
type View struct {
	// Name labels the switch. X and Y name the axes.
	Name string `json:"name"`
	X    string `json:"x"`
	Y    string `json:"y"`
	// At holds the position of each mark, by layer.
	At [][][2]float64 `json:"at"`
}

// Network is a drawing of a graph with a given layout.
type Network struct {
	Classes []string `json:"classes"`
	Marks   `json:"marks"`
	// At holds the position of each mark. Both axes have the same scale. Radius is the radius of the largest mark, in the
	// same unit.
	At     [][2]float64 `json:"at"`
	Radius float64      `json:"radius"`
	// Links holds the two ends of each edge, and is not nil. Weight holds the weight of each edge; nil means equal
	// weights.
	Links  [][2]int32 `json:"links"`
	Weight []float64  `json:"weight,omitempty"`
}

// Bars is a bar chart with one or several values in each row.
type Bars struct {
	// Axis is the common axis, with the unit. Rows names the rows.
	Axis string   `json:"axis"`
	Rows []string `json:"rows"`
	// Points draws marks with samples and intervals instead of bars. Their axis need not start at 0; bars start at 0.
	Points bool        `json:"points,omitempty"`
	Series []BarSeries `json:"series"`
}

// BarSeries has a number for each row of Bars.
type BarSeries struct {
	Name string
	// Values has an entry for each row. NaN is not drawn.
	Values Numbers
	// Samples holds the samples behind each mean; nil if there are none.
	Samples [][]float64
	// Low and High are the ends of the interval of each value. They are NaN for a value without an interval, and nil if no
	// value has one.
	Low, High Numbers
	// Tick draws a stroke across the row instead of a bar, for a bound.
	Tick bool
	// Detail adds information about each value. nil means none.
	Detail []string
	// Digits is the number of digits after the decimal point.
	Digits int
}

// Heatmap is a matrix of numbers, shown as colours.
type Heatmap struct {
	// X is the common name of the columns, and Y is the common name of the rows.
	X string `json:"x"`
	Y string `json:"y"`
	// Rows and Columns name the individual rows and columns.
	Rows    []string `json:"rows"`
	Columns []string `json:"columns"`
	// Sheets are the matrices, at least one. The first is shown, and a reader may switch to another.
	Sheets []Sheet `json:"sheets"`
}

// Sheet is one matrix of a Heatmap.
type Sheet struct {
	// Name labels the switch.
	Name string `json:"name"`
	// Values are integers, by row and column.
	Values [][]int `json:"values"`
	// Signed says that the values are differences, with different colours above and below 0.
	Signed bool `json:"signed,omitempty"`
}

// Cell formats a value of the matrix.
func (s Sheet) Cell(v int) Cell {
	if s.Signed {
		return Signed(float64(v), 0)
	}
	return Integer(v)
}

// widest is the largest number of columns with which a heatmap is shown as a table.
const widest = 12

// Table returns Numbers or, if that is nil, the values of Data as a table without a title. It returns nil for lines,
// scatter plots, networks and heatmaps with more than 12 columns.
func (p *Plot) Table() *Table {
	switch data := p.Data.(type) {
	case *Bars:
		return p.Outline()
	case *Heatmap:
		if len(data.Columns) <= widest {
			return p.Outline()
		}
	}
	return p.Numbers
}

// fewest is the smallest number of repetitions for which a mean has an interval: with two, the interval is too wide to
// be useful.
const fewest = 3

// Estimate appends a mean in percent over n repetitions. If n is at least 3, its interval is mean ± half, clipped to
// 0–100.
func (s *BarSeries) Estimate(mean, half float64, n int) {
	low, high := math.NaN(), math.NaN()
	if n >= fewest {
		low, high = max(0, mean-half), min(100, mean+half)
	}
	s.Values, s.Low, s.High = append(s.Values, mean), append(s.Low, low), append(s.High, high)
}

// Interval returns the ends of the interval of value i; is reports whether it has one.
func (s *BarSeries) Interval(i int) (low, high float64, is bool) {
	if s.Low == nil || math.IsNaN(s.Low[i]) {
		return 0, 0, false
	}
	return s.Low[i], s.High[i], true
}

// interval returns the interval of value i, or a blank cell.
func (s *BarSeries) interval(i int) Cell {
	if low, high, is := s.Interval(i); is {
		return Interval(low, high, s.Digits)
	}
	return Cell{}
}

// outline returns all values.
func (b *Bars) outline() *Table {
	t := &Table{Columns: []Column{{Name: b.Axis, Key: "row"}}}
	for _, s := range b.Series {
		t.Columns = append(t.Columns, Column{Name: s.Name, Side: Right})
		if s.Low != nil {
			t.Columns = append(t.Columns, Column{Name: "interval", Key: s.Name + " interval", Parts: IntervalParts})
		}
	}
	for i, name := range b.Rows {
		var row []Cell
		for _, s := range b.Series {
			var value, interval Cell
			if v := s.Values[i]; v == v {
				value = Decimal(v, s.Digits)
				interval = s.interval(i)
			}
			row = append(row, value)
			if s.Low != nil {
				row = append(row, interval)
			}
		}
		t.Row(name, row)
	}
	return t
}

// table returns the first sheet as a table.
func (h *Heatmap) table() *Table {
	t := &Table{Columns: []Column{{Name: h.Y + " \\ " + h.X, Key: h.Y}}}
	t.Columns = append(t.Columns, Columns(h.Columns...)...)
	for i, name := range h.Rows {
		var row []Cell
		for _, v := range h.Sheets[0].Values[i] {
			row = append(row, h.Sheets[0].Cell(v))
		}
		t.Row(name, row)
	}
	return t
}

// Palette returns the colours of classes as #rrggbb, for a dark or a light background. Colour i of both palettes has a
// similar hue. Each colour has a contrast of at least 3 to its background. Any two differ by at least 0.1 in Oklab,
// also for readers with deuteranopia or protanopia (Machado et al. 2009). With more classes than colours, the colours
// are reused with other shapes.
func Palette(dark bool) []string {
	if dark {
		return slices.Clone(onDark)
	}
	return slices.Clone(onLight)
}

var (
	onLight = []string{"#0041ad", "#ea6812", "#35a179", "#c271cf", "#825a0e", "#3d0874", "#7c1d3a", "#0b718d"}
	onDark  = []string{"#7278f6", "#df8623", "#51d893", "#d37da1", "#dff44f", "#7c6297", "#f8bff2", "#09ade5"}
)

// Numbers is a list of numbers. Numbers that are not finite count as missing, and become null in JSON.
type Numbers []float64

// MarshalJSON writes a list, with null for numbers that are not finite.
func (n Numbers) MarshalJSON() ([]byte, error) {
	list := make([]any, len(n))
	for i, v := range n {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			list[i] = v
		}
	}
	return json.Marshal(list)
}

// MarshalJSON writes the plot for the scripts of a page: an object with the fields of Data and the key "kind".
func (p *Plot) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(struct {
		Kind    string `json:"kind"`
		Name    string `json:"name,omitempty"`
		Title   string `json:"title"`
		Caption string `json:"caption,omitempty"`
	}{p.Data.kind(), p.Name, p.Title, p.Caption})
	data, err2 := json.Marshal(p.Data)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	head[len(head)-1] = ','
	return append(head, data[1:]...), nil
}

// MarshalJSON writes the series with the texts of its values and intervals, so that rounding is done in one place.
func (s BarSeries) MarshalJSON() ([]byte, error) {
	texts := make([][2]string, len(s.Values))
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			texts[i] = [2]string{Decimal(v, s.Digits).Text, s.interval(i).Text}
		}
	}
	return json.Marshal(struct {
		Name    string      `json:"name"`
		Values  Numbers     `json:"values"`
		Samples [][]float64 `json:"samples,omitempty"`
		Low     Numbers     `json:"low,omitempty"`
		High    Numbers     `json:"high,omitempty"`
		Texts   [][2]string `json:"texts"`
		Tick    bool        `json:"tick,omitempty"`
		Detail  []string    `json:"detail,omitempty"`
	}{s.Name, s.Values, s.Samples, s.Low, s.High, texts, s.Tick, s.Detail})
}

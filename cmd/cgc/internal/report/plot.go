package report

import "math"

// Plot is an interactive plot. It holds data rather than a drawing. A page shows details of each mark; a file does not.
// Text, Markdown and CSV show the numbers of Bars and of a small Heatmap as a table.
type Plot struct {
	// Name is the name of the plot's files without folder and extension; empty if it has no files.
	Name  string
	Title string
	// Caption explains the plot in a sentence or two.
	Caption string
	// Data is one of *Scatter, *Network, *Bars and *Heatmap.
	Data PlotData
	// Numbers replaces the table of Data. nil keeps that table.
	Numbers *Table
}

// PlotData is the data of a Plot. The only types are *Scatter, *Network, *Bars and *Heatmap.
type PlotData interface{ data() }

func (*Scatter) data() {}
func (*Network) data() {}
func (*Bars) data()    {}
func (*Heatmap) data() {}

// Marks is a group of points, each with a class.
type Marks struct {
	// Name is the plural of what the marks represent, such as "training nodes". Noun is the singular, such as "node".
	Name, Noun string
	// Class holds the class of each mark, an index into the names of the classes.
	Class []int32
	// Size holds numbers above 0 that are proportional to the areas of the marks. nil draws small marks of equal size.
	// Unit says what Size counts, such as "source nodes".
	Size []float64
	Unit string
	// Label names each mark, after Noun. Detail adds information about each mark and may have several lines. Each is nil
	// if there is none.
	Label, Detail []string
}

// Len returns the number of marks.
func (m *Marks) Len() int { return len(m.Class) }

// Scatter is a scatter plot of marks in layers. Later layers are drawn on top.
type Scatter struct {
	Classes []string
	Layers  []Layer
	// Views are the layouts, at least one. The first is shown, and a reader may switch to another.
	Views []View
}

// Layer is a set of marks of a Scatter.
type Layer struct {
	Marks
	// Owner holds for each mark the mark of the next layer that it belongs to, or −1; nil if marks have no owners.
	Owner []int32
}

// View is a layout of the marks of a Scatter. Both axes have the same scale.
type View struct {
	// Name labels the switch. X and Y name the axes.
	Name, X, Y string
	// At holds the position of each mark, by layer.
	At [][][2]float64
}

// Network is a drawing of a graph with a given layout.
type Network struct {
	Classes []string
	Marks
	// At holds the position of each mark. Both axes have the same scale. Radius is the radius of the largest mark, in the
	// same unit.
	At     [][2]float64
	Radius float64
	// Links holds the two ends of each edge. Weight holds the weight of each edge; nil means equal weights.
	Links  [][2]int32
	Weight []float64
}

// Bars is a bar chart with one or several values in each row.
type Bars struct {
	// Rows names the rows, Axis the common axis, with the unit.
	Rows []string
	Axis string
	// Points draws marks with samples and intervals instead of bars. Their axis need not start at 0; bars start at 0.
	Points bool
	Series []BarSeries
}

// BarSeries has a number for each row of Bars.
type BarSeries struct {
	Name string
	// Values has an entry for each row. NaN is not drawn.
	Values []float64
	// Samples holds the samples behind each mean; nil if there are none.
	Samples [][]float64
	// Low and High are the ends of the interval of each value, NaN for a value without one; nil if no value has one.
	Low, High []float64
	// Tick draws a stroke across the row instead of a bar, for a bound.
	Tick bool
	// Detail adds information about each value. nil means none.
	Detail []string
	// Digits is the number of digits after the decimal point.
	Digits int
}

// Heatmap is a matrix of numbers, shown as colours.
type Heatmap struct {
	// X is the common name of the columns, Y that of the rows.
	X, Y string
	// Rows and Columns name the individual rows and columns.
	Rows, Columns []string
	// Sheets are the matrices, at least one. The first is shown, and a reader may switch to another.
	Sheets []Sheet
}

// Sheet is one matrix of a Heatmap.
type Sheet struct {
	// Name labels the switch.
	Name string
	// Values are integers, by row and column.
	Values [][]int
	// Signed says that the values are differences, with different colours above and below 0.
	Signed bool
}

// widest is the largest number of columns with which a heatmap is shown as a table.
const widest = 12

// Table returns Numbers or, if that is nil, the values of Data as a table without a title. It returns nil for scatter
// plots, networks and heatmaps with more than 12 columns.
func (p *Plot) Table() *Table {
	if p.Numbers != nil {
		return p.Numbers
	}
	switch data := p.Data.(type) {
	case *Bars:
		return data.table()
	case *Heatmap:
		if len(data.Columns) <= widest {
			return data.table()
		}
	}
	return nil
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

// interval returns the interval of value i, or a blank cell.
func (s *BarSeries) interval(i int) Cell {
	if s.Low == nil || math.IsNaN(s.Low[i]) {
		return Cell{}
	}
	return Interval(s.Low[i], s.High[i], s.Digits)
}

func (b *Bars) table() *Table {
	t := &Table{Columns: []Column{{Name: b.Axis, Key: "row"}}}
	for _, s := range b.Series {
		t.Columns = append(t.Columns, Column{Name: s.Name, Side: Right})
		if s.Low != nil {
			t.Columns = append(t.Columns, Column{Name: "interval", Key: s.Name + " interval", Parts: []string{"low", "high"}})
		}
	}
	for i, name := range b.Rows {
		row := []Cell{Word(name)}
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
		t.Row(row...)
	}
	return t
}

// table returns the first sheet as a table.
func (h *Heatmap) table() *Table {
	t := &Table{Columns: []Column{{Name: h.Y + " \\ " + h.X, Key: h.Y}}}
	t.Columns = append(t.Columns, Columns(h.Columns...)...)
	for i, name := range h.Rows {
		row := []Cell{Word(name)}
		for _, v := range h.Sheets[0].Values[i] {
			cell := Integer(v)
			if h.Sheets[0].Signed {
				cell = Signed(float64(v), 0)
			}
			row = append(row, cell)
		}
		t.Row(row...)
	}
	return t
}

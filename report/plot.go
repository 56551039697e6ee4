package report

// Plot is a picture that a reader can look into. It holds data and no drawing: package report/html draws it in a page,
// with what lies behind each mark, and package report/chart on paper. Text, Markdown and CSV show the numbers of Bars
// and of a small Heatmap as a table.
type Plot struct {
	// Name is that of the plot's files, without a folder and an extension; empty if it has none.
	Name  string
	Title string
	// Caption says what is seen and how it was made, in a sentence or two.
	Caption string
	// Data is one of *Scatter, *Network, *Bars and *Heatmap.
	Data PlotData
}

// PlotData is what a Plot shows. The kinds are *Scatter, *Network, *Bars and *Heatmap, and no others.
type PlotData interface{ data() }

func (*Scatter) data() {}
func (*Network) data() {}
func (*Bars) data()    {}
func (*Heatmap) data() {}

// Marks are points that belong together, each of a class.
type Marks struct {
	// Name is what the marks are called: "training nodes". One of them is a Noun: "node".
	Name, Noun string
	// Class holds the class of each mark, an index into the names of the classes.
	Class []int32
	// Size holds what the area of each mark is proportional to, above 0. nil draws all alike, and small.
	Size []float64
	// Label names each mark, after Noun. Detail says more of it, and may have several lines; nil if there is no more.
	Label, Detail []string
}

// Len returns the number of marks.
func (m *Marks) Len() int { return len(m.Class) }

// Scatter is marks in the plane, in layers. Later layers lie on top.
type Scatter struct {
	Classes []string
	Layers  []Layer
	// Views are the ways to place the marks, at least one. The first is shown, and a reader may switch.
	Views []View
}

// Layer is a set of marks of a Scatter.
type Layer struct {
	Marks
	// Owner holds for each mark the mark of the next layer that it belongs to, or −1. nil if marks belong nowhere.
	Owner []int32
}

// View is a way to place the marks of a Scatter. Both axes have the same scale.
type View struct {
	// Name is that of the switch. X and Y name the axes.
	Name, X, Y string
	// At holds the place of each mark, by layer.
	At [][][2]float64
}

// Network is a drawn graph. Its marks have places that a layout found.
type Network struct {
	Classes []string
	Marks
	// At holds the place of each mark. Both axes have the same scale. Radius is that of the largest mark, in the same
	// unit.
	At     [][2]float64
	Radius float64
	// Links holds the two ends of each edge, and Weight its weight; nil if all weigh alike.
	Links  [][2]int32
	Weight []float64
}

// Bars is numbers in rows, one or several for each.
type Bars struct {
	// Rows names the rows, Axis the common axis, with the unit.
	Rows []string
	Axis string
	// Points draws marks and intervals, on an axis that need not begin at 0. Otherwise bars begin at 0.
	Points bool
	Series []BarSeries
}

// BarSeries has a number for each row of Bars.
type BarSeries struct {
	Name string
	// Values has an entry for each row. One that is not a number is left out.
	Values []float64
	// Low and High are the ends of the interval of each value; nil if there are none.
	Low, High []float64
	// Tick draws a stroke across the row in place of a bar: for a bound.
	Tick bool
	// Detail says more of each value; nil if there is no more.
	Detail []string
	// Digits is the number of digits after the point.
	Digits int
}

// Heatmap is a matrix of numbers, drawn in colours.
type Heatmap struct {
	// X names the columns as a whole, Y the rows.
	X, Y string
	// Rows and Columns name the single rows and columns.
	Rows, Columns []string
	// Sheets are the matrices to choose from, at least one. The first is shown.
	Sheets []Sheet
}

// Sheet is one matrix of a Heatmap.
type Sheet struct {
	// Name is that of the switch.
	Name string
	// Values are whole numbers, by row and column.
	Values [][]int
	// Signed says that the values are differences: colours tell above from below 0.
	Signed bool
}

// widest is the number of columns up to which a heatmap is a table.
const widest = 12

// Table returns the numbers of the plot as a table without a title; nil if they are too many for one, or are places in
// the plane.
func (p *Plot) Table() *Table {
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
				if s.Low != nil {
					interval = Interval(s.Low[i], s.High[i], s.Digits)
				}
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

// table shows the first sheet.
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

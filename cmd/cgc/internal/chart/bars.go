package chart

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// bars draws rows of bars, strokes, or marks with intervals. The first row is at the top.
func bars(p *plot.Plot, data *report.Bars, key *key) {
	p.X.Label.Text = data.Axis
	slots := 0
	for _, s := range data.Series {
		if !s.Tick {
			slots++
		}
	}
	slot := 0
	for k, s := range data.Series {
		fill := colours[k%len(colours)]
		if k == 1 && !data.Points {
			fill = color.NRGBA{179, 188, 200, 255}
		}
		shift := (float64(slots-1)/2 - float64(slot)) * 0.8 / float64(slots)
		if s.Tick {
			shift, fill = 0, colours[1]
		} else {
			slot++
		}
		r := row{series: s, shift: shift, height: 0.72 / float64(slots), colour: fill, points: data.Points}
		p.Add(r)
		mark := draw.GlyphStyle{Color: fill, Radius: vg.Points(3), Shape: draw.BoxGlyph{}}
		key.add(s.Name, &plotter.Scatter{GlyphStyle: mark})
	}
	if data.Points {
		p.X.Tick.Marker = plot.TickerFunc(even)
		room := 0.05 * (p.X.Max - p.X.Min)
		p.X.Min, p.X.Max = p.X.Min-room, p.X.Max+room
	}
	p.NominalY(reversed(data.Rows)...)
	p.Y.Tick.Length, p.Y.Min, p.Y.Max = 0, -0.6, float64(len(data.Rows))-0.4
}

// reversed returns names for the vertical axis, last name first, so that the first name is at the top.
func reversed(names []string) []string {
	names = shortened(names)
	slices.Reverse(names)
	return names
}

// row draws a series of bars, strokes or intervals. The values are at positions n−1, …, 0 on the vertical axis.
type row struct {
	series        report.BarSeries
	shift, height float64
	colour        color.Color
	points        bool
}

// samples returns the samples whose mean is value i, or nil if they are unknown.
func (r row) samples(i int) []float64 {
	if r.series.Samples == nil {
		return nil
	}
	return r.series.Samples[i]
}

// DataRange implements plot.DataRanger.
func (r row) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax = math.Inf(1), math.Inf(-1)
	if !r.points {
		xmin, xmax = 0, 0
	}
	for i, v := range r.series.Values {
		if math.IsNaN(v) {
			continue
		}
		all := append([]float64{v}, r.samples(i)...)
		if low, high, is := r.series.Interval(i); is {
			all = append(all, low, high)
		}
		xmin, xmax = min(xmin, slices.Min(all)), max(xmax, slices.Max(all))
	}
	return xmin, xmax, 0, float64(len(r.series.Values) - 1)
}

// Plot implements plot.Plotter.
func (r row) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := draw.LineStyle{Color: r.colour, Width: vg.Points(1.2)}
	for i, v := range r.series.Values {
		if math.IsNaN(v) {
			continue
		}
		at := float64(len(r.series.Values)-1-i) + r.shift
		low, high := y(at-r.height/2), y(at+r.height/2)
		switch {
		case r.series.Tick:
			line.Width = vg.Points(2)
			c.StrokeLine2(line, x(v), y(at-0.42), x(v), y(at+0.42))
		case r.points:
			if low, high, is := r.series.Interval(i); is {
				c.StrokeLine2(line, x(low), y(at), x(high), y(at))
			}
			dot := func(v float64, radius vg.Length, fill color.Color, shape draw.GlyphDrawer) {
				c.DrawGlyph(draw.GlyphStyle{Color: fill, Radius: radius, Shape: shape}, vg.Point{X: x(v), Y: y(at)})
			}
			dot(v, vg.Points(3), r.colour, draw.CircleGlyph{})
			for _, sample := range r.samples(i) {
				dot(sample, vg.Points(1.4), color.White, draw.CircleGlyph{})
				dot(sample, vg.Points(1.4), r.colour, draw.RingGlyph{})
			}
		default:
			c.FillPolygon(r.colour, []vg.Point{{X: x(0), Y: low}, {X: x(v), Y: low}, {X: x(v), Y: high}, {X: x(0), Y: high}})
		}
	}
}

// heatmap draws the first sheet. The cells of a small sheet contain numbers.
func heatmap(p *plot.Plot, data *report.Heatmap) {
	sheet := data.Sheets[0]
	p.X.Label.Text, p.Y.Label.Text = data.X, data.Y
	p.Add(cells{sheet, len(data.Columns) <= 12})
	columns := shortened(data.Columns)
	p.NominalX(columns...)
	p.NominalY(reversed(data.Rows)...)
	tilt(p, columns, 80, math.Pi/3)
	p.X.Tick.Length, p.Y.Tick.Length = 0, 0
	p.X.Min, p.X.Max = -0.5, float64(len(columns))-0.5
	p.Y.Min, p.Y.Max = -0.5, float64(len(data.Rows))-0.5
}

// cells draws the cells of a matrix, with the first row at the top.
type cells struct {
	report.Sheet
	numbers bool
}

// Plot implements plot.Plotter.
func (m cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	most := 1
	for _, v := range slices.Concat(m.Values...) {
		most = max(most, v, -v)
	}
	style := p.X.Tick.Label
	style.Rotation, style.XAlign, style.YAlign = 0, draw.XCenter, draw.YCenter
	for i, row := range m.Values {
		for j, v := range row {
			top := float64(len(m.Values) - 1 - i)
			corner := func(dx, dy float64) vg.Point { return vg.Point{X: x(float64(j) + dx), Y: y(top + dy)} }
			c.FillPolygon(shade(float64(v)/float64(most)), []vg.Point{
				corner(-0.48, -0.48), corner(0.48, -0.48), corner(0.48, 0.48), corner(-0.48, 0.48),
			})
			if m.numbers && v != 0 {
				c.FillText(style, corner(0, 0), m.Cell(v).Text)
			}
		}
	}
}

// shade returns the colour of a value in [−1, 1]: orange below 0, blue above 0, light at 0.
func shade(v float64) color.Color {
	to := colours[0]
	if v < 0 {
		to = colours[1]
	}
	t := 0.85 * math.Abs(v)
	mix := func(from, to uint8) uint8 { return uint8(float64(from)*(1-t) + float64(to)*t) }
	return color.NRGBA{mix(243, to.R), mix(244, to.G), mix(246, to.B), 255}
}

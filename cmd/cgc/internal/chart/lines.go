package chart

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/internal/memory"
)

// lines draws series of points over a grid.
func lines(p *plot.Plot, f *report.Lines, key *key) {
	p.X.Label.Text, p.Y.Label.Text = f.X, f.Y
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, color.Gray{225}
	p.Add(grid)
	for i, s := range f.Series {
		if thumbs := add(p, f, i); len(thumbs) > 0 {
			key.add(s.Name, thumbs...)
		}
	}
	axes(p, f)
}

// axes sets the scales and ticks. It needs the range of the data, so all series must have been added.
func axes(p *plot.Plot, f *report.Lines) {
	logX, logY := f.LogX, f.LogY
	if p.X.Min > p.X.Max { // there are no points
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
		logX, logY = false, false
	}
	widen := func(a *plot.Axis, logarithmic bool) {
		if logarithmic {
			a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
			a.Min = math.Pow(10, math.Floor(math.Log10(a.Min)+1e-9))
			a.Max = math.Pow(10, math.Ceil(math.Log10(a.Max)-1e-9))
			if a.Min == a.Max {
				a.Max *= 10
			}
			return
		}
		room := 0.05 * (a.Max - a.Min)
		if room == 0 {
			room = 0.5
		}
		a.Min, a.Max = a.Min-room, a.Max+room
		a.Tick.Marker = plot.TickerFunc(even)
	}
	widen(&p.X, logX)
	widen(&p.Y, logY)
	switch {
	case f.Words != nil:
		p.X.Min, p.X.Max = -0.5, float64(len(f.Words))-0.5
		p.X.Tick.Length = 0
		p.NominalX(f.Words...)
		p.X.Label.Text = f.X
		angle := math.Pi / 6
		if len(f.Words) > 9 {
			angle = math.Pi / 3
		}
		tilt(p, f.Words, 60, angle)
	case !logX:
		p.X.Tick.Marker = ticks(f)
	}
}

// tilt rotates the tick labels of the horizontal axis if they do not fit side by side.
func tilt(p *plot.Plot, words []string, room int, angle float64) {
	longest := 0
	for _, word := range words {
		longest = max(longest, utf8.RuneCountInString(word))
	}
	if longest*len(words) > room {
		p.X.Tick.Label.Rotation = angle
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
}

// ticks returns a tick for each distinct x if there are at most eight, as for the values of a parameter. Otherwise it
// returns default ticks.
func ticks(f *report.Lines) plot.Ticker {
	at := f.Xs()
	if len(at) > 8 {
		return plot.DefaultTicks{}
	}
	var all plot.ConstantTicks
	for _, x := range at {
		all = append(all, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', -1, 64)})
	}
	return all
}

// even returns three to ten ticks at multiples of 1, 2 or 5 times a power of ten.
func even(lo, hi float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10(hi-lo))-1)
	for _, factor := range []float64{2, 2.5, 2} { // steps grow from 1 to 2, 5 and 10
		if (hi-lo)/step > 9 {
			step *= factor
		}
	}
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 6, 64)})
	}
	return ticks
}

// add adds series i to p and returns its marks for the legend.
func add(p *plot.Plot, f *report.Lines, i int) (thumbs []plot.Thumbnailer) {
	s, shift := f.Series[i], dodge(f, i)
	var points plotter.XYs
	var errors plotter.YErrors
	var labels []string
	spread := false
	for j, y := range s.Y {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			continue
		}
		points = append(points, plotter.XY{X: s.X[j] + shift, Y: y})
		if s.Labels != nil {
			labels = append(labels, s.Labels[j])
		}
		std := 0.0
		if s.Std != nil {
			std = s.Std[j]
		}
		errors = append(errors, struct{ Low, High float64 }{std, std})
		spread = spread || std > 0
	}
	if len(points) == 0 {
		return nil
	}
	look := looks[s.Style%len(looks)]
	if s.Joined {
		line := &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: look.color, Width: vg.Points(1.2)}}
		if s.Hollow {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		p.Add(line)
		thumbs = append(thumbs, line)
	}
	if spread { // a bar of length 0 would draw a cap through the mark
		p.Add(&plotter.YErrorBars{
			XYs: points, YErrors: errors, LineStyle: draw.LineStyle{Color: look.color, Width: vg.Points(1)},
			CapWidth: vg.Points(5),
		})
	}
	marks := &plotter.Scatter{
		XYs: points, GlyphStyle: draw.GlyphStyle{Color: look.color, Radius: vg.Points(3.2), Shape: look.filled},
	}
	if s.Hollow {
		marks.Shape = look.hollow
	}
	p.Add(marks)
	if labels != nil {
		for _, words := range beside(points, labels, look.color) {
			p.Add(words)
		}
	}
	return append(thumbs, marks)
}

// beside places labels to the right of points. It takes the points in pairs from left to right. The label of the higher
// point is raised and the other is lowered, so that labels of close points do not overlap.
func beside(points plotter.XYs, labels []string, colour color.Color) (all []*plotter.Labels) {
	order := memory.Range(0, len(points))
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(points[a].X, points[b].X) })
	for i := 0; i+1 < len(order); i += 2 {
		if points[order[i]].Y < points[order[i+1]].Y {
			order[i], order[i+1] = order[i+1], order[i]
		}
	}
	for parity, y := range []vg.Length{2, -8} {
		var half plotter.XYLabels
		for rank, i := range order {
			if rank%2 == parity {
				half.XYs, half.Labels = append(half.XYs, points[i]), append(half.Labels, labels[i])
			}
		}
		words, err := plotter.NewLabels(half)
		if err != nil {
			continue // there are no points
		}
		words.Offset = vg.Point{X: vg.Points(4), Y: vg.Points(float64(y))}
		for i := range words.TextStyle {
			words.TextStyle[i].Font.Variant, words.TextStyle[i].Font.Size = "Sans", 7
			words.TextStyle[i].Color = colour
		}
		all = append(all, words)
	}
	return all
}

// dodge returns a small horizontal offset for series i, so that error bars of several series at the same x do not
// overlap.
func dodge(f *report.Lines, i int) float64 {
	n, step := float64(len(f.Series)), 0.0
	if xs := f.Xs(); f.Words != nil {
		step = min(0.12, 0.7/n)
	} else if !f.LogX && len(xs) > 0 {
		step = 0.01 * (xs[len(xs)-1] - xs[0])
	}
	return step * (float64(i) - (n-1)/2)
}

// look is the style of the marks of a series. The colours of Okabe and Ito can be distinguished by most colour-blind
// readers.
type look struct {
	color          color.Color
	filled, hollow draw.GlyphDrawer
}

var looks = []look{
	{color.RGBA{0, 114, 178, 255}, draw.CircleGlyph{}, draw.RingGlyph{}},
	{color.RGBA{213, 94, 0, 255}, draw.BoxGlyph{}, draw.SquareGlyph{}},
	{color.RGBA{0, 158, 115, 255}, draw.PyramidGlyph{}, draw.TriangleGlyph{}},
	{color.RGBA{204, 121, 167, 255}, diamond{filled: true}, diamond{}},
	{color.RGBA{60, 60, 60, 255}, draw.CrossGlyph{}, draw.CrossGlyph{}},
	{color.RGBA{230, 159, 0, 255}, draw.PlusGlyph{}, draw.PlusGlyph{}},
}

type diamond struct{ filled bool }

// DrawGlyph implements draw.GlyphDrawer.
func (d diamond) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	r := style.Radius * 1.25
	var path vg.Path
	path.Move(vg.Point{X: at.X, Y: at.Y + r})
	path.Line(vg.Point{X: at.X + r, Y: at.Y})
	path.Line(vg.Point{X: at.X, Y: at.Y - r})
	path.Line(vg.Point{X: at.X - r, Y: at.Y})
	path.Close()
	c.SetColor(style.Color)
	if d.filled {
		c.Fill(path)
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: vg.Points(0.5)})
	c.Stroke(path)
}

package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// scatter draws the layers of a Scatter in the first view.
func scatter(p *plot.Plot, data *report.Scatter, key *key) {
	layers := make([]*report.Marks, len(data.Layers))
	for l := range layers {
		layers[l] = &data.Layers[l].Marks
	}
	view := data.Views[0]
	seen := window(view.At)
	p.X.Label.Text, p.Y.Label.Text = view.X, view.Y
	plane(p, data.Classes, layers, view.At, nil, seen, key)
	if out := seen.outside(view.At); out > 0 {
		p.X.Label.Text += fmt.Sprintf(" (%s outside)", report.Plural(out, "mark"))
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = seen[0][0], seen[0][1], seen[1][0], seen[1][1]
	}
}

// square gives both axes the same scale, and hides them, because the coordinates have no unit.
func square(p *plot.Plot, c draw.Canvas) {
	hide := func(a *plot.Axis) {
		a.Tick.Marker = plot.ConstantTicks(nil)
		a.Tick.Length, a.LineStyle.Width = 0, 0
	}
	hide(&p.X)
	hide(&p.Y)
	low, high := [2]float64{p.X.Min, p.Y.Min}, [2]float64{p.X.Max, p.Y.Max}
	for range 3 { // the marks at the edges need room, which depends on the scale
		area := p.DataCanvas(c).Size()
		size := [2]float64{float64(area.X), float64(area.Y)}
		unit := 1.06 * max((high[0]-low[0])/size[0], (high[1]-low[1])/size[1])
		if !(unit > 0) || math.IsInf(unit, 0) { // at most one mark
			unit, low, high = 1, [2]float64{}, [2]float64{}
		}
		for k, a := range []*plot.Axis{&p.X, &p.Y} {
			middle := (low[k] + high[k]) / 2
			a.Min, a.Max = middle-unit*size[k]/2, middle+unit*size[k]/2
		}
	}
}

// bounds is the visible part of the plane: the minimum and the maximum of each coordinate.
type bounds [2][2]float64

var everything = bounds{{math.Inf(-1), math.Inf(1)}, {math.Inf(-1), math.Inf(1)}}

// window returns the part of the plane that shows all but the outermost 2% of the marks on each side, with a margin, so
// that a few outliers do not compress the rest. It returns everything if there are fewer than 50 marks, or if that part
// is at least 70% of the range in both directions. HTML pages follow the same rule.
func window(at [][][2]float64) bounds {
	seen := everything
	crowded := false
	for k := range 2 {
		var all []float64
		for _, layer := range at {
			for _, xy := range layer {
				all = append(all, xy[k])
			}
		}
		if len(all) < 50 {
			return everything
		}
		slices.Sort(all)
		cut := (len(all) + 49) / 50
		low, high := all[cut], all[len(all)-1-cut]
		room := 0.2 * (high - low)
		seen[k] = [2]float64{low - room, high + room}
		crowded = crowded || high-low+2*room < 0.7*(all[len(all)-1]-all[0])
	}
	if !crowded {
		return everything
	}
	return seen
}

func (b bounds) has(xy [2]float64) bool {
	return xy[0] >= b[0][0] && xy[0] <= b[0][1] && xy[1] >= b[1][0] && xy[1] <= b[1][1]
}

// outside counts the marks that are not visible.
func (b bounds) outside(at [][][2]float64) (n int) {
	for _, layer := range at {
		for _, xy := range layer {
			if !b.has(xy) {
				n++
			}
		}
	}
	return n
}

// colours lists the colours of classes. If there are more classes than colours, shapes distinguish them.
var colours = func() (all []color.NRGBA) {
	for _, text := range report.Palette(false) {
		c := color.NRGBA{A: 255}
		if _, err := fmt.Sscanf(text, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
			panic(err) // the format is always #rrggbb
		}
		all = append(all, c)
	}
	return all
}()

var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{filled: true}, draw.PlusGlyph{}, draw.CrossGlyph{},
}

// glyph returns the style of a mark of a class.
func glyph(class int32, radius vg.Length, alpha uint8) draw.GlyphStyle {
	c := colours[int(class)%len(colours)]
	c.A = alpha
	return draw.GlyphStyle{Color: c, Radius: radius, Shape: shapes[int(class)/len(colours)%len(shapes)]}
}

// plane draws layers of marks above links.
func plane(p *plot.Plot, classes []string, layers []*report.Marks, at [][][2]float64, links [][2]int32, seen bounds,
	key *key) {
	if len(links) > 0 {
		var ends plotter.XYs
		for _, l := range links {
			for _, v := range l {
				ends = append(ends, plotter.XY{X: at[0][v][0], Y: at[0][v][1]})
			}
		}
		p.Add(segments{ends, draw.LineStyle{Color: color.Gray{150}, Width: vg.Points(0.5)}})
	}
	present := make([]bool, len(classes))
	for l, marks := range layers {
		most := slices.Max(append([]float64{1}, marks.Size...))
		var points plotter.XYs
		var of []int // the mark of each point
		for i, xy := range at[l] {
			if seen.has(xy) {
				points, of = append(points, plotter.XY{X: xy[0], Y: xy[1]}), append(of, i)
				present[marks.Class[i]] = true
			}
		}
		if len(points) == 0 {
			continue
		}
		scatter := &plotter.Scatter{XYs: points}
		largest := vg.Points(7)
		if len(points) > 300 {
			largest = vg.Points(4.5)
		}
		alpha := uint8(255)
		if len(layers) > 1 { // so that marks below show through
			alpha = 110
		}
		radius := func(i int) vg.Length { return max(vg.Points(1.5), largest*vg.Length(math.Sqrt(marks.Size[i]/most))) }
		scatter.GlyphStyleFunc = func(point int) draw.GlyphStyle {
			i := of[point]
			if marks.Size == nil {
				return glyph(marks.Class[i], vg.Points(1.3), 190)
			}
			return glyph(marks.Class[i], radius(i), alpha)
		}
		p.Add(scatter)
		if marks.Size != nil {
			rings := *scatter
			rings.GlyphStyleFunc = func(point int) draw.GlyphStyle {
				return draw.GlyphStyle{Color: color.Gray{30}, Radius: radius(of[point]), Shape: draw.RingGlyph{}}
			}
			p.Add(&rings)
		}
	}
	for c, name := range shortened(classes) {
		if present[c] {
			key.add(name, &plotter.Scatter{GlyphStyle: glyph(int32(c), vg.Points(3), 255)})
		}
	}
}

// shortened truncates names that are too long for the image.
func shortened(names []string) []string {
	const most = 24
	names = slices.Clone(names)
	for i, name := range names {
		if runes := []rune(name); len(runes) > most {
			names[i] = string(runes[:most-1]) + "…"
		}
	}
	return names
}

// segments draws lines between pairs of points.
type segments struct {
	plotter.XYs
	draw.LineStyle
}

// Plot implements plot.Plotter.
func (s segments) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i := 0; i+1 < len(s.XYs); i += 2 {
		c.StrokeLine2(s.LineStyle, x(s.XYs[i].X), y(s.XYs[i].Y), x(s.XYs[i+1].X), y(s.XYs[i+1].Y))
	}
}

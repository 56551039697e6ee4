// Package chart draws the plots of package report with gonum/plot.
//
// It is separate from package report, so that programs that print results as text do not need the library and its
// fonts. Pages draw the same plots with ECharts, which readers can zoom and filter, but which needs a browser.
package chart

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// The width of all images, the height of an image of lines, and the resolution of a PNG.
const (
	width      = 17 * vg.Centimeter
	height     = 10 * vg.Centimeter
	resolution = 150 // dots per inch
)

// SVG writes p as an SVG image. It shows the first view of a Scatter and the first sheet of a Heatmap. Equal plots give
// equal bytes.
func SVG(w io.Writer, p *report.Plot) error {
	c := vgsvg.New(width, tall(p))
	drawPlot(p, draw.New(c))
	_, err := c.WriteTo(w)
	return err
}

// PNG writes p as a PNG image with the content of SVG. Equal plots give equal bytes.
func PNG(w io.Writer, p *report.Plot) error {
	c := vgimg.NewWith(vgimg.UseWH(width, tall(p)), vgimg.UseDPI(resolution))
	drawPlot(p, draw.New(c))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// tall returns the height of the image, which grows with the number of rows or classes.
func tall(p *report.Plot) vg.Length {
	switch data := p.Data.(type) {
	case *report.Lines:
		return height
	case *report.Bars:
		return 3*vg.Centimeter + vg.Length(len(data.Rows))*0.7*vg.Centimeter
	case *report.Heatmap:
		return 4*vg.Centimeter + vg.Length(min(40, len(data.Rows)))*0.4*vg.Centimeter + 3*vg.Centimeter
	}
	return max(12*vg.Centimeter, 2*vg.Centimeter+vg.Length(len(classes(p)))*keyLine)
}

// keyLine is the height of a line in a long key. A key of more than longKey classes is long.
const (
	keyLine = 0.36 * vg.Centimeter
	longKey = 20
)

// classes returns the classes that the key of a plot can list.
func classes(p *report.Plot) []string {
	switch data := p.Data.(type) {
	case *report.Scatter:
		return data.Classes
	case *report.Network:
		return data.Classes
	}
	return nil
}

// key explains the marks of a plot, to its right. A key without entries takes no room.
type key struct {
	plot.Legend
	entries int
}

func (k *key) add(name string, thumbs ...plot.Thumbnailer) {
	k.Add(name, thumbs...)
	k.entries++
}

// newKey returns a key aligned to the top of its area.
func newKey(long bool) *key {
	k := &key{Legend: plot.NewLegend()}
	k.TextStyle.Font.Variant, k.TextStyle.Font.Size = "Sans", 9
	k.ThumbnailWidth, k.Padding = 9*vg.Millimeter, vg.Millimeter
	k.Top, k.Left = true, true
	if long {
		k.TextStyle.Font.Size, k.Padding = 7, 0.3*vg.Millimeter
	}
	return k
}

// drawPlot draws p, with its key, if any, to the right.
func drawPlot(p *report.Plot, c draw.Canvas) {
	const margin = 3 * vg.Millimeter
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	drawn := plot.New()
	drawn.BackgroundColor = nil // the canvas is white
	drawn.Title.Text = p.Title
	setFonts(drawn)
	key := newKey(len(classes(p)) > longKey)
	switch data := p.Data.(type) {
	case *report.Lines:
		lines(drawn, data, key)
	case *report.Scatter:
		scatter(drawn, data, key)
	case *report.Network:
		at := [][][2]float64{data.At}
		plane(drawn, data.Classes, []*report.Marks{&data.Marks}, at, data.Links, everything, key)
	case *report.Bars:
		bars(drawn, data, key)
	case *report.Heatmap:
		heatmap(drawn, data)
	}
	side := vg.Length(0)
	if key.entries > 0 {
		side = key.Rectangle(c).Size().X + 2*vg.Millimeter
	}
	area := draw.Crop(c, 0, -side, 0, 0)
	switch p.Data.(type) {
	case *report.Scatter, *report.Network:
		square(drawn, area)
	}
	drawn.Draw(area)
	if key.entries > 0 {
		top := drawn.Title.TextStyle.Height(p.Title) + drawn.Title.Padding
		key.Draw(draw.Crop(c, c.Size().X-side+2*vg.Millimeter, 0, 0, -top))
	}
}

func setFonts(p *plot.Plot) {
	for _, text := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font,
		&p.Y.Tick.Label.Font,
	} {
		text.Variant = "Sans"
	}
	p.Title.TextStyle.Font.Size, p.Title.Padding = 12, 2*vg.Millimeter
	p.X.Label.TextStyle.Font.Size, p.Y.Label.TextStyle.Font.Size = 10, 10
	p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = 9, 9
}

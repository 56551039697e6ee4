package chart_test

import (
	"bytes"
	"errors"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/chart"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// series returns a series with values at x = 0, 1, …. spread is the standard deviation of each value.
func series(name string, style int, spread float64, values ...float64) report.Series {
	s := report.Series{Name: name, Style: style, Y: values}
	for i := range values {
		s.X, s.Std = append(s.X, float64(i)), append(s.Std, spread*float64(i%3+1))
	}
	return s
}

func joined(s report.Series) report.Series { s.Joined = true; return s }
func hollow(s report.Series) report.Series { s.Hollow = true; return s }

// plots returns plots of each kind, with lines over numbers, over words, on logarithmic axes and without points.
func plots() map[string]*report.Plot {
	marks := func(sizes []float64, classes ...int32) report.Marks {
		return report.Marks{
			Name: "nodes", Noun: "node", Class: classes, Size: sizes, Label: make([]string, len(classes)),
		}
	}
	const axis = "test accuracy, %"
	return map[string]*report.Plot{
		"lines": {Title: "CGC-X by depth of propagation", Data: &report.Lines{
			X: "hops K", Y: axis,
			Series: []report.Series{
				joined(series("cora", 0, 0.5, 60, 78, 81.5, 82, 82.1, 81)),
				joined(series("citeseer", 1, 0.5, 55, 69, 72, 71.8, 71, math.NaN())),
				joined(series("amazon-photo", 2, 0.5, 80, 86, 90, 90, 89.5, 89)),
			},
		}},
		"words": {Title: "What the parts contribute", Data: &report.Lines{
			Y:     axis,
			Words: []string{"SimDM", "CGC-X w/o AUG", "CGC-X w/o CAL", "CGC-X w K-means", "CGC-X w RAN", "CGC-X"},
			Series: []report.Series{
				series("cora", 0, 0.4, 81, 81.2, 81.5, 82, 80.1, 81),
				hollow(series("cora, paper", 0, 0.2, 80.1, 80.5, 81.5, 83.1, 79.7, 83.4)),
				series("citeseer", 1, 0.4, 71, 71.2, 71.5, 72, 70.1, 71),
				hollow(series("citeseer, paper", 1, 0.2, 70.9, 71.1, 71.5, 72.2, 70, 72.6)),
			},
		}},
		"logarithmic": {Title: "Accuracy over seconds", Data: &report.Lines{
			X: "seconds of condensation", Y: axis, LogX: true,
			Series: []report.Series{
				{
					Name: "CGC", X: []float64{0.01, 0.02, 0.3}, Y: []float64{82, 83, 81}, Std: []float64{1, 1, 1},
					Labels: []string{"first", "second", "third"},
				},
				{Name: "CGC, paper", X: []float64{1.4}, Y: []float64{82.3}, Std: []float64{1.3}, Hollow: true},
				{Name: "others, paper", X: []float64{2.7, 498.9}, Y: []float64{65.2, 80.1}, Style: 3, Hollow: true},
			},
		}},
		"no lines": {Title: "None", Data: &report.Lines{Series: []report.Series{{Name: "nobody"}}}},
		"scatter": {Title: "Places", Data: &report.Scatter{
			Classes: []string{"theory", "practice", "nobody"},
			Layers: []report.Layer{
				{Marks: marks(nil, 0, 0, 1, 1)}, {Marks: marks([]float64{3, 1}, 0, 1)},
			},
			Views: []report.View{{X: "first", Y: "second", At: [][][2]float64{
				{{-10, 0}, {-8, 1}, {5, 5}, {6, 4}}, {{-9, 0.5}, {5.5, 4.5}},
			}}},
		}},
		"network": {Title: "Net", Data: &report.Network{
			Classes: []string{"theory", "practice"}, Marks: marks([]float64{3, 1, 1}, 0, 1, 1),
			At: [][2]float64{{0, 0}, {10, 0}, {0, 10}}, Radius: 1, Links: [][2]int32{{0, 1}, {1, 2}},
		}},
		"bars": {Title: "Seconds", Data: &report.Bars{
			Rows: []string{"propagate", "assess, which has a long name"}, Axis: "seconds",
			Series: []report.BarSeries{
				{Name: "took", Values: []float64{2, 1}}, {Name: "least", Values: []float64{1, math.NaN()}, Tick: true},
			},
		}},
		"points": {Title: "Accuracy", Data: &report.Bars{
			Rows: []string{"gcn", "sgc"}, Axis: "%", Points: true,
			Series: []report.BarSeries{
				{Name: "condensed", Values: []float64{81, 82}, Low: []float64{80, 81}, High: []float64{82, 83},
					Samples: [][]float64{{80, 82}, {82}}},
				{Name: "whole", Values: []float64{81.5, math.NaN()}, Low: []float64{81, 0}, High: []float64{82, 0}},
			},
		}},
		"heatmap": {Title: "Changes", Data: &report.Heatmap{
			X: "predicted", Y: "true", Rows: []string{"theory", "practice"}, Columns: []string{"theory", "practice"},
			Sheets: []report.Sheet{{Name: "difference", Signed: true, Values: [][]int{{-3, 3}, {0, 0}}}},
		}},
		"nothing": {Title: "Nothing", Data: &report.Scatter{
			Layers: []report.Layer{{}}, Views: []report.View{{At: [][][2]float64{{}}}},
		}},
	}
}

// words lists texts that each plot must show.
var words = map[string][]string{
	"lines":       {"CGC-X by depth of propagation", "hops K", "test accuracy, %", "cora", "citeseer", "amazon-photo"},
	"words":       {"test accuracy, %", "SimDM", "CGC-X w/o AUG", "CGC-X w K-means", "cora, paper", "citeseer"},
	"logarithmic": {"seconds of condensation", "CGC, paper", "others, paper", "first", "second", "third"},
	"no lines":    {"None"}, "nothing": {"Nothing"},
	"scatter": {"Places", "theory", "practice", "first"}, "network": {"Net", "theory"},
	"bars":    {"Seconds", "propagate", "took", "least", "assess, which has a lon…"},
	"points":  {"Accuracy", "gcn", "condensed", "whole"},
	"heatmap": {"Changes", "predicted", "practice", "+3", "−3"},
}

// TestPlot checks that each kind of plot is drawn in colour, that drawing it twice gives the same bytes, that the PNG
// is large enough, and that the SVG contains the names.
func TestPlot(t *testing.T) {
	for name, p := range plots() {
		t.Run(name, func(t *testing.T) {
			var svg, picture, again bytes.Buffer
			mattest.OK(t, errors.Join(chart.SVG(&svg, p), chart.PNG(&picture, p), chart.SVG(&again, p), chart.PNG(&again, p)))
			mattest.True(t, bytes.Equal(append(bytes.Clone(svg.Bytes()), picture.Bytes()...), again.Bytes()),
				"the same plot gives other bytes")
			mattest.Says(t, svg.String(), words[name]...)
			mattest.True(t, !strings.Contains(svg.String(), "nobody"), "the SVG names a class or a series without marks")
			drawn := mattest.Must(png.Decode(&picture))
			if b := drawn.Bounds(); b.Dx() < 900 || b.Dy() < 200 {
				t.Errorf("the PNG is %v, want at least 900×200", b)
			}
			coloured := 0
			for y := range drawn.Bounds().Dy() {
				for x := range drawn.Bounds().Dx() {
					r, g, b, _ := drawn.At(x, y).RGBA()
					if max(r, g, b)-min(r, g, b) > 0x3000 {
						coloured++
					}
				}
			}
			if name != "nothing" && name != "no lines" && coloured < 100 {
				t.Errorf("%d coloured pixels, want at least 100", coloured)
			}
		})
	}
}

// TestLines checks that each point has a mark, and that NaN values have none.
func TestLines(t *testing.T) {
	count := func(y ...float64) int {
		data := &report.Lines{Series: []report.Series{{Name: "s", X: []float64{0, 1, 2}, Y: y}}}
		var b bytes.Buffer
		mattest.OK(t, chart.SVG(&b, &report.Plot{Title: "t", Data: data}))
		return strings.Count(b.String(), "rgb(0,114,178)") + strings.Count(b.String(), "#0072B2")
	}
	three, two := count(1, 2, 3), count(1, math.NaN(), 3)
	if three != 4 || two != 3 { // including one mark in the legend
		t.Errorf("%d and %d marks, want 4 and 3", three, two)
	}
}

// TestPlaneScale checks that both axes of the plane have the same scale, by drawing a square.
func TestPlaneScale(t *testing.T) {
	p := &report.Plot{Data: &report.Scatter{
		Classes: []string{"a"},
		Layers:  []report.Layer{{Marks: report.Marks{Class: []int32{0, 0, 0}, Size: []float64{1, 1, 1}}}},
		Views:   []report.View{{At: [][][2]float64{{{0, 0}, {10, 0}, {0, 10}}}}},
	}}
	var b bytes.Buffer
	mattest.OK(t, chart.PNG(&b, p))
	drawn := mattest.Must(png.Decode(&b))
	left, right, top, bottom := math.MaxInt, 0, math.MaxInt, 0
	for y := range drawn.Bounds().Dy() {
		for x := range drawn.Bounds().Dx() * 8 / 10 { // the key is to the right
			if r, _, b, _ := drawn.At(x, y).RGBA(); b > r+0x5000 {
				left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
			}
		}
	}
	if across, up := right-left, bottom-top; across < 300 || across-up > 4 || up-across > 4 {
		t.Errorf("the marks are %d pixels apart across, and %d up", across, up)
	}
}

// TestPlaneOutlier checks that a far outlier is left out, and that the picture says so.
func TestPlaneOutlier(t *testing.T) {
	layer := report.Layer{}
	var at [][2]float64
	for i := range 100 {
		layer.Class, layer.Size = append(layer.Class, 0), append(layer.Size, 1)
		sin, cos := math.Sincos(float64(i))
		at = append(at, [2]float64{sin, cos})
	}
	at[17] = [2]float64{1000, 0}
	p := &report.Plot{Data: &report.Scatter{
		Classes: []string{"a"}, Layers: []report.Layer{layer}, Views: []report.View{{X: "x", At: [][][2]float64{at}}},
	}}
	var b bytes.Buffer
	mattest.OK(t, chart.SVG(&b, p))
	mattest.Says(t, b.String(), "x (1 mark outside)")
	at[17] = [2]float64{1, 0}
	b.Reset()
	if err := chart.SVG(&b, p); err != nil || strings.Contains(b.String(), "outside") {
		t.Errorf("the SVG says that a mark is outside (%v)", err)
	}
}

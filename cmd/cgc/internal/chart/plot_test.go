package chart_test

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/chart"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// plots returns one plot of each kind.
func plots() map[string]*report.Plot {
	marks := func(sizes []float64, classes ...int32) report.Marks {
		return report.Marks{
			Name: "nodes", Noun: "node", Class: classes, Size: sizes, Label: make([]string, len(classes)),
		}
	}
	return map[string]*report.Plot{
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
			Rows: []string{"propagate", "assess"}, Axis: "seconds",
			Series: []report.BarSeries{
				{Name: "took", Values: []float64{2, 1}}, {Name: "least", Values: []float64{1, math.NaN()}, Tick: true},
			},
		}},
		"points": {Title: "Accuracy", Data: &report.Bars{
			Rows: []string{"gcn", "sgc"}, Axis: "%", Points: true,
			Series: []report.BarSeries{
				{Name: "condensed", Values: []float64{81, 82}, Low: []float64{80, 81}, High: []float64{82, 83}},
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

// TestPlot checks that each kind of plot is drawn, that drawing it twice gives the same bytes, and that the SVG
// contains its names.
func TestPlot(t *testing.T) {
	words := map[string][]string{
		"scatter": {"Places", "theory", "practice", "first"}, "network": {"Net", "theory"},
		"bars": {"Seconds", "propagate", "took", "least"}, "points": {"Accuracy", "gcn", "condensed", "whole"},
		"heatmap": {"Changes", "predicted", "practice", "+3", "−3"}, "nothing": {"Nothing"},
	}
	for name, p := range plots() {
		var svg, again, picture bytes.Buffer
		if err := chart.PlotSVG(&svg, p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := chart.PlotSVG(&again, p); err != nil || !bytes.Equal(svg.Bytes(), again.Bytes()) {
			t.Errorf("%s: the second SVG differs (%v)", name, err)
		}
		for _, word := range words[name] {
			if !strings.Contains(svg.String(), word) {
				t.Errorf("%s: the SVG does not name %q", name, word)
			}
		}
		if strings.Contains(svg.String(), "nobody") {
			t.Errorf("%s: the SVG names a class without marks", name)
		}
		if err := chart.PlotPNG(&picture, p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		drawn, err := png.Decode(&picture)
		if err != nil {
			t.Fatal(err)
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
		if name != "nothing" && coloured < 100 {
			t.Errorf("%s: %d coloured pixels, want at least 100", name, coloured)
		}
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
	if err := chart.PlotPNG(&b, p); err != nil {
		t.Fatal(err)
	}
	drawn, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := chart.PlotSVG(&b, p); err != nil || !strings.Contains(b.String(), "x (1 mark outside)") {
		t.Errorf("the SVG does not say that a mark is outside (%v)", err)
	}
	at[17] = [2]float64{1, 0}
	b.Reset()
	if err := chart.PlotSVG(&b, p); err != nil || strings.Contains(b.String(), "outside") {
		t.Errorf("the SVG says that a mark is outside (%v)", err)
	}
}

package chart_test

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/chart"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
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

// figures returns one figure of each kind: lines over numbers, marks over words, marks on logarithmic axes, and an
// empty figure.
func figures() map[string]*report.Figure {
	const axis = "test accuracy, %"
	return map[string]*report.Figure{
		"lines": {
			Title: "CGC-X by depth of propagation", X: "hops K", Y: axis,
			Series: []report.Series{
				joined(series("cora", 0, 0.5, 60, 78, 81.5, 82, 82.1, 81)),
				joined(series("citeseer", 1, 0.5, 55, 69, 72, 71.8, 71, math.NaN())),
				joined(series("amazon-photo", 2, 0.5, 80, 86, 90, 90, 89.5, 89)),
			},
		},
		"words": {
			Title: "What the parts contribute", X: "", Y: axis,
			Words: []string{"SimDM", "CGC-X w/o AUG", "CGC-X w/o CAL", "CGC-X w K-means", "CGC-X w RAN", "CGC-X"},
			Series: []report.Series{
				series("cora", 0, 0.4, 81, 81.2, 81.5, 82, 80.1, 81),
				hollow(series("cora, paper", 0, 0.2, 80.1, 80.5, 81.5, 83.1, 79.7, 83.4)),
				series("citeseer", 1, 0.4, 71, 71.2, 71.5, 72, 70.1, 71),
				hollow(series("citeseer, paper", 1, 0.2, 70.9, 71.1, 71.5, 72.2, 70, 72.6)),
			},
		},
		"logarithmic": {
			Title: "Accuracy over seconds", X: "seconds of condensation", Y: axis, LogX: true,
			Series: []report.Series{
				{
					Name: "CGC", X: []float64{0.01, 0.02, 0.3}, Y: []float64{82, 83, 81}, Std: []float64{1, 1, 1},
					Labels: []string{"first", "second", "third"},
				},
				{Name: "CGC, paper", X: []float64{1.4}, Y: []float64{82.3}, Std: []float64{1.3}, Hollow: true},
				{Name: "others, paper", X: []float64{2.7, 498.9}, Y: []float64{65.2, 80.1}, Style: 3, Hollow: true},
			},
		},
		"empty": {Title: "Nothing", Series: []report.Series{{Name: "none"}}},
	}
}

// TestFigure checks that every kind of figure is drawn, that the SVG contains the title, the axes and the series, that
// the PNG has the right size, and that both formats are reproducible. If $FIGURES names a folder, the images are
// written there.
func TestFigure(t *testing.T) {
	for name, f := range figures() {
		t.Run(name, func(t *testing.T) {
			var svg, picture, again bytes.Buffer
			for _, err := range []error{
				chart.SVG(&svg, f), chart.PNG(&picture, f), chart.SVG(&again, f), chart.PNG(&again, f),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(append(bytes.Clone(svg.Bytes()), picture.Bytes()...), again.Bytes()) {
				t.Error("the same figure gives other bytes")
			}
			words := append([]string{f.Title, f.X, f.Y}, f.Words...)
			for _, s := range f.Series {
				if len(s.Y) > 0 {
					words = append(words, s.Name)
					words = append(words, s.Labels...)
				}
			}
			for _, word := range words {
				if !strings.Contains(svg.String(), word) {
					t.Errorf("the SVG has no %q", word)
				}
			}
			image, err := png.Decode(bytes.NewReader(picture.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if b := image.Bounds(); b.Dx() < 900 || b.Dy() < 500 {
				t.Errorf("the PNG is %v, want at least 900×500", b)
			}
			if folder := os.Getenv("FIGURES"); folder != "" {
				for file, content := range map[string][]byte{name + ".svg": svg.Bytes(), name + ".png": picture.Bytes()} {
					if err := os.WriteFile(folder+"/"+file, content, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// TestFigureMarks checks that each point has a mark, and that NaN values have none.
func TestFigureMarks(t *testing.T) {
	count := func(y ...float64) int {
		f := &report.Figure{Title: "t", Series: []report.Series{{Name: "s", X: []float64{0, 1, 2}, Y: y}}}
		var b bytes.Buffer
		if err := chart.SVG(&b, f); err != nil {
			t.Fatal(err)
		}
		return strings.Count(b.String(), "rgb(0,114,178)") + strings.Count(b.String(), "#0072B2")
	}
	three, two := count(1, 2, 3), count(1, math.NaN(), 3)
	if three != 4 || two != 3 { // including one mark in the legend
		t.Errorf("%d and %d marks, want 4 and 3", three, two)
	}
}

package report_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// linear returns a colour #rrggbb in linear RGB.
func linear(colour string) (c [3]float64) {
	var bytes [3]int
	mattest.Must(fmt.Sscanf(colour, "#%02x%02x%02x", &bytes[0], &bytes[1], &bytes[2]))
	for k, b := range bytes {
		if c[k] = float64(b) / 255 / 12.92; b > 10 {
			c[k] = math.Pow((float64(b)/255+0.055)/1.055, 2.4)
		}
	}
	return c
}

func times(m [3][3]float64, v [3]float64) (out [3]float64) {
	for i, row := range m {
		for j, w := range row {
			out[i] += w * v[j]
		}
	}
	return out
}

// visions map a colour in linear RGB to the colour that readers see: Machado, Oliveira and Fernandes 2009, severity 1.
var visions = map[string][3][3]float64{
	"all cones": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia": {
		{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998},
	},
	"deuteranopia": {
		{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881},
	},
}

// oklab returns a colour of linear RGB in the perceptually uniform space Oklab (Ottosson 2020).
func oklab(c [3]float64) [3]float64 {
	for k := range c {
		c[k] = min(1, max(0, c[k]))
	}
	cones := times([3][3]float64{
		{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566},
		{0.0883024619, 0.2817188376, 0.6299787005},
	}, c)
	for k := range cones {
		cones[k] = math.Cbrt(cones[k])
	}
	return times([3][3]float64{
		{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099},
		{0.0259040371, 0.7827717662, -0.8086757660},
	}, cones)
}

// luminance is the relative luminance of WCAG 2.
func luminance(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// TestPalette checks that readers with each kind of vision can distinguish any two colours of classes, and see each on
// its background.
func TestPalette(t *testing.T) {
	if len(report.Palette(true)) != len(report.Palette(false)) {
		t.Error("the palettes differ in length")
	}
	for dark, ground := range map[bool]string{false: "#ffffff", true: "#191f27"} { // --card of the page
		colours := report.Palette(dark)
		for i, colour := range colours {
			a, b := luminance(linear(colour))+0.05, luminance(linear(ground))+0.05
			if ratio := max(a, b) / min(a, b); ratio < 3 {
				t.Errorf("%s has a contrast of %.2f to %s, must be at least 3", colour, ratio, ground)
			}
			for _, other := range colours[:i] {
				for name, seen := range visions {
					x, y := oklab(times(seen, linear(colour))), oklab(times(seen, linear(other)))
					if d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); d < 0.1 {
						t.Errorf("with %s, %s and %s are %.3f apart, must be at least 0.1", name, colour, other, d)
					}
				}
			}
		}
	}
}

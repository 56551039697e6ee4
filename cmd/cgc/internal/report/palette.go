package report

import "slices"

// Palette returns the colours of classes as #rrggbb, for a dark or a light background. Colour i of both palettes has a
// similar hue. Each colour has a contrast of at least 3 to its background. Any two differ by at least 0.1 in Oklab,
// also for readers with deuteranopia or protanopia (Machado et al. 2009). With more classes than colours, the colours
// are reused with other shapes.
func Palette(dark bool) []string {
	if dark {
		return slices.Clone(onDark)
	}
	return slices.Clone(onLight)
}

var (
	onLight = []string{"#0041ad", "#ea6812", "#35a179", "#c271cf", "#825a0e", "#3d0874", "#7c1d3a", "#0b718d"}
	onDark  = []string{"#7278f6", "#df8623", "#51d893", "#d37da1", "#dff44f", "#7c6297", "#f8bff2", "#09ade5"}
)

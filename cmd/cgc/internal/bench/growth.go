package bench

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Growth describes how the time of a step grows with the graph: seconds ∝ scaleᵉ, where nodes and edges grow by the
// same factor.
type Growth struct {
	// Size, Partition, Precision and Step identify the measurements.
	Size      string            `json:"size"`
	Partition string            `json:"partition"`
	Precision blocked.Precision `json:"precision,omitzero"`
	Step      string            `json:"step"`
	// Exponent is e in seconds ∝ scaleᵉ, fitted by least squares in logarithms. 1 means linear time.
	Exponent float64 `json:"exponent"`
}

// growth fits an exponent for every combination of size, partition, precision and step with times at two or more
// scales.
func growth(cases []Case) (fits []Growth) {
	type times struct{ scales, seconds []float64 }
	found := map[Growth]*times{}
	var order []Growth // the keys of found, in first-seen order
	for _, c := range cases {
		for _, s := range c.Steps {
			key := Growth{Size: c.Size, Partition: c.Partition, Precision: c.Precision, Step: s.Name}
			if found[key] == nil {
				found[key] = new(times)
				order = append(order, key)
			}
			t := found[key]
			t.scales, t.seconds = append(t.scales, c.Scale), append(t.seconds, s.Seconds)
		}
	}
	for _, fit := range order {
		t := found[fit]
		var ok bool
		if fit.Exponent, ok = exponent(t.scales, t.seconds); ok {
			fits = append(fits, fit)
		}
	}
	return fits
}

// exponent returns e in seconds ∝ scaleᵉ, fitted by least squares in logarithms. It ignores times that are not
// positive. ok is false if fewer than two different scales remain.
func exponent(scales, seconds []float64) (e float64, ok bool) {
	var x, y []float64
	for i, s := range seconds {
		if s > 0 {
			x, y = append(x, math.Log(scales[i])), append(y, math.Log(s))
			ok = ok || x[0] != x[len(x)-1]
		}
	}
	if !ok {
		return 0, false
	}
	_, e = stat.LinearRegression(x, y, nil, false)
	return e, true
}

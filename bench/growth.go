package bench

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Growth says how the time of a step grows with the graph: seconds ∝ scaleᵉ, nodes and edges growing alike.
type Growth struct {
	Size      string `json:"size"`
	Partition string `json:"partition"`
	// Precision is that of the cases.
	Precision blocked.Precision `json:"precision,omitzero"`
	Step      string            `json:"step"`
	// Exponent is e, the slope of the least-squares line through (log scale, log seconds). 1 is linear time.
	Exponent float64 `json:"exponent"`
}

// growth fits every size, partition and step that took time at two scales or more.
func growth(cases []Case) (fits []Growth) {
	type times struct{ scales, seconds []float64 }
	found := map[Growth]*times{}
	var order []Growth // the keys of found, whose exponents are 0
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

// exponent returns the e of seconds ∝ scaleᵉ by least squares in logarithms. Times that are not above 0 are left out.
// ok is false if fewer than two different scales remain.
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

package tune

import "github.com/graph-condensation/cgc/experiment"

// meanStd returns the mean and the standard deviation of values, as experiment.Estimate has them.
func meanStd(values []float64) (mean, std float64) {
	e := experiment.EstimateOf(values)
	return e.Mean, e.Std
}

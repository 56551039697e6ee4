// Package scales reports whether features differ too much in scale, and whether they are too large or too small.
package scales

import (
	"fmt"
	"math"
	"slices"
)

// Most is the largest Ratio of norms for which columns need no scaling.
//
// In least squares, a direction of the matrix counts if its singular value exceeds 3·10⁻⁴ of the Frobenius norm. If one
// column is 3000 times as large as the others, no other direction counts. Directions are lost from a ratio of about
// 1000. In the public data sets, the ratio is at most 20.
const Most = 256

// Ratio returns the largest norm divided by the median of the nonzero norms, or 1 if all norms are 0. If two norms are
// in the middle, the smaller one is the median.
func Ratio(norms []float64) float64 {
	norms = slices.DeleteFunc(slices.Clone(norms), func(v float64) bool { return v == 0 })
	if len(norms) == 0 {
		return 1
	}
	slices.Sort(norms)
	return norms[len(norms)-1] / norms[(len(norms)-1)/2]
}

// Magnitude returns "large" or "small" if rows of d features with this norm (the root mean square of their norms) are
// too large or too small to train a GNN on, and "" otherwise.
//
// With Glorot's initial weights (Glorot and Bengio 2010), the 256 hidden units of a GNN have a standard deviation of
// norm·√(2/(d+256)) before the first step: 0.15 in Cora and arxiv, 0.13 in Citeseer, 0.72 in Amazon Photo and 0.75 in
// demo, and 0.004 in Citeseer and Amazon Photo with normalised rows. With the features of demo multiplied by 2, 5, 10
// and 100, a GCN on 70 condensed nodes loses 0.5, 1.6, 3.4 and 12.6 points. Divided by 1000, it learns nothing.
func Magnitude(norm float64, d int) string {
	switch units := norm * math.Sqrt(2/float64(d+256)); {
	case units > 5:
		return "large"
	case units > 0 && units < 0.001:
		return "small"
	}
	return ""
}

// Column describes feature j in a sentence, by its name if names is not nil.
func Column(j int, names []string) string {
	if names == nil {
		return fmt.Sprintf("feature %d (counted from 0)", j)
	}
	return fmt.Sprintf("feature %.50q", names[j])
}

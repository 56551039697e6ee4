package cgc_test

// This file tests features of very large, very small and very different magnitudes, and what Condense warns of.

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
)

// scaledDemo returns the demo graph with its features, or one column of them, multiplied by a factor.
func scaledDemo(factor float32, column int) *graph.Graph {
	g := synth.Demo()
	x := g.X.(*mat.Dense).Clone()
	for i := range x.Rows {
		for j := range x.Row(i) {
			if column < 0 || j == column {
				x.Row(i)[j] *= factor
			}
		}
	}
	g.X = x
	return g
}

// A column with far larger values than the others dominates all distances. Condense warns and names the remedy.
func TestWarnsOfScales(t *testing.T) {
	for _, c := range []struct {
		factor      float32
		standardize bool
		warns       bool
	}{
		{1, false, false}, {10, false, false}, {1e4, false, true}, {1e4, true, false}, {1e-4, false, false},
	} {
		config := configured(70, func(k *cgc.Config) { k.Standardize = c.standardize })
		small := mustCondense(t, scaledDemo(c.factor, 3), config)
		warning := strings.Join(small.Warnings, "\n")
		if c.warns != strings.Contains(warning, "feature 3 (counted from 0)") || !c.warns && warning != "" {
			t.Errorf("column times %v, standardize %v: warnings %q, want one: %v", c.factor, c.standardize, warning, c.warns)
		}
	}
}

// TestWarnsOfEdgesBetweenClasses checks that edges that mostly join different classes are seen among training nodes,
// also among a few, and that neither a graph with few such edges nor embeddings without hops lead to a warning.
func TestWarnsOfEdgesBetweenClasses(t *testing.T) {
	crossed := *synth.Demo() // class labels that the edges do not follow
	crossed.Y = slices.Clone(crossed.Y)
	for i := range crossed.Y {
		crossed.Y[i] = int32(i % crossed.Classes)
	}
	crossed.Split.Train = crossed.Split.Train[:0:0]
	for i := range 1400 {
		crossed.Split.Train = append(crossed.Split.Train, int32(i))
	}
	crossed.Split.Val, crossed.Split.Test = nil, nil
	alone := crossed // two edges or so between training nodes prove nothing
	alone.Split.Train = crossed.Split.Train[:60]
	for _, c := range []struct {
		name  string
		g     *graph.Graph
		hops  int
		warns bool
	}{
		{"demo", synth.Demo(), 2, false}, {"crossed", &crossed, 2, true}, {"0 hops", &crossed, 0, false},
		{"few", &alone, 2, false},
	} {
		small := mustCondense(t, c.g, configured(14, func(k *cgc.Config) { k.Hops = c.hops }))
		warning := strings.Join(small.Warnings, "\n")
		if c.warns != strings.Contains(warning, "compare --hops 0 and --hops 1") || !c.warns && warning != "" {
			t.Errorf("%s: warnings %q, want one: %v", c.name, warning, c.warns)
		}
	}
}

// TestFeaturesOfAnySize checks that scaling the features by a power of two changes neither the groups nor the accuracy,
// and scales X′. At 2⁶⁴ squares overflow, and at 2⁻⁸⁰ they underflow. Sums beyond float32 are an error.
func TestFeaturesOfAnySize(t *testing.T) {
	for _, part := range []string{"kmeans", "spectral"} {
		if part == "spectral" && !slow.On() {
			continue
		}
		config := configured(70, func(c *cgc.Config) { c.Partition, c.Augment = part, 0.4 })
		want := mustCondense(t, synth.Demo(), config)
		for _, exponent := range []int{-110, -80, -30, 30, 63, 64, 100, 122, 126} {
			name := fmt.Sprintf("%s, features times 2^%d", part, exponent)
			factor := float32(math.Ldexp(1, exponent))
			small, err := cgc.Condense(t.Context(), scaledDemo(factor, -1), config)
			if exponent > 120 && err != nil && strings.Contains(err.Error(), "a finite number") {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if !slices.Equal(small.Members.Indices, want.Members.Indices) {
				t.Errorf("%s: other groups", name)
			}
			if a, b := accountOf(t, small).Assessed, accountOf(t, want).Assessed; a.Accuracy != b.Accuracy || a.Rank != b.Rank {
				t.Errorf("%s: accuracy %v and rank %d, want %v and %d", name, a.Accuracy, a.Rank, b.Accuracy, b.Rank)
			}
			worst := 0.0
			for i, v := range small.X.Data {
				worst = max(worst, math.Abs(math.Ldexp(float64(v), -exponent)-float64(want.X.Data[i])))
			}
			if worst > 1e-2 { // features are about 1; confidences, and hence weights, have other rounding errors
				t.Errorf("%s: X′ differs by up to %g after scaling back", name, worst)
			}
		}
	}
}

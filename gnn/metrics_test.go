package gnn_test

import (
	"math"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/mat"
)

// TestMetrics compares the metrics with values computed by hand.
func TestMetrics(t *testing.T) {
	for _, c := range []struct {
		name   string
		logits [][]float32
		labels []int32
		want   gnn.Metrics
	}{
		{"three classes, none predicted as the third", [][]float32{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {0, 1, 0}},
			[]int32{0, 0, 1, 1}, gnn.Metrics{Balanced: 75, MacroF1: 100 * (0.8 + 2./3) / 2}},
		{"a class without test nodes that is predicted", [][]float32{{1, 0, 0}, {0, 0, 1}}, []int32{0, 0},
			gnn.Metrics{Balanced: 50, MacroF1: 100 * (2. / 3) / 2}},
		{"all nodes in the larger of two classes", [][]float32{{1, 0}, {1, 0}, {1, 0}, {1, 0}}, []int32{0, 0, 0, 1},
			gnn.Metrics{Balanced: 50, MacroF1: 100 * (6. / 7) / 2, AUC: 50, AveragePrecision: 25}},
		{"one pair of nodes in the wrong order", [][]float32{{0, 3}, {0, 2}, {0, 1}, {0, -1}}, []int32{1, 0, 1, 0},
			gnn.Metrics{Balanced: 75, MacroF1: 100 * (0.8 + 2./3) / 2, AUC: 75, AveragePrecision: 100 * (0.5 + 0.5*2/3)}},
		{"no node of the first class", [][]float32{{0, 1}}, []int32{1}, gnn.Metrics{Balanced: 100, MacroF1: 100}},
	} {
		x := mat.NewDense(len(c.logits), len(c.logits[0]))
		for i, row := range c.logits {
			copy(x.Row(i), row)
		}
		m := gnn.MetricsOf(x, c.labels)
		for k, d := range []float64{m.Balanced - c.want.Balanced, m.MacroF1 - c.want.MacroF1, m.AUC - c.want.AUC,
			m.AveragePrecision - c.want.AveragePrecision} {
			if math.Abs(d) > 1e-9 {
				t.Errorf("%s: %+v, want %+v (metric %d)", c.name, m, c.want, k)
			}
		}
	}
}

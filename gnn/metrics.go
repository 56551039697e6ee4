package gnn

import (
	"cmp"
	"slices"

	"github.com/graph-condensation/cgc/mat"
)

// Metrics describes predictions in more detail than their accuracy, which says little if most nodes are of one class.
// All values are percentages.
type Metrics struct {
	// Balanced is the balanced accuracy: the mean over classes of the share of their nodes that are predicted correctly.
	Balanced float64 `json:"balanced"`
	// MacroF1 is the mean over classes of F1 = 2tp/(2tp + fp + fn). A class without nodes and predictions is left out.
	MacroF1 float64 `json:"macro_f1"`
	// AUC is the area under the ROC curve of class 1. AveragePrecision equals scikit-learn's average_precision_score, in
	// percent. Both are 0, and absent in JSON, unless there are two classes and nodes of each.
	AUC              float64 `json:"auc,omitempty"`
	AveragePrecision float64 `json:"average_precision,omitempty"`
}

// metricsOf returns the metrics of logits, n×c, at nodes with the given labels in [0, c).
func metricsOf(logits *mat.Dense, labels []int32) Metrics {
	predicted := make([]int32, len(labels))
	predict(predicted, logits)
	right, own, all := make([]float64, logits.Cols), make([]float64, logits.Cols), make([]float64, logits.Cols)
	for i, y := range labels {
		own[y]++
		all[predicted[i]]++
		if predicted[i] == y {
			right[y]++
		}
	}
	var m Metrics
	var withNodes, present float64
	for k, tp := range right {
		if own[k] > 0 {
			m.Balanced += 100 * tp / own[k]
			withNodes++
		}
		if own[k]+all[k] > 0 {
			m.MacroF1 += 200 * tp / (own[k] + all[k])
			present++
		}
	}
	if withNodes > 0 {
		m.Balanced, m.MacroF1 = m.Balanced/withNodes, m.MacroF1/present
	}
	if logits.Cols == 2 && own[0] > 0 && own[1] > 0 {
		m.AUC, m.AveragePrecision = ranking(logits, labels, own)
	}
	return m
}

// ranking returns the area under the ROC curve and the average precision for two classes. Nodes with equal scores form
// one point of the curve.
func ranking(logits *mat.Dense, labels []int32, own []float64) (auc, precision float64) {
	order, scores := make([]int, len(labels)), make([]float32, len(labels))
	for i := range order {
		order[i], scores[i] = i, logits.Row(i)[1]-logits.Row(i)[0]
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var tp, fp float64
	for lo := 0; lo < len(order); {
		hi, more := lo, 0.0
		for ; hi < len(order) && scores[order[hi]] == scores[order[lo]]; hi++ {
			more += float64(labels[order[hi]])
		}
		others := float64(hi-lo) - more
		auc += others * (tp + more/2)
		tp, fp = tp+more, fp+others
		precision += more * tp / (tp + fp)
		lo = hi
	}
	return 100 * auc / (own[0] * own[1]), 100 * precision / own[1]
}

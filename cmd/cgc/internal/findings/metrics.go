package findings

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/gnn"
)

// uneven is the smallest difference between accuracy and balanced accuracy, in points, for which more metrics are
// shown.
const uneven = 5

// Metrics returns a text with further metrics if there are two classes, or if accuracy and balanced accuracy differ by
// at least uneven. Otherwise, it returns "". names holds the names of the classes, or is nil.
func Metrics(m gnn.Metrics, accuracy float64, classes int, names []string) string {
	if m.Balanced == 0 || classes != 2 && math.Abs(accuracy-m.Balanced) < uneven {
		return ""
	}
	text := fmt.Sprintf("balanced accuracy %.1f%%, macro-F1 %.1f%%", m.Balanced, m.MacroF1)
	if m.AUC > 0 {
		second := "class 1"
		if names != nil {
			second = names[1]
		}
		text += fmt.Sprintf(", ROC AUC %.1f%%, average precision of %s %.1f%%", m.AUC, second, m.AveragePrecision)
	}
	return text
}

// metric formats a metric; blank if it was not measured.
func metric(v float64) report.Cell {
	if v == 0 {
		return report.Cell{}
	}
	return report.Decimal(v, 1)
}

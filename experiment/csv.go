package experiment

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/graph-condensation/cgc/report"
)

// WriteCSV writes a header and a row for each record, with the numbers in full. The columns config and training hold
// JSON; config is empty for trainings on the whole graph. The columns are a contract (docs/formats.md).
func WriteCSV(w io.Writer, records []Record) error {
	t := &report.Table{Columns: report.Columns(
		"graph", "fingerprint", "arm", "method", "nodes", "edges", "model", "standardize", "inductive", "seed", "training_seed",
		"val", "test", "epoch", "propagate_seconds", "assess_seconds", "augment_seconds",
		"partition_seconds", "generate_seconds", "condense_seconds", "training_seconds", "peak_rss_bytes", "threads",
		"kernels", "version", "revision", "go", "platform", "config", "training",
	)}
	for _, r := range records {
		training, err := json.Marshal(r.Training)
		if err != nil {
			return fmt.Errorf("experiment: writing CSV: %w", err)
		}
		config := ""
		if !r.IsWhole() {
			text, err := json.Marshal(r.Config)
			if err != nil {
				return fmt.Errorf("experiment: writing CSV: %w", err)
			}
			config = string(text)
		}
		s, b := r.Seconds, r.Build
		t.Full(r.Graph.Name, r.Graph.Fingerprint, r.Arm, r.Method(), r.Nodes, r.Edges, r.Model, r.Standardize, r.Inductive,
			r.Seed, r.TrainingSeed, r.Val, r.Test, r.Epoch, s.Of("propagate"), s.Of("assess"), s.Of("augment"),
			s.Of("partition"), s.Of("generate"), s.Total, r.TrainingSeconds, r.Peak, b.Threads, b.Kernels, b.Version,
			b.Revision, b.Go, b.Platform, config, string(training))
	}
	return writeTable(w, t)
}

// WriteSummaryCSV writes a header and a row for each summary, with the numbers in full. The ci95 of a single seed is
// empty. The columns are a contract (docs/formats.md).
func WriteSummaryCSV(w io.Writer, summaries []Summary) error {
	t := &report.Table{Columns: report.Columns(
		"graph", "fingerprint", "arm", "method", "nodes", "edges", "model", "standardize", "inductive", "seeds", "trainings",
		"val_mean", "val_std", "val_ci95", "test_mean", "test_std", "test_ci95", "test_within",
		"condense_seconds", "training_seconds",
	)}
	for _, s := range summaries {
		trainings := 0
		for _, m := range s.Seeds {
			trainings += m.Trainings
		}
		var val, test any = s.Val.CI95, s.Test.CI95
		if len(s.Seeds) < 2 {
			val, test = "", ""
		}
		t.Full(s.Graph.Name, s.Graph.Fingerprint, s.Arm, s.Method, s.Nodes, s.Edges, s.Model, s.Standardize, s.Inductive,
			len(s.Seeds), trainings, s.Val.Mean, s.Val.Std, val, s.Test.Mean, s.Test.Std, test, s.Within, s.Condense, s.Train)
	}
	return writeTable(w, t)
}

func writeTable(w io.Writer, t *report.Table) error {
	if err := report.CSV(w, &report.Document{Blocks: []report.Block{t}}); err != nil {
		return fmt.Errorf("experiment: writing CSV: %w", err)
	}
	return nil
}

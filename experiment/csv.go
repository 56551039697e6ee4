package experiment

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// recordColumns are the columns of WriteCSV.
var recordColumns = []string{
	"graph", "fingerprint", "arm", "method", "nodes", "edges", "model", "standardize", "inductive", "seed", "training_seed",
	"val", "test", "epoch", "propagate_seconds", "assess_seconds", "augment_seconds", "partition_seconds", "generate_seconds", "condense_seconds", "training_seconds",
	"peak_rss_bytes", "threads", "kernels", "version", "revision", "go", "platform", "config", "training",
}

// WriteCSV writes a header and a row for each record, with the numbers in full. The columns config and training hold JSON.
func WriteCSV(w io.Writer, records []Record) error {
	return rows(w, recordColumns, records, func(r Record) ([]any, error) {
		config, err := json.Marshal(r.Config)
		if err != nil {
			return nil, err
		}
		if r.IsWhole() {
			config = nil
		}
		training, err := json.Marshal(r.Training)
		if err != nil {
			return nil, err
		}
		s, b := r.Seconds, r.Build
		return []any{
			r.Graph.Name, r.Graph.Fingerprint, r.Arm, r.Method(), r.Nodes, r.Edges, r.Model, r.Standardize, r.Inductive, r.Seed, r.TrainingSeed,
			r.Val, r.Test, r.Epoch, s.Of("propagate"), s.Of("assess"), s.Of("augment"), s.Of("partition"), s.Of("generate"), s.Total, r.TrainingSeconds,
			r.Peak, b.Threads, b.Kernels, b.Version, b.Revision, b.Go, b.Platform, string(config), string(training),
		}, nil
	})
}

// summaryColumns are the columns of WriteSummaryCSV.
var summaryColumns = []string{
	"graph", "fingerprint", "arm", "method", "nodes", "edges", "model", "standardize", "inductive", "seeds", "trainings",
	"val_mean", "val_std", "val_ci95", "test_mean", "test_std", "test_ci95", "test_within", "condense_seconds", "training_seconds",
}

// WriteSummaryCSV writes a header and a row for each summary, with the numbers in full. The ci95 of a single seed is empty.
func WriteSummaryCSV(w io.Writer, summaries []Summary) error {
	return rows(w, summaryColumns, summaries, func(s Summary) ([]any, error) {
		trainings := 0
		for _, m := range s.Seeds {
			trainings += m.Trainings
		}
		var val, test any = s.Val.CI95, s.Test.CI95
		if len(s.Seeds) < 2 {
			val, test = "", ""
		}
		return []any{
			s.Graph.Name, s.Graph.Fingerprint, s.Arm, s.Method, s.Nodes, s.Edges, s.Model, s.Standardize, s.Inductive, len(s.Seeds), trainings,
			s.Val.Mean, s.Val.Std, val, s.Test.Mean, s.Test.Std, test, s.Within, s.Condense, s.Train,
		}, nil
	})
}

// rows writes a header and one row for each of list.
func rows[T any](w io.Writer, header []string, list []T, cells func(T) ([]any, error)) error {
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return fmt.Errorf("experiment: writing CSV: %w", err)
	}
	for _, item := range list {
		values, err := cells(item)
		if err != nil {
			return fmt.Errorf("experiment: writing CSV: %w", err)
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = field(v)
		}
		if err := out.Write(row); err != nil {
			return fmt.Errorf("experiment: writing CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("experiment: writing CSV: %w", err)
	}
	return nil
}

// field writes a value so that reading it gives the same value.
func field(v any) string {
	if f, is := v.(float64); is {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

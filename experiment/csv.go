package experiment

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WriteCSV writes a header and a row for each record, with unrounded numbers.
//
// Each condensation step of the methods present has a column STEP_seconds, in order of first appearance. A cell is 0 if
// the method has no such step. condense_seconds is the total. The columns config and training hold JSON; config is
// empty for training runs on the full graph. The columns are a contract (docs/reference/json.md).
func WriteCSV(w io.Writer, records []Record) error {
	steps := stepsOf(records)
	names := []string{
		"graph", "fingerprint", "arm", "method", "nodes", "edges", "model", "normalize_features", "standardize",
		"inductive",
		"seed", "training_seed", "val", "test", "epoch",
	}
	for _, step := range steps {
		names = append(names, strings.ReplaceAll(step, " ", "_")+"_seconds")
	}
	names = append(names, "condense_seconds", "training_seconds", "peak_rss_bytes", "threads", "kernels", "version",
		"revision", "go", "platform", "config", "training")
	var rows [][]any
	for _, r := range records {
		training, err := json.Marshal(r.Training)
		if err != nil {
			return fmt.Errorf("writing CSV: %w", err)
		}
		row := []any{
			r.Graph.Name, r.Graph.Fingerprint, r.Arm, r.Method(), r.Nodes, r.Edges, r.Model,
			r.NormalizeFeatures, r.Standardize, r.Inductive,
			r.Seed, r.TrainingSeed, r.Val, r.Test, r.Epoch,
		}
		for _, step := range steps {
			row = append(row, r.Seconds.Of(step))
		}
		b := r.Build
		rows = append(rows, append(row, r.Seconds.Total, r.TrainingSeconds, r.Peak, b.Threads, b.Kernels, b.Version,
			b.Revision, b.Go, b.Platform, string(r.Config), string(training)))
	}
	return writeTable(w, names, rows)
}

// stepsOf returns the names of the steps of the records, in the order of their first appearance.
func stepsOf(records []Record) (steps []string) {
	for _, r := range records {
		for _, step := range r.Seconds.Steps {
			if !slices.Contains(steps, step.Name) {
				steps = append(steps, step.Name)
			}
		}
	}
	return steps
}

// WriteSummaryCSV writes a header and a row for each summary, with unrounded numbers. The ci95 columns are empty for a
// single seed. The columns are a contract (docs/reference/json.md).
func WriteSummaryCSV(w io.Writer, summaries []Summary) error {
	names := []string{
		"graph", "fingerprint", "arm", "method", "nodes", "edges", "model", "normalize_features", "standardize",
		"inductive", "seeds", "trainings",
		"val_mean", "val_std", "val_ci95", "test_mean", "test_std", "test_ci95", "test_within",
		"condense_seconds", "training_seconds",
	}
	var rows [][]any
	for _, s := range summaries {
		trainings := 0
		for _, m := range s.Seeds {
			trainings += m.Trainings
		}
		var val, test any = s.Val.CI95, s.Test.CI95
		if len(s.Seeds) < 2 {
			val, test = "", ""
		}
		rows = append(rows, []any{
			s.Graph.Name, s.Graph.Fingerprint, s.Arm, s.Method, s.Nodes, s.Edges, s.Model,
			s.NormalizeFeatures, s.Standardize, s.Inductive,
			len(s.Seeds), trainings, s.Val.Mean, s.Val.Std, val, s.Test.Mean, s.Test.Std, test, s.Within, s.Condense, s.Train,
		})
	}
	return writeTable(w, names, rows)
}

// writeTable writes a header and rows as CSV, with all digits of numbers.
func writeTable(w io.Writer, header []string, rows [][]any) error {
	out := csv.NewWriter(w)
	err := out.Write(header)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, v := range row {
			if f, is := v.(float64); is {
				cells[i] = strconv.FormatFloat(f, 'f', -1, 64)
			} else {
				cells[i] = fmt.Sprint(v)
			}
		}
		err = cmp.Or(err, out.Write(cells))
	}
	out.Flush()
	if err = cmp.Or(err, out.Error()); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

package experiment_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// read returns the rows of a table by column.
func read(t *testing.T, text *bytes.Buffer) (rows []map[string]string) {
	t.Helper()
	all := mattest.Must(csv.NewReader(text).ReadAll())
	for _, row := range all[1:] {
		cells := map[string]string{}
		for i, name := range all[0] {
			cells[name] = row[i]
		}
		if len(cells) != len(all[0]) {
			t.Fatalf("a column appears twice: %v", all[0])
		}
		rows = append(rows, cells)
	}
	return rows
}

func number(t *testing.T, cell string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Error(err)
	}
	return v
}

// TestCSVHoldsRecords checks that the table holds everything needed to repeat a training run, with all digits.
func TestCSVHoldsRecords(t *testing.T) {
	var text bytes.Buffer
	mattest.OK(t, experiment.WriteCSV(&text, example()))
	rows := read(t, &text)
	if len(rows) != 2 {
		t.Fatalf("%d rows, want 2", len(rows))
	}
	for i, r := range example() {
		row := rows[i]
		for name, want := range map[string]float64{
			"val": r.Val, "test": r.Test, "epoch": float64(r.Epoch), "training_seconds": r.TrainingSeconds,
			"propagate_seconds": r.Seconds.Of("propagate"), "condense_seconds": r.Seconds.Total, "nodes": 10, "edges": 3,
			"peak_rss_bytes": 1 << 40,
		} {
			mattest.Equal(t, number(t, row[name]), want, "row %d: %s is", i, name)
		}
		for name, want := range map[string]string{
			"graph": r.Graph.Name, "fingerprint": "f1", "arm": r.Arm, "method": r.Method(), "model": "gcn",
			"seed": strconv.FormatUint(r.Seed, 10), "training_seed": "9223372036854775809", "kernels": r.Build.Kernels,
			"go": r.Build.Go, "standardize": strconv.FormatBool(r.Standardize), "config": string(r.Config),
		} {
			mattest.Equal(t, row[name], want, "row %d: %s is", i, name)
		}
	}
}

// TestCSVHasTheStepsOfItsMethods checks that each method in a table adds columns for its steps.
func TestCSVHasTheStepsOfItsMethods(t *testing.T) {
	p := grid(func(p *experiment.Grid) {
		p.Arms = p.Arms[:2]
		p.Arms[1].Name, p.Arms[1].Method = "random", random
		p.Models, p.Seeds, p.Trainings, p.Whole = p.Models[1:], 1, 1, 0
	})
	var text bytes.Buffer
	mattest.OK(t, experiment.WriteCSV(&text, mustGrid(t, p, nil)))
	head, _, _ := strings.Cut(text.String(), "\n")
	want := "epoch,propagate_seconds,assess_seconds,augment_seconds,partition_seconds,generate_seconds,select_seconds," +
		"condense_seconds,"
	if !strings.Contains(head, want) {
		t.Errorf("header %s, want %s in it", head, want)
	}
	rows := read(t, &text)
	if rows[1]["method"] != "random" || number(t, rows[1]["assess_seconds"]) != 0 ||
		number(t, rows[0]["select_seconds"]) != 0 {
		t.Errorf("rows %v", rows)
	}
}

func TestSummaryCSV(t *testing.T) {
	records := append(trained("a, b", 0, []float64{80, 82}, []float64{83, 84}), trained("single", 0, []float64{70})...)
	var text bytes.Buffer
	summaries := experiment.Summarize(records)
	mattest.OK(t, experiment.WriteSummaryCSV(&text, summaries))
	rows := read(t, &text)
	if len(rows) != 2 || rows[0]["arm"] != "a, b" || rows[0]["seeds"] != "2" || rows[0]["trainings"] != "4" ||
		number(t, rows[0]["test_mean"]) != 82.25 {
		t.Errorf("rows %v", rows)
	}
	mattest.Equal(t, number(t, rows[0]["test_ci95"]), summaries[0].Test.CI95, "interval")
	mattest.Equal(t, number(t, rows[0]["test_within"]), summaries[0].Within, "deviation over training runs")
	if rows[1]["test_ci95"] != "" || rows[1]["test_std"] != "0" {
		t.Errorf("one seed has interval %q", rows[1]["test_ci95"])
	}
}

// full is a writer that always fails, like a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("no space left")

func TestCSVReturnsErrors(t *testing.T) {
	err := experiment.WriteCSV(full{}, example())
	mattest.WantIs(t, err, errFull)
	mattest.WantError(t, err, "writing CSV: ")
	mattest.WantIs(t, experiment.WriteSummaryCSV(full{}, experiment.Summarize(example())), errFull)
}

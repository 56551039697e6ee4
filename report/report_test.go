package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// example is a report of a run over five seeds.
func example() *report.Report {
	config := cgc.Defaults()
	config.Nodes = 70
	return &report.Report{
		Graph: "cora", Nodes: 2708, Edges: 5278, Features: 1433, Classes: 7, Train: 140,
		Condensed: report.Condensed{Nodes: 70, Edges: 52, Budget: []int{10, 10, 10, 10, 10, 10, 10}},
		Config:    config,
		Seconds: report.Seconds{Load: 0.0312, Seconds: cgc.Seconds{
			Propagate: 0.0041, Assess: 0.0112, Augment: 0.0009, Partition: 0.0206, Generate: 0.0021, Condense: 0.0391,
		}},
		PeakRSS: 123_456_789,
		Over:    report.OverCondensations,
		Results: []report.Accuracy{
			{Model: "gcn", Seeds: 5, ValMean: 79.51, ValStd: 0.42, TestMean: 82.04, TestStd: 0.51, TestCI95: 0.63, Seconds: 2.5},
			{Model: "appnp", Seeds: 5, ValMean: 79.1, ValStd: 0.5, TestMean: 81.96, TestStd: 0.45, TestCI95: 0.56, Seconds: 3.5},
		},
		Whole: []report.Accuracy{
			{Model: "gcn", Seeds: 5, ValMean: 79.3, ValStd: 0.3, TestMean: 81.5, TestStd: 0.4, TestCI95: 0.5, Seconds: 5.5},
			{Model: "appnp", Seeds: 5, ValMean: 79.2, ValStd: 0.2, TestMean: 82.9, TestStd: 0.3, TestCI95: 0.37, Seconds: 5.6},
		},
		File: "cora-70.safetensors",
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*report.Report)
	}{
		{"run", func(*report.Report) {}},
		{"condense", func(r *report.Report) { r.Results, r.Whole = nil, nil }},
		{"evaluate", func(r *report.Report) {
			r.Over, r.Whole, r.File, r.PeakRSS, r.Seconds = report.OverTrainings, nil, "", 0, report.Seconds{}
		}},
		{"one-seed", func(r *report.Report) {
			r.Config.Method, r.Config.Inductive, r.Config.Standardize = cgc.CGCX, true, true
			r.Results, r.Whole = r.Results[:1], r.Whole[:1]
			r.Results[0].Seeds, r.Whole[0].Seeds = 1, 1
		}},
		{"large", func(r *report.Report) {
			r.Graph, r.Nodes, r.Edges, r.Features, r.Classes, r.Train = "products", 2449029, 61859140, 100, 47, 196615
			r.Config.Method, r.PeakRSS = cgc.SimDM, 3_456_000_000
			r.Condensed = report.Condensed{Nodes: 1238, Budget: bytesToInts("47 numbers that go over more than one line, yes")}
			r.Results, r.Whole = nil, nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := example()
			c.change(r)
			var got bytes.Buffer
			if err := r.Text(&got); err != nil {
				t.Fatal(err)
			}
			golden(t, "testdata/"+c.name+".txt", got.Bytes())
		})
	}
}

func bytesToInts(text string) (ints []int) {
	for _, b := range []byte(text) {
		ints = append(ints, int(b))
	}
	return ints
}

// TestJSON holds the keys: their names and order are a contract.
func TestJSON(t *testing.T) {
	var got bytes.Buffer
	if err := report.JSON(&got, example()); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/run.json", got.Bytes())
	var back report.Report
	decoder := json.NewDecoder(&got)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&back); err != nil {
		t.Error(err)
	}
	if back.Results[1] != example().Results[1] || back.Seconds != example().Seconds {
		t.Errorf("%+v does not survive JSON: %+v", example(), back)
	}
}

// golden compares got with a file, which go test -update rewrites.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 61859140: "61,859,140", -1234: "-1,234", -999: "-999"} {
		if got := report.Count(n); got != want {
			t.Errorf("Count(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 MB", 123456789: "123 MB", 3456000000: "3.46 GB"} {
		if got := report.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %s, want %s", n, got, want)
		}
	}
}

// full is a device without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("no space left")

func TestWriteErrors(t *testing.T) {
	if err := example().Text(full{}); !errors.Is(err, errFull) {
		t.Errorf("Text: %v, want %v", err, errFull)
	}
	if err := report.JSON(full{}, example()); !errors.Is(err, errFull) {
		t.Errorf("JSON: %v, want %v", err, errFull)
	}
}

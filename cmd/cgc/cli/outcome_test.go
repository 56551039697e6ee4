package cli

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/golden"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// exampleConfig returns the default configuration of a run, modified by change.
func exampleConfig(change func(*cgc.Config)) json.RawMessage {
	config := cgc.Defaults()
	config.Nodes = 70
	change(&config)
	return mattest.Must(json.Marshal(config))
}

// exampleOutcome returns the outcome of a run with five seeds.
func exampleOutcome() *outcome {
	return &outcome{
		Graph: "cora", Nodes: 2708, Edges: 5278, Features: 1433, Classes: 7, Train: 140,
		Condensed: condensedSize{Nodes: 70, Edges: 52, Budget: []int{10, 10, 10, 10, 10, 10, 10}},
		Config:    exampleConfig(func(*cgc.Config) {}),
		Seconds: condense.Seconds{Steps: []condense.Step{
			{Name: "load", Seconds: 0.0312}, {Name: "propagate", Seconds: 0.0041}, {Name: "assess", Seconds: 0.0112},
			{Name: "augment", Seconds: 0.0009}, {Name: "partition", Seconds: 0.0206}, {Name: "generate", Seconds: 0.0021},
		}, Total: 0.0391},
		PeakRSS: 123_456_789,
		Over:    overCondensations,
		Results: []modelScore{
			{Model: "gcn", Seeds: 5, ValMean: 79.51, ValStd: 0.42, TestMean: 82.04, TestStd: 0.51, TestCI95: 0.63, Seconds: 2.5,
				Metrics: gnn.Metrics{Balanced: 81.5, MacroF1: 80.9}},
			{Model: "appnp", Seeds: 5, ValMean: 79.1, ValStd: 0.5, TestMean: 81.96, TestStd: 0.45, TestCI95: 0.56, Seconds: 3.5,
				Metrics: gnn.Metrics{Balanced: 71.2, MacroF1: 70.4}},
		},
		Whole: []modelScore{
			{Model: "gcn", Seeds: 5, ValMean: 79.3, ValStd: 0.3, TestMean: 81.5, TestStd: 0.4, TestCI95: 0.5, Seconds: 5.5},
			{Model: "appnp", Seeds: 5, ValMean: 79.2, ValStd: 0.2, TestMean: 82.9, TestStd: 0.3, TestCI95: 0.37, Seconds: 5.6},
		},
		File: "cora-70.safetensors",
	}
}

func TestOutcomeText(t *testing.T) {
	mostHeld.Store(0) // as at the start of a process
	for _, c := range []struct {
		name   string
		change func(*outcome)
	}{
		{"run", func(*outcome) {}},
		{"condense", func(r *outcome) { r.Results, r.Whole = nil, nil }},
		{"evaluate", func(r *outcome) {
			r.evaluated, r.Over, r.Whole = true, overTrainings, nil
		}},
		{"one-seed", func(r *outcome) {
			r.Config = exampleConfig(func(c *cgc.Config) { c.Variant, c.Inductive, c.Standardize = cgc.CGCX, true, true })
			r.Seconds.Steps[5].Seconds, r.Condensed.Edges = 0, 0
			r.Results, r.Whole = r.Results[:1], r.Whole[:1]
			r.Results[0].Seeds, r.Whole[0].Seeds, r.Results[0].Seconds = 1, 1, 0.0432
		}},
		{"large", func(r *outcome) {
			r.Graph, r.Nodes, r.Edges, r.Features, r.Classes, r.Train = "products", 2449029, 61859140, 100, 47, 196615
			r.Config, r.PeakRSS = exampleConfig(func(c *cgc.Config) { c.Variant = cgc.SimDM }), 3_456_000_000
			r.Seconds.Steps[5].Seconds = 0
			r.Condensed = condensedSize{Nodes: 1238, Budget: bytesToInts("47 numbers that go over more than one line, yes")}
			r.Results, r.Whole = nil, nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := exampleOutcome()
			c.change(r)
			golden.Compare(t, "testdata/"+c.name+".txt", []byte(r.document().String()))
		})
	}
}

// TestNotes checks that each ± is explained, and nothing else.
func TestNotes(t *testing.T) {
	const small = "over 5 condensation seeds, each with its own training"
	const interval = "95% interval: of the mean, by Student's t"
	for seeds, want := range map[[2]int][]string{
		{5, 5}: {"±: standard deviation " + small + "; on the full graph, over 5 training seeds", interval},
		{5, 1}: {"±: standard deviation " + small, interval},
		{1, 5}: {"±: standard deviation on the full graph, over 5 training seeds"},
		{1, 1}: nil,
	} {
		r := exampleOutcome()
		r.Results[0].Seeds, r.Whole[0].Seeds = seeds[0], seeds[1]
		mattest.Equal(t, []string(r.notes()), want, "notes of %d seeds", seeds)
	}
}

func bytesToInts(text string) (ints []int) {
	for _, b := range []byte(text) {
		ints = append(ints, int(b))
	}
	return ints
}

// TestOutcomeJSON checks the keys and their order, which are a contract.
func TestOutcomeJSON(t *testing.T) {
	var got bytes.Buffer
	mattest.OK(t, writeJSON(&got, exampleOutcome()))
	golden.Compare(t, "testdata/run.json", got.Bytes())
	var back outcome
	mattest.OK(t, strictly(got.Bytes(), &back))
	mattest.Equal(t, back.Results, exampleOutcome().Results, "after JSON, the results are")
	mattest.Equal(t, back.Seconds, exampleOutcome().Seconds, "after JSON, the seconds are")
}

// TestVersionLines checks the texts for the commit and the kernels, including values that a build may not know.
func TestVersionLines(t *testing.T) {
	for _, c := range []struct {
		v       versions
		commit  string
		kernels string
	}{
		{versions{Kernels: "generic", Available: []string{"generic"}}, "unknown", "generic"},
		{versions{Revision: "abc", Date: "2026-01-02T03:04:05Z", Modified: true, Kernels: "avx512",
			Available: []string{"avx512", "avx2", "generic"}},
			"abc of 2026-01-02T03:04:05Z, modified", "avx512 (available: avx2, generic)"},
	} {
		got := c.v.commit()
		mattest.True(t, strings.HasPrefix(got, c.commit), "commit %q, want %q", got, c.commit)
		mattest.Equal(t, c.v.kernels(), c.kernels, "kernels")
	}
	v := version()
	if v.Version == "" || v.Go == "" || v.Kernels != v.Available[0] || len(v.Methods) < 3 || len(v.Formats) < 5 {
		t.Errorf("%+v", v)
	}
}

// TestBench checks the keys of bench --json and that its flags reach the cases. Package bench tests their content.
func TestBench(t *testing.T) {
	for _, c := range []struct {
		part any
		keys string
	}{
		{bench.Result{}, "kernel threads runs seed cases growth"},
		{bench.Case{}, "size scale partition precision nodes edges features classes train condensed_nodes steps " +
			"ceilings least_seconds ratio ratios peak_rss_bytes"},
		{bench.Step{}, "step seconds work ceiling share"},
		{bench.Ceilings{}, "stream_gb_per_s gather_gb_per_s compute_gflop_per_s fresh_gb_per_s file_gb_per_s"},
		{bench.Growth{}, "size partition precision step exponent"},
	} {
		mattest.Equal(t, strings.Join(keysOfType(reflect.TypeOf(c.part)), " "), c.keys, "the keys of %T are", c.part)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("cgc", "bench", "--sizes", "cora", "--runs", "1", "--scale", "1,2", "--seed", "7",
		"--threads", "1", "--json")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || timeNote.ReplaceAllString(stderr.String(), "") != "" {
		t.Fatalf("%v, %s", err, &stderr)
	}
	var m bench.Result
	mattest.OK(t, strictly(stdout.Bytes(), &m))
	if m.Kernel == "" || m.Threads != 1 || m.Runs != 1 || m.Seed != 7 || len(m.Cases) != 2 || len(m.Growth) != 6 {
		t.Fatalf("%+v", m)
	}
	for i, c := range m.Cases {
		if l := c.Ceilings; l.Stream <= 0 || l.Gather <= 0 || l.Compute <= 0 || l.Fresh <= 0 || c.Ratio <= 0 {
			t.Errorf("ceilings %+v, ratio %v", l, c.Ratio)
		}
		if c.Scale != float64(i+1) || c.Nodes != 2708*(i+1) || runtime.GOOS == "linux" && c.Peak < 1<<20 {
			t.Errorf("%+v", c)
		}
	}
}

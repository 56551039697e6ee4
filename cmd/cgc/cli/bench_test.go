package cli

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

// measured repeats the JSON keys of bench, so that a new, renamed or missing key fails the test.
type measured struct {
	Kernel   string
	Threads  int
	Runs     int
	Seed     uint64
	Ceilings struct {
		Stream  float64 `json:"stream_gb_per_s"`
		Gather  float64 `json:"gather_gb_per_s"`
		Compute float64 `json:"compute_gflop_per_s"`
	}
	Cases []struct {
		Size                                   string
		Scale                                  float64
		Partition                              string
		Nodes, Edges, Features, Classes, Train int
		Condensed                              int `json:"condensed_nodes"`
		Steps                                  []struct {
			Step           string
			Seconds, Share float64
			Work           *float64
			Ceiling        string
		}
		Peak int64 `json:"peak_rss_bytes"`
	}
	Growth []struct {
		Size, Partition, Step string
		Exponent              *float64
	}
}

// TestBench checks the keys of bench --json and the sizes of its cases. Of the times, it checks only that they are
// positive.
func TestBench(t *testing.T) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("cgc", "bench", "--sizes", "cora", "--runs", "1", "--scale", "1,2", "--seed", "7",
		"--threads", "1", "--json")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || timeNote.ReplaceAllString(stderr.String(), "") != "" {
		t.Fatalf("%v, %s", err, &stderr)
	}
	decoder := json.NewDecoder(&stdout)
	decoder.DisallowUnknownFields()
	var m measured
	check(t, decoder.Decode(&m))
	if decoder.More() {
		t.Error("more than one JSON object")
	}
	if m.Kernel == "" || m.Threads != 1 || m.Runs != 1 || m.Seed != 7 || len(m.Cases) != 2 || len(m.Growth) != 6 {
		t.Fatalf("%+v", m)
	}
	if c := m.Ceilings; c.Stream <= 0 || c.Gather <= 0 || c.Compute <= 0 {
		t.Errorf("ceilings %+v", c)
	}
	for i, c := range m.Cases {
		if c.Size != "cora" || c.Scale != float64(i+1) || c.Partition != "kmeans" || c.Nodes != 2708*(i+1) ||
			c.Edges != 5429*(i+1) || c.Features != 1433 ||
			c.Classes != 7 || c.Train != 140*(i+1) || c.Condensed != 70 || runtime.GOOS == "linux" && c.Peak < 1<<20 {
			t.Errorf("%+v", c)
		}
		var steps []string
		for _, s := range c.Steps {
			steps = append(steps, s.Step)
			if whole := s.Step == "condense"; s.Seconds <= 0 || whole != (s.Work == nil) || whole != (s.Ceiling == "") ||
				(whole || s.Step == "augment") != (s.Share == 0) { // the defaults augment nothing
				t.Errorf("%+v", s)
			}
		}
		if !slices.Equal(steps, []string{"propagate", "assess", "augment", "partition", "generate", "condense"}) {
			t.Errorf("steps %v", steps)
		}
	}
	for _, g := range m.Growth {
		if g.Size != "cora" || g.Partition != "kmeans" || g.Step == "" || g.Exponent == nil {
			t.Errorf("%+v", g)
		}
	}
}

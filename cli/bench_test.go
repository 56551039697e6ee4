package cli

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

// measured is the contract of bench --json, written out once more: a key that is new, renamed or lost fails the test.
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

// TestBench decodes what bench --json prints; it looks at no time but for being one.
func TestBench(t *testing.T) {
	for _, more := range [][]string{nil, {"--scale", "1,2", "--seed", "7", "--threads", "1"}} {
		args := append([]string{"bench", "--sizes", "cora", "--runs", "1", "--json"}, more...)
		var stdout, stderr bytes.Buffer
		cmd := exec.Command("cgc", args...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 {
			t.Fatalf("%q: %v, %s", args, err, &stderr)
		}
		decoder := json.NewDecoder(&stdout)
		decoder.DisallowUnknownFields()
		var m measured
		if err := decoder.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if decoder.More() {
			t.Error("more than one JSON object")
		}
		cases, growth := 1, 0
		if more != nil {
			cases, growth = 2, 6
			if m.Seed != 7 || m.Threads != 1 {
				t.Errorf("seed %d, %d threads", m.Seed, m.Threads)
			}
		}
		if m.Kernel == "" || m.Threads < 1 || m.Runs != 1 || len(m.Cases) != cases || len(m.Growth) != growth {
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
}

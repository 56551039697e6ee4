package bench_test

import (
	"bytes"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/internal/golden"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// measured returns a case with the given scale, partition and seconds of propagation.
func measured(scale, seconds float64, method string) bench.Case {
	return bench.Case{
		Size: "arxiv", Scale: scale, Partition: method, Nodes: int(169343 * scale), Edges: int(1166243 * scale),
		Features: 128, Classes: 40, Train: int(90941 * scale), Condensed: 454,
		Steps: []bench.Step{
			{Name: "propagate", Seconds: seconds, Work: &bench.Work{Amount: 1.9712, Ceiling: bench.Gather}, Share: 0.731},
			{Name: "assess", Seconds: 12.3456, Work: &bench.Work{Amount: 430.1, Ceiling: bench.Compute}, Share: 1.1},
			{Name: "augment", Seconds: 0.00003, Work: &bench.Work{Ceiling: bench.Stream}},
			{Name: "condense", Seconds: 12.4},
		},
		Peak: 504_000_000,
	}
}

func TestDocument(t *testing.T) {
	one := &bench.Result{
		Kernel: "avx2", Threads: 1, Runs: 1,
		Ceilings: bench.Ceilings{Stream: 45.67, Gather: 9.876, Compute: 321.9},
		Cases:    []bench.Case{measured(1, 0.0625, "kmeans")},
	}
	one.Cases[0].Peak = 0
	grown := &bench.Result{
		Kernel: "avx512", Threads: 2, Runs: 3,
		Ceilings: bench.Ceilings{Stream: 0.5, Gather: 9.876, Compute: 321.9},
		Cases: []bench.Case{
			measured(2, 0.125, "kmeans"), measured(2, 0.5, "spectral"), measured(1, 0.0625, "kmeans"),
			measured(1, 0.25, "spectral"),
		},
		Growth: []bench.Growth{
			{Size: "arxiv", Partition: "kmeans", Step: "propagate", Exponent: 1},
			{Size: "arxiv", Partition: "kmeans", Step: "train", Exponent: -0.123},
			{Size: "arxiv", Partition: "spectral", Step: "propagate", Exponent: 1.0049},
		},
	}
	for name, r := range map[string]*bench.Result{"bench": one, "bench-growth": grown} {
		var b bytes.Buffer
		mattest.OK(t, report.Text(&b, r.Document()))
		golden.Compare(t, "testdata/"+name+".txt", b.Bytes())
	}
}

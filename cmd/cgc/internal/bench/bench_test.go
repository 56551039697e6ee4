package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/format/native"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/golden"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

func plan() bench.Plan {
	return bench.Plan{
		Sizes: []string{"cora"}, Scales: []float64{1}, Partitions: []string{"kmeans"}, Runs: 1,
		Precisions: []blocked.Precision{blocked.Float32}, Peak: func() int64 { return 0 }, Measure: bench.Measure,
	}
}

func TestExponent(t *testing.T) {
	for _, c := range []struct {
		name            string
		scales, seconds []float64
		want            float64
		ok              bool
	}{
		{"constant", []float64{1, 2, 4}, []float64{7, 7, 7}, 0, true},
		// Slope of (0,0), (1,2), (2,1) in base-2 logarithms: Σ(x−1)(y−1)/Σ(x−1)² = 1/2.
		{"least squares", []float64{1, 2, 4}, []float64{1, 4, 2}, 0.5, true},
		{"no time at one scale", []float64{1, 2, 4}, []float64{0, 5, 10}, 1, true},
		{"one scale", []float64{2}, []float64{1}, 0, false},
		{"one scale twice", []float64{2, 2}, []float64{1, 2}, 0, false},
		{"one time above 0", []float64{1, 2}, []float64{0, 2}, 0, false},
		{"nothing", nil, nil, 0, false},
	} {
		// The tolerance allows a few roundings of logarithms.
		if got, ok := bench.Exponent(c.scales, c.seconds); ok != c.ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v %v, want %v %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

func TestGrowth(t *testing.T) {
	at := func(scale float64, method string, propagate, generate float64) bench.Case {
		return bench.Case{
			Size: "arxiv", Scale: scale, Partition: method,
			Steps: []bench.Step{{Name: "propagate", Seconds: propagate}, {Name: "generate", Seconds: generate}},
		}
	}
	got := bench.GrowthOf([]bench.Case{
		at(1, "kmeans", 1, 0), at(1, "spectral", 1, 3), at(2, "kmeans", 2, 0), at(2, "spectral", 4, 3),
	})
	want := []bench.Growth{
		{Size: "arxiv", Partition: "kmeans", Step: "propagate", Exponent: 1},
		{Size: "arxiv", Partition: "spectral", Step: "propagate", Exponent: 2},
		{Size: "arxiv", Partition: "spectral", Step: "generate", Exponent: 0},
	}
	same := func(a, b bench.Growth) bool {
		close := math.Abs(a.Exponent-b.Exponent) < 1e-12
		a.Exponent = b.Exponent
		return close && a == b
	}
	mattest.True(t, slices.EqualFunc(got, want, same), "%v, want %v", got, want)
}

func TestValidate(t *testing.T) {
	for _, name := range bench.Sizes() {
		p := plan()
		p.Sizes = []string{name}
		mattest.OK(t, p.Validate())
		mattest.Must(synth.Like(name))
	}
	for want, change := range map[string]func(*bench.Plan){
		"runs 0, must be at least 1":        func(p *bench.Plan) { p.Runs = 0 },
		`sizes "pubmed", must be some of`:   func(p *bench.Plan) { p.Sizes = []string{"pubmed"} },
		`partition "other", must be one of`: func(p *bench.Plan) { p.Partitions = []string{"other"} },
		"scale -1, must be above 0":         func(p *bench.Plan) { p.Scales = []float64{-1} },
		"scale NaN, must be above 0":        func(p *bench.Plan) { p.Scales = []float64{math.NaN()} },
		"scale 0.001 of cora, must be a":    func(p *bench.Plan) { p.Scales = []float64{0.001} },
		"scale 0.4 of cora: 56 training nodes, must be at least the 70 condensed ones": func(p *bench.Plan) {
			p.Scales = []float64{0.4}
		},
	} {
		p := plan()
		change(&p)
		mattest.WantError(t, p.Validate(), want)
		mattest.Fails(t, want)(bench.Run(context.Background(), p))
	}
}

// TestGraph measures one graph with every partition, and checks that the cases are complete and consistent. The work
// may be missing only for the total condensation and for partitions whose work is unknown.
func TestGraph(t *testing.T) {
	p := plan()
	p.Partitions, p.Runs, p.Train = partition.Names(), 2, true
	p.Peak = func() int64 { return 123 }
	var tables []bench.Table
	p.Measure = func(_ context.Context, t bench.Table, _ float64, _ rand.Source) (bench.Ceilings, error) {
		tables = append(tables, t)
		return bench.Ceilings{Stream: 10, Gather: 20, Compute: 30, Fresh: 40}, nil
	}
	var parts []string
	ctx := progress.With(t.Context(), func(e progress.Event) { parts = append(parts, e.Stage) })
	cases := mattest.Must(p.Graph(ctx, "cora", 1))
	mattest.Says(t, strings.Join(parts, "\n"), "making cora", "condensing cora by spectral: generate")
	mattest.Equal(t, len(tables), len(p.Partitions)*(p.Runs+1), "measurements of the ceilings")
	if len(cases) != len(p.Partitions) {
		t.Fatalf("%d cases of %d partitions", len(cases), len(p.Partitions))
	}
	for i, c := range cases {
		steps := []string{"propagate", "assess", "augment", "partition", "generate", "condense", "new memory"}
		if i == 0 {
			steps = append(steps, "train")
		}
		var names []string
		var least, whole float64
		for _, s := range c.Steps {
			names = append(names, s.Name)
			unknown := s.Name == "condense" || s.Name == "partition" && c.Partition == "random"
			mattest.True(t, (s.Work == nil) == unknown && (s.Seconds > 0) == (s.Name != "new memory"),
				"%s by %s: work %v in %v s", s.Name, c.Partition, s.Work, s.Seconds)
			if s.Name == "condense" {
				whole = s.Seconds
			}
			if s.Work == nil {
				continue
			}
			limit := map[bench.Ceiling]float64{
				bench.Stream: 10, bench.Gather: 20, bench.Compute: 30, bench.Fresh: 40,
			}[s.Ceiling]
			if s.Name != "train" {
				least += s.Amount / limit
			}
			mattest.Equal(t, s.Amount == 0, s.Name == "augment", "%s has nothing to do:", s.Name) // the defaults augment nothing
			if s.Seconds > 0 && math.Abs(s.Share*limit*s.Seconds-s.Amount) > 1e-12*s.Amount {     // rounding of two divisions
				t.Errorf("%s: %v in %v s is %v of %v", s.Name, s.Amount, s.Seconds, s.Share, limit)
			}
		}
		mattest.Equal(t, names, steps, "steps")
		// Within two hops of the training nodes, the synthetic graph has 2,700 nodes or so; features are sparse.
		if at := tables[0]; at.Rows < 140 || at.Rows > 2708 || at.Columns%16 != 0 || at.Degree != 2*5429/2708 {
			t.Errorf("the ceilings are measured with %+v", at)
		}
		// With two runs and equal ceilings, the median of the ratios belongs to the median time.
		mattest.Near(t, c.Least, least, 1e-12*least, "the least time is")
		mattest.Near(t, c.Ratio*least, whole, 1e-12*whole, "the ratio times the least time is")
		mattest.Equal(t, len(c.Ratios), 2, "ratios")
		c.Steps, c.Ratios, c.Least, c.Ratio = nil, nil, 0, 0
		want := bench.Case{
			Size: "cora", Scale: 1, Partition: p.Partitions[i], Nodes: 2708, Edges: 5429, Features: 1433, Classes: 7,
			Train: 140, Condensed: 70, Peak: 123, Ceilings: bench.Ceilings{Stream: 10, Gather: 20, Compute: 30, Fresh: 40},
		}
		mattest.Equal(t, c, want, "case")
	}
}

// TestInterrupt checks that a measurement honours cancellation in each of its parts.
func TestInterrupt(t *testing.T) {
	mattest.Fails(t, "canceled")(bench.Measure(mattest.Cancelled(t), bench.Large, 0.5, rand.NewPCG(0, 0)))
	mattest.Fails(t, "canceled")(bench.Run(mattest.Cancelled(t), plan()))
	for _, at := range []string{"condensing cora by kmeans: assess", "training on condensed cora"} {
		ctx, cancel := context.WithCancel(t.Context())
		p := plan()
		p.Train = true
		ctx = progress.With(ctx, func(e progress.Event) {
			if e.Stage == at {
				cancel()
			}
		})
		if _, err := p.Graph(ctx, "cora", 1); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", at, err)
		}
		cancel()
	}
}

func TestCombine(t *testing.T) {
	all := []condense.Seconds{
		{Steps: []condense.Step{{Name: "a", Seconds: 1}, {Name: "b", Seconds: 10}}, Total: 12},
		{Steps: []condense.Step{{Name: "b", Seconds: 30}, {Name: "a", Seconds: 2}}, Total: 34},
		{Steps: []condense.Step{{Name: "a", Seconds: 6}}, Total: 8},
	}
	for _, c := range []struct {
		of   []condense.Seconds
		want condense.Seconds
	}{
		{all, condense.Seconds{Steps: []condense.Step{{Name: "a", Seconds: 2}, {Name: "b", Seconds: 10}}, Total: 12}},
		{all[:2], condense.Seconds{Steps: []condense.Step{{Name: "a", Seconds: 1.5}, {Name: "b", Seconds: 20}}, Total: 23}},
	} {
		mattest.Equal(t, bench.Medians(c.of), c.want, "medians")
	}
	mattest.Equal(t, bench.Combine(nil, slices.Max[[]float64]), condense.Seconds{}, "of none:")
}

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
			{Name: "new memory", Work: &bench.Work{Amount: 0.0472, Ceiling: bench.Fresh}},
		},
		Ceilings: bench.Ceilings{Stream: 45.67, Gather: 9.876, Compute: 321.9, Fresh: 5.5},
		Least:    1.5443, Ratio: 8.03, Ratios: []float64{8.5, 8.03, 7.9},
		Peak: 504_000_000,
	}
}

func TestDocument(t *testing.T) {
	one := &bench.Result{
		Kernel: "avx2", Threads: 1, Runs: 1,
		Cases: []bench.Case{measured(1, 0.0625, "kmeans")},
	}
	one.Cases[0].Peak, one.Cases[0].Ratios = 0, one.Cases[0].Ratios[:1]
	grown := &bench.Result{
		Kernel: "avx512", Threads: 2, Runs: 3,
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
		golden.Compare(t, "testdata/"+name+".txt", []byte(r.Document().String()))
	}
}

// TestPeer checks that the Python program that cgc is compared with computes the same result. If every training node is
// a condensed node, nothing is random, so both programs must find the same edges.
func TestPeer(t *testing.T) {
	slow.Test(t, "starts Python with PyTorch")
	const python = "/usr/bin/python3" // Debian's Python, for which Debian packages the modules
	const find = "import importlib.util as i, sys; sys.exit(not all(map(i.find_spec, ('torch', 'faiss', 'sklearn'))))"
	if err := exec.Command(python, "-c", find).Run(); err != nil {
		t.Skip("Debian's python3-torch, python3-faiss and python3-sklearn are not all installed")
	}
	g := synth.Demo()
	path := filepath.Join(t.TempDir(), "demo.safetensors")
	mattest.OK(t, native.Format.Write(t.Context(), path, g))
	config := cgc.Defaults()
	config.Nodes, config.Threshold, config.Degree = len(g.Split.Train), 0.4, 0
	small := mattest.Must(cgc.Condense(t.Context(), g, config))
	out := mattest.Must(exec.Command(python, "peer/condense.py", path, "--nodes=140", "--threshold=0.4").Output())
	var got struct {
		Nodes, Edges int
		Seconds      map[string]float64
	}
	mattest.OK(t, json.Unmarshal(out, &got))
	if want := small.Adj.NNZ() / 2; got.Nodes != 140 || got.Edges != want || want == 0 {
		t.Errorf("%d nodes, %d edges, want 140 and %d", got.Nodes, got.Edges, want)
	}
	mattest.True(t, got.Seconds["condense"] >= got.Seconds["propagate"], "seconds are %v", got.Seconds)
}

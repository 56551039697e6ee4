package paper_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/progress"
)

// scripted is a method that calls condense.
type scripted struct {
	cgc.Config
	name     string
	condense func(context.Context, *graph.Graph, int, uint64) (*condense.Condensed, error)
}

func (s scripted) Name() string { return s.name }

func (s scripted) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return s.condense(ctx, g, nodes, seed)
}

// board returns a board with a synthetic clock and five methods: cgc, which appends its number of threads to threads,
// one with half an hour of experts before fast epochs, two that do not end, and one that fails. One of the two that do
// not end reports progress only in its first step.
func board(t *testing.T, unmeasured string, threads *[]int) *paper.Board {
	t.Helper()
	un := mattest.Must(paper.OpenUnmeasured(unmeasured))
	config := cgc.Defaults()
	var clock atomic.Int64 // seconds
	return &paper.Board{
		Name: "tiny", Graph: tiny(t, "tiny"), Models: []gnn.Model{gnn.SGC()}, Seeds: 3, Whole: 1, Limit: time.Hour,
		Methods: []condense.Method{
			scripted{config, paper.Ours,
				func(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
					*threads = append(*threads, runtime.GOMAXPROCS(0))
					clock.Add(1)
					return config.Condense(ctx, g, nodes, seed)
				}},
			scripted{config, "experts",
				func(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
					progress.Report(ctx, progress.Event{Stage: "experts"})
					clock.Add(1800)
					progress.Report(ctx, progress.Event{Stage: "experts", Done: 1, Total: 1})
					for epoch := range int64(100) {
						clock.Add(10)
						progress.Report(ctx, progress.Event{Stage: "learning", Done: epoch + 1, Total: 100})
					}
					return config.Condense(ctx, g, nodes, seed)
				}},
			scripted{config, "endless",
				func(ctx context.Context, _ *graph.Graph, _ int, _ uint64) (*condense.Condensed, error) {
					for ctx.Err() == nil {
						clock.Add(60)
						progress.Report(ctx, progress.Event{Stage: "learning", Done: 1, Total: 1 << 40})
					}
					return nil, ctx.Err()
				}},
			scripted{config, "silent",
				func(ctx context.Context, _ *graph.Graph, _ int, _ uint64) (*condense.Condensed, error) {
					clock.Add(60)
					progress.Report(ctx, progress.Event{Stage: "propagating", Done: 1, Total: 1})
					clock.Add(2 * 3600)
					<-ctx.Done()
					return nil, ctx.Err()
				}},
			scripted{config, "failing",
				func(context.Context, *graph.Graph, int, uint64) (*condense.Condensed, error) {
					return nil, errors.New("too many classes")
				}},
		},
		Log: newLog(t), Unmeasured: un, ResetPeak: func() {}, Peak: func() int64 { return 7 },
		Processor: func() float64 { return float64(clock.Load()) }, Note: func(string) {},
	}
}

func TestBoard(t *testing.T) {
	slow.Test(t, "trains about a hundred times")
	var threads []int
	unmeasured := filepath.Join(t.TempDir(), "unmeasured.jsonl")
	b := board(t, unmeasured, &threads)
	b.Methods = b.Methods[1:]
	mattest.OK(t, b.Run(t.Context()))
	all := board(t, unmeasured, &threads)
	b.Methods, b.Processor = all.Methods, all.Processor
	mattest.OK(t, b.Run(t.Context())) // does not retry condensations that did not end
	mattest.Equal(t, slices.Compact(slices.Clone(threads)), []int{1}, "threads of the condensations:")
	records := b.Log.Records()
	trainings := map[string]int{}
	for _, r := range records {
		trainings[r.Arm]++
		if r.Arm != experiment.Whole && (r.Peak != 7 || r.Arm == paper.Ours && r.Processor != 1) {
			t.Errorf("peak %d and %g s, must be those of the condensation", r.Peak, r.Processor)
		}
	}
	// Each of three sizes has four configurations with two seeds, and the best one with a third. What too slower than a
	// minute is measured at one size.
	want := map[string]int{paper.PublishedName: 27, paper.Ours: 27, "experts": 9, experiment.Whole: 4}
	mattest.Equal(t, trainings, want, "trainings")
	reasons := map[string]string{}
	for _, u := range b.Unmeasured.All() {
		reasons[u.Arm] += u.Error()
	}
	if !strings.HasPrefix(reasons["endless"], "takes more than 1h0m0s on one core: about ") ||
		reasons["silent"] != "takes more than 1h0m0s on one core" || reasons["failing"] != "too many classes" {
		t.Errorf("reasons: %q", reasons)
	}
	reopened := mattest.Must(paper.OpenUnmeasured(unmeasured)).All()
	mattest.True(t, len(reopened) == 3, "reopened: %v", reopened)
	before := len(threads)
	if err := b.Run(t.Context()); err != nil || len(threads) != before || len(b.Log.Records()) != len(records) {
		t.Errorf("a second run condensed or trained again: %v", err)
	}
}

func TestBoardStops(t *testing.T) {
	var threads []int
	b := board(t, filepath.Join(t.TempDir(), "unmeasured.jsonl"), &threads)
	if err := b.Run(mattest.Cancelled(t)); !errors.Is(err, context.Canceled) || len(b.Unmeasured.All()) > 0 {
		t.Errorf("%v, unmeasured: %v", err, b.Unmeasured.All())
	}
}

// record returns a record of a method with the given accuracies.
func record(arm string, seed uint64, dropout, val, test float64) experiment.Record {
	training := gnn.Defaults()
	training.Dropout = dropout
	return experiment.Record{
		Arm: arm, Config: []byte(`{"method":"` + arm + `"}`), Model: "gcn", Training: training, Seed: seed,
		TrainingSeed: seed, Nodes: 10, Val: val, Test: test,
		Graph: graph.Identity{Name: "tiny", Fingerprint: "1", Features: 3},
	}
}

func TestStandings(t *testing.T) {
	var records []experiment.Record
	for seed := range uint64(3) {
		shift := float64(seed) / 10
		records = append(records,
			record(paper.Ours, seed, 0.5, 80+shift, 70+shift),
			record(paper.Ours, seed, 0, 79, 90), // the better test accuracy must not count
			record("above", seed, 0, 50, 72+1.01*shift), record("below", seed, 0, 50, 60+0.99*shift),
			record("alike", seed, 0, 50, 70+shift*shift*20),
			record("vn-classwise", seed, 0, 50, 80+1.02*shift)) // a condense.Altered, which does not count
	}
	s := paper.NewStandings(records, []paper.Unmeasured{{Arm: "endless"}}, nil)
	verdicts := map[string]string{}
	for _, p := range s.Places {
		switch {
		case p.Arm == paper.Ours && p.Test.Mean > 80:
			t.Errorf("%s has a test accuracy of %g: chosen by test nodes", p.Arm, p.Test.Mean)
		case !p.Significant:
			verdicts[p.Arm] = "equal"
		case p.Against.Difference.Mean > 0:
			verdicts[p.Arm] = "better"
		default:
			verdicts[p.Arm] = "worse"
		}
		mattest.Equal(t, p.Bytes(), 4.0*10*4, "bytes:")
	}
	for arm, want := range map[string]string{
		"above": "better", "below": "worse", "alike": "equal", "vn-classwise": "equal",
	} {
		mattest.Equal(t, verdicts[arm], want, "%s is", arm)
	}
	mattest.Says(t, s.Document().String(), "Not compared: vn-classwise (no merging")
	rows := s.Losses().Rows
	mattest.True(t, len(rows) == 1 && rows[0][3].Text == "above", "losses: %v", rows)
	all, better, worse := s.Compared()
	mattest.Equal(t, [...]int{all, better, worse}, [...]int{3, 1, 1}, "comparisons, better and worse:")
	all, better, worse = s.Compared("above", "none")
	mattest.Equal(t, [...]int{all, better, worse}, [...]int{1, 0, 1}, "comparisons with above, better and worse:")
	for _, rest := range [][]experiment.Record{records, slices.DeleteFunc(slices.Clone(records),
		func(r experiment.Record) bool { return r.Arm == paper.Ours })} {
		compared := strings.Contains(paper.NewStandings(rest, nil, nil).Document().String(), "than "+paper.Ours)
		mattest.Equal(t, compared, len(rest) == len(records), "%d of %d records: compares:", len(rest), len(records))
	}
}

// TestRanking checks the tables of a document and the lines of the file, for two sizes, two models and a full graph.
func TestRanking(t *testing.T) {
	var records []experiment.Record
	add := func(arm, model string, nodes int, seed uint64, test float64) {
		r := record(arm, seed, 0.5, 80, test)
		r.Model, r.Nodes, r.Processor, r.Peak, r.TrainingSeconds = model, nodes, 3, 2e6, 1
		if arm == experiment.Whole {
			r.Config, r.TrainingSeconds = nil, 2
		}
		records = append(records, r)
	}
	for seed := range uint64(2) {
		shift := float64(seed)
		add("below", "gcn", 10, seed, 60+shift*1.001)
		add("below", "gcn", 20, seed, 58+shift*1.001)
		add(paper.Ours, "gcn", 10, seed, 70+shift)
		add(paper.Ours, "gcn", 20, seed, 71+shift)
		add("above", "gcn", 20, seed, 74+2*shift)
		add("below", "sgc", 20, seed, 90)
		add(experiment.Whole, "gcn", 2000, seed, 72+shift)
	}
	add("alone", "gcn", 20, 0, 75)
	failed := paper.Unmeasured{Graph: records[0].Graph, Arm: "endless", Nodes: 20, Reason: "too slow", Needs: 120}
	s := paper.NewStandings(records, []paper.Unmeasured{failed}, []string{"tiny"})
	texts := func(table *report.Table) (rows []string) {
		for _, row := range table.Rows {
			var cells []string
			for _, c := range row {
				cells = append(cells, c.Text)
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		return rows
	}
	mattest.Equal(t, texts(s.Accuracies()), []string{"alone|75.0|1|0|0|+4.0", "above|75.0 ± 1.4|1|0|0|+3.5",
		"auto|71.5 ± 0.7", "below|58.5 ± 0.7 ▽|2|0|2|−11.5", "endless|failed", "full graph|72.5 ± 0.7"}, "accuracies")
	mattest.Equal(t, texts(s.Costs())[3:], []string{"below|3.0|2|3", "endless|–|–|–"}, "costs")
	var file strings.Builder
	mattest.OK(t, s.WriteCSV(&file))
	lines := strings.Split(file.String(), "\n")
	mattest.Equal(t, lines[1:], []string{
		"tiny,true,gcn,10,auto,2,70.5,0.7071,,,,,3,2000000,160,1,3,,,,",
		"tiny,true,gcn,10,below,2,60.5005,0.7078,2,-9.9995,0.0064,worse,3,2000000,160,1,3,,,,",
		"tiny,true,gcn,20,above,2,75,1.4142,2,3.5,6.3531,neither,3,2000000,320,1,3,,,,",
		"tiny,true,gcn,20,alone,1,75,,1,4,,neither,3,2000000,320,1,3,,,,",
		"tiny,true,gcn,20,auto,2,71.5,0.7071,,,,,3,2000000,320,1,3,,,,",
		"tiny,true,gcn,20,below,2,58.5005,0.7078,2,-12.9995,0.0064,worse,3,2000000,320,1,3,,,,",
		"tiny,true,gcn,2000,full graph,2,72.5,0.7071,,,,,,,,2,,,,,",
		"tiny,true,sgc,20,below,2,90,0,,,,,3,2000000,320,1,,,,,",
		"tiny,true,,20,endless,,,,,,,,,,,,,,,,too slow: about 2 minutes", "",
	}, "lines")
}

// TestCosts checks that each condensation counts once, and only for the model that was trained on it.
func TestCosts(t *testing.T) {
	var records []experiment.Record
	for _, c := range []struct {
		model     string
		seed      uint64
		dropout   float64
		processor float64
		peak      int64
	}{
		{"gcn", 0, 0.5, 1, 10}, {"gcn", 0, 0, 1, 10}, {"gcn", 1, 0.5, 2, 10}, {"gcn", 1, 0, 2, 10}, {"gcn", 2, 0.5, 6, 10},
		{"sgc", 0, 0.5, 100, 99},
	} {
		r := record(paper.Ours, c.seed, c.dropout, 80, 70)
		r.Model, r.Processor, r.Peak = c.model, c.processor, c.peak
		records = append(records, r)
	}
	places := paper.NewStandings(records, nil, nil).Places
	if p := places[0]; p.Model != "gcn" || p.Processor != 3 || p.Peak != 10 {
		t.Errorf("%s: %g s and %d bytes, must be 3 and 10", p.Model, p.Processor, p.Peak)
	}
}

// TestPValue checks a p-value against a table of Student's t, and that equal differences are no evidence.
func TestPValue(t *testing.T) {
	for want, d := range map[float64]experiment.Estimate{
		0.05: {Mean: -4.302653, Std: math.Sqrt(3)}, // 4.302653 is the 97.5% quantile for two degrees of freedom
		1:    {Mean: 5},
	} {
		mattest.Near(t, paper.PValue(experiment.Comparison{Seeds: 3, Difference: d}), want, 1e-6, "%+v: p is", d)
	}
}

// TestHolm compares the procedure with an example that is computed by hand.
func TestHolm(t *testing.T) {
	for want, pValues := range map[float64][]float64{
		0.01: {0.04, 0.01, 0.02, 0.9, 0.001}, // the bounds are 0.01, 0.0125, 0.0167, 0.025 and 0.05
		-1:   {0.03, 0.04},
		0.05: {0.05},
	} {
		mattest.Equal(t, paper.Holm(pValues), want, "%v:", pValues)
	}
}

package experiment_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// near compares numbers that were rounded to six digits.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	mattest.Near(t, got, want, 2e-6*max(1, math.Abs(want)), "%s:", what)
}

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		values         []float64
		mean, std, t95 float64 // Student's t at 0.975, from tables
	}{
		{[]float64{80}, 80, 0, 0},
		{[]float64{80, 82}, 81, math.Sqrt2, 12.706205},
		{[]float64{80, 81, 82}, 81, 1, 4.302653},
		{[]float64{80, 81, 82, 83, 84}, 82, math.Sqrt(2.5), 2.776445},
		{[]float64{7, 7, 7, 7}, 7, 0, 3.182446},
	} {
		e := experiment.EstimateOf(c.values)
		near(t, "mean", e.Mean, c.mean)
		near(t, "standard deviation", e.Std, c.std)
		near(t, "interval", e.CI95, c.t95*c.std/math.Sqrt(float64(len(c.values))))
	}
}

// trained returns records of one arm: tests[s][j] is the accuracy of training j on the condensed graph of seed from+s.
func trained(arm string, from uint64, tests ...[]float64) (records []experiment.Record) {
	for s, list := range tests {
		for j, test := range list {
			seed := from + uint64(s)
			records = append(records, experiment.Record{
				Graph: graph.Identity{Name: "g", Fingerprint: "f"}, Arm: arm, Config: written(cgc.Defaults(), 10, seed),
				Model: "gcn", Nodes: 10, Edges: s, Seed: seed, TrainingSeed: seed + 1000*uint64(j), Test: test, Val: test - 1,
				TrainingSeconds: 2, Seconds: condense.Seconds{Total: float64(s)},
			})
		}
	}
	return records
}

// TestSummaryIsOverCondensationSeeds checks that the unit is the condensation seed: seeds 0, 1 and 2 have the means 81,
// 84 and 81, for any number of training runs.
func TestSummaryIsOverCondensationSeeds(t *testing.T) {
	records := trained("a", 0, []float64{80, 82}, []float64{83, 84, 85}, []float64{81})
	all := experiment.Summarize(records)
	if len(all) != 1 {
		t.Fatalf("%d summaries, want 1", len(all))
	}
	s := all[0]
	near(t, "mean", s.Test.Mean, 82)
	near(t, "standard deviation", s.Test.Std, math.Sqrt(3))
	near(t, "interval", s.Test.CI95, 4.302653)
	near(t, "validation", s.Val.Mean, 81)
	// The sum of squared differences from the seeds' means, divided by 6 training runs − 3 seeds.
	near(t, "within", s.Within, math.Sqrt((1+1+1+0+1)/3.))
	near(t, "edges", s.Edges, 1)
	near(t, "condensation", s.Condense, 1)
	near(t, "training", s.Train, 2)
	want := []experiment.SeedMean{
		{Seed: 0, Trainings: 2, Val: 80, Test: 81}, {Seed: 1, Trainings: 3, Val: 83, Test: 84},
		{Seed: 2, Trainings: 1, Val: 80, Test: 81},
	}
	mattest.Equal(t, s.Seeds, want, "seeds")
	for i := range records {
		records[i].Metrics.Balanced = float64(60 + i)
	}
	near(t, "balanced accuracy", experiment.Summarize(records)[0].Metrics.Balanced, (60.5+63+65)/3)
	records[1].Metrics = gnn.Metrics{} // as in a log of an older version
	mattest.Equal(t, experiment.Summarize(records)[0].Metrics, gnn.Metrics{}, "metrics that one record lacks")
}

// TestSummariesDoNotDependOnOrder checks that the order of the records only changes the order of the summaries.
func TestSummariesDoNotDependOnOrder(t *testing.T) {
	records := append(trained("a", 0, []float64{80.1, 82.7}, []float64{83.3, 84.9}),
		trained("b", 0, []float64{79.7}, []float64{78.2})...)
	want := experiment.Summarize(records)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		got := experiment.Summarize(records)
		if got[0].Arm == "b" {
			got[0], got[1] = got[1], got[0]
		}
		for i := range got {
			got[i].Config = want[i].Config // the configuration of the first seed, which varies
			mattest.Equal(t, got[i], want[i], "summary")
		}
	}
}

// TestSummariesKeepApart checks that records get separate summaries if they differ in more than their seeds, including
// on the full graph, where the unit is the training run.
func TestSummariesKeepApart(t *testing.T) {
	base := trained("a", 0, []float64{80}, []float64{81})
	records := base
	for _, change := range []func(r *experiment.Record){
		func(r *experiment.Record) { r.Arm = "b" },
		func(r *experiment.Record) { r.Graph.Fingerprint = "other" },
		func(r *experiment.Record) { r.Model = "sgc" },
		func(r *experiment.Record) { r.Training.Epochs = 7 },
		func(r *experiment.Record) { r.Nodes = 11 },
		func(r *experiment.Record) {
			c := cgc.Defaults()
			c.Alpha = 3
			r.Config = written(c, 10, r.Seed)
		},
		func(r *experiment.Record) { r.Inductive = true },
		func(r *experiment.Record) { r.Arm, r.Config, r.Seed = experiment.Whole, nil, 0 },
	} {
		for _, r := range base {
			change(&r)
			records = append(records, r)
		}
	}
	all := experiment.Summarize(records)
	if len(all) != 9 {
		t.Fatalf("%d summaries, want 9", len(all))
	}
	for _, s := range all {
		if len(s.Seeds) != 2 || s.Test.Mean != 80.5 || s.Within != 0 {
			t.Errorf("%+v, want 2 seeds of mean 80.5", s)
		}
	}
	if !all[8].IsWhole() || all[0].IsWhole() {
		t.Error("the full graph is not told from the others")
	}
	// Arm b, the other training configuration and the other α are compared with the first arm. The other summaries have
	// another graph, model or size, or are tested in the inductive setting.
	mattest.Equal(t, len(experiment.Comparisons(all)), 3, "comparisons")
}

func TestCompareIsPaired(t *testing.T) {
	one := func(records []experiment.Record) experiment.Summary { return experiment.Summarize(records)[0] }
	// Seeds differ by 10 points, and arms by about 1. Only a paired comparison detects that.
	base := one(trained("base", 0, []float64{60}, []float64{70}, []float64{80}, []float64{90}))
	for _, c := range []struct {
		name           string
		a              []experiment.Record
		seeds          int
		mean, std, t95 float64
		verdict        string
	}{
		{
			"better", trained("a", 0, []float64{61}, []float64{71.2}, []float64{80.8}, []float64{91}),
			4, 1, 0.163299, 3.182446, experiment.Better,
		},
		{
			"worse", trained("a", 0, []float64{59}, []float64{68.8}, []float64{79.2}, []float64{89}),
			4, -1, 0.163299, 3.182446, experiment.Worse,
		},
		{
			"neither", trained("a", 0, []float64{61}, []float64{69}, []float64{82}, []float64{90}),
			4, 0.5, 1.290994, 3.182446, "",
		},
		{"itself", trained("a", 0, []float64{60}, []float64{70}, []float64{80}, []float64{90}), 4, 0, 0, 3.182446, ""},
		{
			"seeds in common", trained("a", 2, []float64{82}, []float64{93}, []float64{0}),
			2, 2.5, math.Sqrt(0.5), 12.706205, "",
		},
		{ // every difference is 1.1, up to the rounding of float64
			"no spread", trained("a", 0, []float64{61.1}, []float64{71.1}, []float64{81.1}, []float64{91.1}),
			4, 1.1, 0, 3.182446, "",
		},
		{"one seed", trained("a", 3, []float64{99}), 1, 9, 0, 0, ""},
		{"no seed", trained("a", 4, []float64{99}), 0, 0, 0, 0, ""},
	} {
		got := experiment.Compare(one(c.a), base)
		of := experiment.Comparison{
			Graph: "g", Fingerprint: "f", Nodes: 10, Model: "gcn", Arm: "a", Base: "base", Seeds: c.seeds,
			Difference: got.Difference, Verdict: c.verdict,
		}
		mattest.Equal(t, got, of, "%s:", c.name)
		near(t, c.name+": mean", got.Difference.Mean, c.mean)
		near(t, c.name+": standard deviation", got.Difference.Std, c.std)
		near(t, c.name+": interval", got.Difference.CI95, c.t95*c.std/math.Sqrt(max(1, float64(c.seeds))))
		back := experiment.Compare(base, one(c.a))
		near(t, c.name+": the other way round", back.Difference.Mean, -c.mean)
	}
}

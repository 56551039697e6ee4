package experiment

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
)

// Estimate is a mean over seeds and its uncertainty.
type Estimate struct {
	// Mean averages the training runs of each seed first, and then the seeds. Std is the standard deviation over the
	// seeds, with n−1 in the denominator; 0 for one seed.
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
	// CI95 is half the width of the 95% confidence interval of the mean, t·Std/√n, with Student's t of n−1 degrees of
	// freedom; 0 for one seed.
	CI95 float64 `json:"ci95"`
}

// EstimateOf returns the Estimate of values, one for each seed.
func EstimateOf(values []float64) (e Estimate) {
	e.Mean, e.Std = meanStd(values)
	if n := float64(len(values)); n > 1 {
		e.CI95 = distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * e.Std / math.Sqrt(n)
	}
	return e
}

// meanStd returns the mean and the standard deviation of values; see Estimate.
func meanStd(values []float64) (mean, std float64) {
	if len(values) < 2 {
		return stat.Mean(values, nil), 0
	}
	return stat.MeanStdDev(values, nil)
}

// Summary is the outcome of one arm at one size, for one model on one graph. The unit is the condensation seed: the
// training runs on one condensed graph are averaged first. On the full graph the unit is the training run.
type Summary struct {
	Graph graph.Identity `json:"graph"`
	// Arm, Method, Nodes (N′) and Model are as in the records. Edges is the mean over the seeds.
	Arm    string  `json:"arm"`
	Method string  `json:"method"`
	Nodes  int     `json:"nodes"`
	Edges  float64 `json:"edges"`
	Model  string  `json:"model"`
	// Setting is as in the records. Its fields are keys of the summary.
	condense.Setting
	// Config is the configuration of the first seed; absent for the full graph. Training says how models were trained.
	Config   json.RawMessage `json:"config,omitempty"`
	Training gnn.Config      `json:"training"`
	// Val and Test are accuracies in percent.
	Val  Estimate `json:"val"`
	Test Estimate `json:"test"`
	// Metrics holds the mean of each metric; absent unless all records have metrics.
	Metrics gnn.Metrics `json:"metrics,omitzero"`
	// Within is the standard deviation of the test accuracy over training runs on one condensed graph, pooled over the
	// condensation seeds; 0 if there is one run on each.
	Within float64 `json:"within"`
	// Condense and Train are the mean times, in seconds, of one condensation and of one training run.
	Condense float64 `json:"condense_seconds"`
	Train    float64 `json:"train_seconds"`
	// Seeds holds the means over the training runs of each seed, in ascending order of seed.
	Seeds []SeedMean `json:"seeds"`
}

// SeedMean holds means over the training runs of one seed.
type SeedMean struct {
	// Seed is the condensation seed; on the full graph, the training seed.
	Seed      uint64  `json:"seed"`
	Trainings int     `json:"trainings"`
	Val       float64 `json:"val"`
	Test      float64 `json:"test"`
}

// IsWhole reports whether the models were trained on the full graph.
func (s Summary) IsWhole() bool { return s.Method == Whole }

// Summarize groups the records that differ only in their seeds, and returns a summary of each group, in the order of
// their first records. Records of different graphs, configurations or training configurations are never mixed.
func Summarize(records []Record) []Summary {
	groups := map[string][]Record{}
	var order []string
	for _, r := range records {
		name := r.group()
		if groups[name] == nil {
			order = append(order, name)
		}
		groups[name] = append(groups[name], r)
	}
	summaries := make([]Summary, len(order))
	for i, name := range order {
		summaries[i] = summarize(groups[name])
	}
	return summaries
}

// summarize returns the summary of records of one group.
func summarize(records []Record) Summary {
	r := records[0]
	s := Summary{
		Graph: r.Graph, Arm: r.Arm, Method: r.Method(), Nodes: r.Nodes, Model: r.Model,
		Setting: r.Setting, Config: r.Config, Training: r.Training,
	}
	bySeed := map[uint64][]Record{}
	for _, r := range records {
		seed := r.Seed
		if r.isWhole() {
			seed = r.TrainingSeed
		}
		bySeed[seed] = append(bySeed[seed], r)
		s.Train += r.TrainingSeconds / float64(len(records))
	}
	var squares float64 // of the differences from the seed's mean
	for seed, list := range bySeed {
		m := SeedMean{Seed: seed, Trainings: len(list)}
		// Sums must not depend on the order of records in a log.
		slices.SortFunc(list, func(a, b Record) int { return cmp.Compare(a.TrainingSeed, b.TrainingSeed) })
		for _, r := range list {
			m.Val += r.Val / float64(len(list))
			m.Test += r.Test / float64(len(list))
		}
		s.Seeds = append(s.Seeds, m)
	}
	slices.SortFunc(s.Seeds, func(a, b SeedMean) int { return cmp.Compare(a.Seed, b.Seed) })
	var val, test []float64
	for _, m := range s.Seeds {
		val, test = append(val, m.Val), append(test, m.Test)
		first := bySeed[m.Seed][0]
		s.Edges += float64(first.Edges) / float64(len(s.Seeds))
		s.Condense += first.Seconds.Total / float64(len(s.Seeds))
		for _, r := range bySeed[m.Seed] {
			squares += (r.Test - m.Test) * (r.Test - m.Test)
			addMetrics(&s.Metrics, r.Metrics, 1/float64(len(s.Seeds)*m.Trainings))
		}
	}
	s.Val, s.Test = EstimateOf(val), EstimateOf(test)
	if slices.ContainsFunc(records, func(r Record) bool { return r.Metrics == gnn.Metrics{} }) {
		s.Metrics = gnn.Metrics{}
	}
	if more := len(records) - len(s.Seeds); more > 0 {
		s.Within = math.Sqrt(squares / float64(more))
	}
	return s
}

// Comparison is the paired difference of two arms in test accuracy, over their common seeds.
type Comparison struct {
	// Graph and Fingerprint are as in the records.
	Graph       string `json:"graph"`
	Fingerprint string `json:"fingerprint"`
	// Nodes is N′, and Model is the name of the model.
	Nodes int    `json:"nodes"`
	Model string `json:"model"`
	// Arm is compared with Base.
	Arm  string `json:"arm"`
	Base string `json:"base"`
	// Seeds is the number of common seeds. If it is 0, there is nothing to compare.
	Seeds int `json:"seeds"`
	// Difference is the test accuracy of Arm minus the test accuracy of Base, in points.
	Difference Estimate `json:"difference"`
	// Verdict is "better" or "worse" if Seeds > 1 and the 95% confidence interval excludes 0, else empty. It is also empty
	// if the difference is the same for all seeds: such an interval has no width.
	Verdict string `json:"verdict"`
}

// Better and Worse are the verdicts of a Comparison. If two arms do not differ, one comparison in twenty still has a
// verdict by chance.
const (
	Better = "better"
	Worse  = "worse"
)

// Compare compares a with base, seed by seed.
func Compare(a, base Summary) Comparison {
	c := Comparison{
		Graph: a.Graph.Name, Fingerprint: a.Graph.Fingerprint, Nodes: a.Nodes, Model: a.Model, Arm: a.Arm, Base: base.Arm,
	}
	var differences []float64
	for _, m := range a.Seeds {
		if at := slices.IndexFunc(base.Seeds, func(b SeedMean) bool { return b.Seed == m.Seed }); at >= 0 {
			differences = append(differences, m.Test-base.Seeds[at].Test)
		}
	}
	if c.Seeds = len(differences); c.Seeds == 0 {
		return c
	}
	c.Difference = EstimateOf(differences)
	const rounding = 1e-9 // far below the accuracy of one test node, in points
	switch d := c.Difference; {
	case c.Seeds < 2 || d.Std < rounding:
	case d.Mean-d.CI95 > 0:
		c.Verdict = Better
	case d.Mean+d.CI95 < 0:
		c.Verdict = Worse
	}
	return c
}

// Comparisons compares every arm with the first arm on the same graph, with the same size N′, model and setting
// (inductive or transductive). The full graph is left out.
func Comparisons(summaries []Summary) (all []Comparison) {
	type place struct {
		graph, model string
		nodes        int
		inductive    bool
		causal       bool
	}
	first := map[place]Summary{}
	for _, s := range summaries {
		if s.IsWhole() {
			continue
		}
		p := place{s.Graph.Fingerprint, s.Model, s.Nodes, s.Inductive, s.Causal}
		base, is := first[p]
		if !is {
			first[p] = s
			continue
		}
		all = append(all, Compare(s, base))
	}
	return all
}

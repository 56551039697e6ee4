package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/training"
	"github.com/graph-condensation/cgc/progress"
)

// Finalist is a candidate that was trained on the original graph.
type Finalist struct {
	Trial
	// WholeVal and WholeTest are the validation and test accuracies after training on the original graph, in percent; 0 if
	// that run diverged.
	WholeVal  float64 `json:"whole_val"`
	WholeTest float64 `json:"whole_test"`
	// Metrics describes the predictions for the test nodes in more detail than WholeTest; absent in records that were made
	// without it.
	Metrics gnn.Metrics `json:"metrics,omitzero"`
	// Seconds is the time of that run, divided by the number of runs at the same time; 0 if it diverged.
	Seconds float64 `json:"seconds"`
}

// finalists returns the n trials to confirm, given sorted trials: the best of each model, then the second best of each,
// and so on. Variants of a model count as one model. On a condensed graph, the best runs of different models are closer
// than on the original graph.
func finalists(trials []Trial, n int) []Trial {
	seen, place := map[string]int{}, map[Candidate]int{}
	for _, t := range trials {
		model, _, _ := strings.Cut(t.Model, ":")
		place[t.Candidate] = seen[model]
		seen[model]++
	}
	chosen := slices.Clone(trials)
	slices.SortStableFunc(chosen, func(a, b Trial) int { return cmp.Compare(place[a.Candidate], place[b.Candidate]) })
	return chosen[:min(n, len(chosen))]
}

// alone is the number of nodes above which one training run on the original graph keeps all threads busy. Below it,
// several runs at the same time take less time, and more memory: with a memory limit, runs go one after the other.
const alone = 20_000

// confirm trains each trial on the original graph. A training run that diverges has accuracies of 0. It is not logged,
// because a Grid with the same log would count it as a result.
func (s Search) confirm(
	ctx context.Context, trials []Trial, small *condense.Condensed, g *graph.Graph,
) ([]Finalist, error) {
	finalists := make([]Finalist, len(trials))
	if len(trials) == 0 {
		return finalists, nil // JSON has an empty list
	}
	if err := g.NeedTest(); err != nil {
		return nil, err
	}
	distinct, same := unweighted(trials)
	var models []string
	hidden := 1
	for _, f := range distinct {
		models, hidden = append(models, f.Model), max(hidden, f.Training.Hidden)
	}
	target, err := s.target(ctx, small, g, models, hidden)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	w := whole{target: target, sample: target.Sample(), setting: small.Setting(), nodes: g.Nodes(), edges: g.Edges()}
	w.together = min(len(distinct), runtime.GOMAXPROCS(0))
	chunk := 1
	if g.Nodes() > alone || s.Memory > 0 || target.Streams() {
		w.together, chunk = 1, len(distinct)
	}
	const stage = "training on the full graph" // which may take minutes
	progress.Report(ctx, progress.Event{Stage: stage, Total: int64(len(distinct))})
	count := progress.NewCounter(0, len(distinct))
	err = parallel.Try(ctx, len(distinct), chunk, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			if err := s.logged(ctx, &distinct[i], w); err != nil && !errors.Is(err, gnn.ErrDiverged) {
				return err
			}
			count.Add(ctx, stage)
		}
		return ctx.Err()
	})
	for i, trial := range trials {
		finalists[i] = distinct[same[i]]
		finalists[i].Trial = trial
	}
	return finalists, err
}

// unweighted returns the training runs on the original graph that the trials need, and the index of the run of each
// trial. Nodes of the original graph have no weights, so trials that differ only in Weighted share a run.
func unweighted(trials []Trial) (distinct []Finalist, same []int) {
	known := map[Candidate]int{}
	for _, trial := range trials {
		trial.Training.Weighted = false
		at, is := known[trial.Candidate]
		if !is {
			at = len(distinct)
			known[trial.Candidate], distinct = at, append(distinct, Finalist{Trial: trial})
		}
		same = append(same, at)
	}
	return distinct, same
}

// whole is the original graph, for training. together is the number of training runs at the same time.
type whole struct {
	target       *gnn.Target
	sample       *gnn.Sample
	setting      condense.Setting
	nodes, edges int
	together     int
}

// logged trains f, which is not weighted, unless the log has the training run.
func (s Search) logged(ctx context.Context, f *Finalist, w whole) error {
	r := experiment.Record{
		Version: 1, Arm: experiment.Whole, Graph: s.Graph, Setting: w.setting, Model: f.Model, Training: f.Training,
		TrainingSeed: s.Seed, Nodes: w.nodes, Edges: w.edges, Build: experiment.ThisBuild(),
	}
	if s.Log != nil {
		for _, known := range s.Log.Records() {
			if known.Arm == experiment.Whole && known.Graph.Fingerprint == s.Graph.Fingerprint &&
				known.Setting == r.Setting && known.Model == r.Model && known.Training == r.Training &&
				known.TrainingSeed == r.TrainingSeed {
				f.WholeVal, f.WholeTest, f.Metrics, f.Seconds = known.Val, known.Test, known.Metrics, known.TrainingSeconds
				return nil
			}
		}
	}
	m, err := gnn.Parse(f.Model)
	if err != nil {
		return err
	}
	trained, err := gnn.Train(progress.With(ctx, nil), m, w.sample, w.target, f.Training, training.Source(m, s.Seed))
	if err != nil {
		return fmt.Errorf("training %s: %w", f.Model, err)
	}
	f.WholeVal, f.WholeTest, f.Metrics = trained.Validation, trained.Test, trained.Metrics
	f.Seconds = trained.Seconds / float64(w.together)
	if s.Log == nil {
		return nil
	}
	r.Val, r.Test, r.Metrics, r.TrainingSeconds = f.WholeVal, f.WholeTest, f.Metrics, f.Seconds
	return s.Log.Add(r)
}

package auto

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/internal/judge"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/progress"
)

const (
	// trials is the number of seeds for each candidate. Large graphs need only fewTrials: a condensed node is then a mean
	// over many nodes, and seeds differ little.
	trials, fewTrials = 3, 1
	// trialSeeds is the first seed of the trials, far from the seeds of users.
	trialSeeds = 1 << 40
	// leastGain is the gain, in points, that a candidate must exceed to replace cgc. Smaller gains are printed as 0.0.
	leastGain = 0.05
	// These are random streams: judgeStream samples the validation nodes of a large graph, holdOutStream selects training
	// nodes to hold out, and trainStream is for training runs.
	judgeStream, holdOutStream, trainStream = 1, 2, 3
)

// field is where candidates compete: a graph to condense and a judge of the results.
type field struct {
	graph   *graph.Graph // its validation nodes decide
	shared  *shared
	judge   *judge.Judge // nil if there is nothing to choose
	why     string       // why there is nothing to choose
	heldOut bool
}

// newField returns the field of g in the setting of m. view holds the preparations of the graph to condense. Without
// validation nodes, half of each class's training nodes are held out, and trials condense the rest.
func (m Method) newField(ctx context.Context, g *graph.Graph, view *shared) (*field, error) {
	f := &field{graph: g, shared: view}
	if m.Memory > 0 && m.room(view.graph) < 0 {
		f.why = "the memory limit leaves no room for a choice"
		return f, nil
	}
	if len(g.Split.Val) == 0 {
		g = heldOut(g)
		if len(g.Split.Val) == 0 {
			f.why = "there is no validation node, and no class has two training nodes"
			return f, nil
		}
		seen, err := m.Setting().View(ctx, g)
		if err != nil {
			return nil, err
		}
		f.graph, f.heldOut, f.shared = g, true, &shared{graph: seen.Graph}
	}
	var err error
	features := f.shared.graph
	if m.Inductive { // that graph has only training nodes
		if features, _, err = m.Setting().Features(ctx, g); err != nil {
			return nil, err
		}
	}
	if f.judge, err = judge.New(ctx, features, m.Inductive, f.large(), rand.NewPCG(0, judgeStream)); err != nil {
		return nil, err
	}
	if f.judge.Nodes() < 2 { // they do not show how much gains differ between nodes
		f.judge, f.why = nil, fmt.Sprintf("only one %s node can decide, must be at least two", kind(f.heldOut))
	}
	return f, nil
}

// kind describes validation nodes, or the nodes that are held out in their place.
func kind(heldOut bool) string {
	if heldOut {
		return "held-out training"
	}
	return "validation"
}

// heldOut returns g with a random half of each class's training nodes, rounded down, as validation nodes.
func heldOut(g *graph.Graph) *graph.Graph {
	part := *g
	part.Split = graph.Split{Test: g.Split.Test}
	order := slices.Clone(g.Split.Train)
	rand.New(rand.NewPCG(0, holdOutStream)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	seen := make([]int, g.Classes)
	for _, v := range order {
		if seen[g.Y[v]]++; seen[g.Y[v]]%2 == 1 {
			part.Split.Train = append(part.Split.Train, v)
		} else {
			part.Split.Val = append(part.Split.Val, v)
		}
	}
	slices.Sort(part.Split.Train)
	slices.Sort(part.Split.Val)
	return &part
}

// choose judges the candidates. The first stays unless another wins by more than margin standard errors and leastGain.
func (f *field) choose(ctx context.Context, candidates []Candidate, nodes int, margin float64) (choice, error) {
	a := &Account{Chosen: candidates[0].Name, Why: f.why, HeldOut: f.heldOut, Candidates: candidates}
	won := choice{account: a, method: candidates[0].method, nodes: nodes}
	if f.judge == nil {
		return won, nil
	}
	a.Validation = f.judge.Nodes()
	made, err := f.trials(ctx, candidates, min(nodes, judge.MostNodes, len(f.shared.graph.Split.Train)))
	if err != nil {
		return won, err
	}
	if won.shares, err = f.shares(made); err != nil {
		return won, err
	}
	a.Weighted = won.shares != nil
	if err := f.score(ctx, candidates, made, won.shares); err != nil {
		return won, err
	}
	contenders, best := []int{0}, 0 // cgc and the candidates that may replace it
	for i, c := range candidates {
		if c.Gain > max(leastGain, margin*c.Error) {
			contenders = append(contenders, i)
			if c.Gain > candidates[best].Gain {
				best = i
			}
		}
	}
	judges, c := a.judges(), &candidates[best]
	a.Why = "no candidate was clearly better on " + judges
	if best > 0 {
		a.Why = fmt.Sprintf("on %s, it scores %.1f ± %.1f points more than %s", judges, c.Gain, c.Error, candidates[0].Name)
	}
	if best > 0 && f.large() {
		chosen, verdicts, err := f.runoff(ctx, candidates, contenders, made, won.shares)
		if err != nil {
			return won, err
		}
		if won.trained = verdicts; chosen >= 0 {
			best, c = chosen, &candidates[chosen]
			a.Why = fmt.Sprintf("on %s, a GCN trained briefly on its result is the most accurate: %.1f%%", judges, c.Trained)
			if best > 0 && candidates[0].Trained > 0 {
				a.Why += fmt.Sprintf(", and %.1f%% for %s", candidates[0].Trained, candidates[0].Name)
			}
		}
	}
	var out []string
	for _, c := range candidates {
		if c.LeftOut != "" {
			out = append(out, c.Name)
		}
	}
	if out != nil {
		a.Why += "; left out: " + strings.Join(out, ", ")
	}
	won.method, won.trials, won.warnings, a.Chosen = c.method, made[best], made[0][0].Warnings, c.Name
	return won, ctx.Err()
}

// score sets the accuracy of each candidate and its gain over the first.
func (f *field) score(
	ctx context.Context, candidates []Candidate, made [][]*condense.Condensed, shares []float64,
) (err error) {
	var first []judge.Verdict
	for i := range candidates {
		c := &candidates[i]
		if c.LeftOut != "" {
			continue
		}
		judged := make([]judge.Verdict, len(made[i]))
		for t, small := range made[i] {
			if judged[t], err = f.judge.Of(ctx, small, true, shares); err != nil {
				return err
			}
		}
		if i == 0 {
			first = judged
		}
		c.Accuracy = judge.Mean(judged...).Accuracy
		c.Gain, c.Error = compared(judged, first, func(v judge.Verdict) []float64 { return v.Each })
	}
	return nil
}

// judges describes the nodes that decide.
func (a *Account) judges() string {
	text := fmt.Sprintf("%s %s nodes", digits.Group(a.Validation), kind(a.HeldOut))
	if a.Weighted {
		text += " (weighted by the shares of their classes)"
	}
	return text
}

// runoff trains a GCN on the trials of each contender. It returns the index and the verdicts of the most accurate one,
// or −1 if every training run diverges.
func (f *field) runoff(
	ctx context.Context, candidates []Candidate, contenders []int, made [][]*condense.Condensed, shares []float64,
) (chosen int, best []judge.Verdict, _ error) {
	verdicts := make([][]judge.Verdict, len(contenders))
	quiet, counter := progress.With(ctx, nil), progress.NewCounter(0, len(contenders))
	err := parallel.Try(ctx, len(contenders), 1, func(k, _ int) (err error) { // one run alone is too small for all cores
		verdicts[k], err = f.trained(quiet, made[contenders[k]], shares)
		counter.Add(ctx, "train candidates")
		if errors.Is(err, gnn.ErrDiverged) {
			return nil // and no verdicts
		}
		return err
	})
	if err != nil {
		return -1, nil, err
	}
	chosen = -1
	for k, i := range contenders {
		if verdicts[k] == nil {
			continue
		}
		c := &candidates[i]
		if c.Trained = judge.Mean(verdicts[k]...).Accuracy; chosen < 0 || c.Trained > candidates[chosen].Trained {
			chosen, best = i, verdicts[k]
		}
	}
	return chosen, best, nil
}

// trained returns the verdict of a short training run on each trial. shares are as in judge.Judge.Of.
func (f *field) trained(
	ctx context.Context, trials []*condense.Condensed, shares []float64,
) (verdicts []judge.Verdict, err error) {
	for t, small := range trials {
		v, err := f.judge.Trained(ctx, small, shares, rand.NewPCG(uint64(t), trainStream))
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// trials condenses with each candidate that is not left out, once for each seed.
func (f *field) trials(ctx context.Context, candidates []Candidate, nodes int) ([][]*condense.Condensed, error) {
	count := uint64(trials)
	if f.large() {
		count = fewTrials
	}
	quiet := progress.With(ctx, nil) // the steps of a trial are not reported
	counter := progress.NewCounter(0, len(candidates))
	made := make([][]*condense.Condensed, len(candidates))
	for i, c := range candidates {
		counter.Add(ctx, "candidates")
		if c.LeftOut != "" {
			continue
		}
		method := f.trial(c.method)
		for t := range count {
			small, err := f.shared.condense(quiet, method, nodes, trialSeeds+t)
			if err != nil {
				return nil, err
			}
			made[i] = append(made[i], small)
		}
	}
	return made, nil
}

// trial returns m, or a cheaper variant of cgc-d for a trial on a large graph.
func (f *field) trial(m condense.Method) condense.Method {
	if soft, is := m.(distill.Method); is {
		return soft.ForTrial(f.shared.graph.Nodes())
	}
	return m
}

// large reports whether the graph has at least distill.ManyNodes nodes.
func (f *field) large() bool { return f.shared.graph.Nodes() >= distill.ManyNodes }

// shares returns the share of each class among all nodes, estimated by the teacher of cgc-d. It returns nil without a
// teacher, or if the validation nodes seem to have these shares already. If more than half of the classes, and at least
// two, tie for the most validation nodes, they seem to be drawn per class instead. made has the trials of each
// candidate.
func (f *field) shares(made [][]*condense.Condensed) ([]float64, error) {
	counts := f.graph.Counts(f.graph.Split.Val)
	largest, as := slices.Max(counts), 0
	for _, n := range counts {
		if n == largest {
			as++
		}
	}
	if as == 1 || 2*as <= len(counts) {
		return nil, nil
	}
	for _, trials := range made {
		if len(trials) == 0 || trials[0].Soft == nil {
			continue
		}
		var account distill.Account
		if err := json.Unmarshal(trials[0].Account, &account); err != nil {
			return nil, fmt.Errorf("account of cgc-d: %w", err)
		}
		shares := make([]float64, len(counts))
		for c, n := range account.Classes {
			shares[c] = float64(n + 1) // not 0, even if the teacher gives a class to no node
		}
		return shares, nil
	}
	return nil, nil
}

// compared returns the difference between two candidates in a part of their verdicts, as the mean over trials and
// nodes, and its standard error. The variances of the mean over the nodes and over the trials are added.
func compared(verdicts, base []judge.Verdict, part func(judge.Verdict) []float64) (mean, deviation float64) {
	means := make([]float64, len(verdicts)) // of the trials
	differences := make([]float64, len(part(verdicts[0])))
	for t, v := range verdicts {
		other := part(base[t])
		for i, value := range part(v) {
			difference := value - other[i]
			means[t] += difference
			differences[i] += difference / float64(len(verdicts))
		}
		means[t] /= float64(len(differences))
	}
	variance := 0.0
	for _, sample := range [][]float64{differences, means} {
		if n := len(sample); n > 1 {
			variance += stat.Variance(sample, nil) / float64(n)
		}
	}
	return stat.Mean(means, nil), math.Sqrt(variance)
}

// shared holds the preparations of a graph for the candidates. It is safe for concurrent use.
type shared struct {
	graph *graph.Graph

	mu    sync.Mutex
	ready []preparation
}

type preparation struct {
	preparer condense.Preparer
	prepared condense.Prepared
	seconds  float64
}

// condense condenses the graph with m. Only one preparation runs at a time.
func (s *shared) condense(ctx context.Context, m condense.Method, nodes int, seed uint64) (*condense.Condensed, error) {
	p, err := s.prepare(ctx, m.(condense.Preparer))
	if err != nil {
		return nil, err
	}
	return p.Condense(ctx, m, nodes, seed)
}

// spent returns the seconds of the preparation for m, or 0 if there is none yet.
func (s *shared) spent(m condense.Method) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.find(m); r != nil {
		return r.seconds
	}
	return 0
}

// find returns the preparation for m, or nil if there is none yet. The lock must be held.
func (s *shared) find(m condense.Method) *preparation {
	for i := range s.ready {
		if r := &s.ready[i]; r.preparer.SharesPreparation(m) {
			return r
		}
	}
	return nil
}

func (s *shared) prepare(ctx context.Context, m condense.Preparer) (condense.Prepared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.find(m); r != nil {
		return r.prepared, nil
	}
	begun := time.Now()
	p, err := m.Prepare(ctx, s.graph)
	if err != nil {
		return nil, err
	}
	s.ready = append(s.ready, preparation{m, p, time.Since(begun).Seconds()})
	return p, nil
}

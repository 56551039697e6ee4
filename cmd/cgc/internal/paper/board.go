package paper

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/progress"
)

// Board compares all methods on one graph under one protocol:
//
//   - Every condensation runs on one core and may take at most Limit of processor time. Unlike elapsed time, this does
//     not depend on other work on the machine.
//   - With two seeds, models are trained with each of Trainings. For each method, size and model, the one with the
//     highest mean validation accuracy is used with the other seeds and is reported.
//   - A method that condenses to the middle size in at most a minute is measured at all sizes, with all models and
//     seeds. A slower method is measured at the middle size only, with the first model and at most three seeds.
type Board struct {
	// Name is the name of the graph in tables and in the paper.
	Name  string
	Graph *graph.Graph
	// Methods lists the methods to compare, in the same setting: Inductive(Name), and NormalizeFeatures.
	Methods           []condense.Method
	NormalizeFeatures bool
	Models            []gnn.Model
	// Seeds is the number of condensations, at least 1, each with one training run of each model and configuration.
	Seeds int
	// Whole is the number of training runs of each model and configuration on the full graph.
	Whole int
	Limit time.Duration
	// Log holds the records. Trainings in it are not repeated.
	Log *experiment.Log
	// Unmeasured holds the condensations that failed or took too long. A later run does not repeat them.
	Unmeasured *UnmeasuredLog
	// Peak returns the largest resident set of the process since ResetPeak. Processor returns the processor time of the
	// process in seconds.
	ResetPeak func()
	Peak      func() int64
	Processor func() float64
	// Note is called with sentences for the user.
	Note func(sentence string)
}

// PublishedName is the board's name for CGC with the paper's parameters: see Job.Ours.
const PublishedName = "cgc-paper"

// Fast methods condense in at most a minute. Slow methods are measured with at most slowSeeds seeds. The training
// configuration is chosen with choosingSeeds seeds.
const (
	fast          = time.Minute
	slowSeeds     = 3
	choosingSeeds = 2
)

// Trainings returns the training configurations that are tried for every method: cgc's defaults, and the defaults
// without dropout, with a tenth of the learning rate, or with ten times the weight decay. An SGC has no layer with
// dropout, and is far from converged at these learning rates if its labels are soft. For it, the other configurations
// have its authors' learning rate, 0.2, and weight decays from the default down to theirs, 5e-6. Each configuration has
// 300 epochs with a validation every ten.
func Trainings(m gnn.Model) []gnn.Config {
	base := gnn.Defaults()
	base.Weighted, base.Epochs, base.ValidateEvery = true, 300, 10
	if m.Name() == gnn.SGC().Name() {
		all := []gnn.Config{base, base, base, base}
		for i := range all[1:] {
			all[1+i].LearningRate, all[1+i].WeightDecay = 0.2, base.WeightDecay*math.Pow10(-i)
		}
		return all
	}
	noDropout, slower, decayed := base, base, base
	noDropout.Dropout, slower.LearningRate, decayed.WeightDecay = 0, base.LearningRate/10, base.WeightDecay*10
	return []gnn.Config{base, noDropout, slower, decayed}
}

// Inductive reports whether the paper measures inductively on the data set with the given name.
func Inductive(name string) bool {
	of, _ := Published().Of(name)
	return of.Task == "inductive"
}

// competitor is a method on the board.
type competitor struct {
	wrapped
	name  string
	equal bool // whether condensed nodes have equal weights in training
}

// competitors returns the methods of the board at a size. The first is CGC with the paper's parameters.
func (b *Board) competitors(s size) []competitor {
	published := Job{NormalizeFeatures: b.NormalizeFeatures}.settings(Inductive(b.Name), s)
	all := []competitor{{wrapped{published}, PublishedName, true}}
	for _, m := range b.Methods {
		all = append(all, competitor{wrapped{m}, m.Name(), false})
	}
	return all
}

// Run measures what neither Log nor Unmeasured has.
func (b *Board) Run(ctx context.Context) error {
	id, err := graph.Identify(b.Graph)
	if err != nil {
		return err
	}
	all := sizes(b.Name, b.Graph, true)
	middle := len(all) / 2
	all[0], all[middle] = all[middle], all[0]
	b.announce(len(all))
	for i := range b.competitors(all[0]) {
		if err := b.compete(ctx, id, i, all); err != nil {
			return err
		}
	}
	return nil
}

// compete measures competitor i at all sizes, the middle one first. A slow method is measured at the middle size only.
func (b *Board) compete(ctx context.Context, id graph.Identity, i int, all []size) error {
	m := b.bound(id, i, all[0])
	models, seeds := b.Models, b.Seeds
	first, err := b.measure(ctx, m, models[:1], 1)
	if err == nil && first[0].Processor > fast.Seconds() {
		all, models, seeds = all[:1], models[:1], min(slowSeeds, seeds)
	}
	for j := 0; j < len(all) && err == nil; j++ { // a size that fails or takes too long is the last
		if j > 0 {
			m = b.bound(id, i, all[j])
		}
		_, err = b.measure(ctx, m, models, seeds)
	}
	if un, is := errors.AsType[*Unmeasured](err); is {
		b.Note(fmt.Sprintf("%s, %d nodes: %s", m.name, m.size.nodes, un.Error()))
		return nil
	}
	return err
}

// announce reports how much work is left at most, and how long it takes if training runs take as long as those in the
// log.
func (b *Board) announce(sizes int) {
	records := slices.DeleteFunc(b.Log.Records(), func(r experiment.Record) bool { return r.Arm == experiment.Whole })
	each := 0 // training runs of a method at a size
	for _, model := range b.Models {
		each += b.Seeds + (len(Trainings(model))-1)*min(b.Seeds, choosingSeeds)
	}
	trainings := each * sizes * (len(b.Methods) + 1)
	text := fmt.Sprintf("%s: at most %d training runs are missing", b.Name, max(trainings-len(records), 0))
	if len(records) > 0 {
		var seconds float64
		for _, r := range records {
			seconds += r.TrainingSeconds / float64(len(records))
		}
		minutes := seconds * float64(trainings-len(records)) / 60 / float64(runtime.GOMAXPROCS(0))
		text += ", about " + report.Plural(int(max(math.Ceil(minutes), 0)), "minute")
	}
	b.Note(fmt.Sprintf("%s; each of at most %d condensations may take up to %v", text,
		b.Seeds*sizes*(len(b.Methods)+1), b.Limit))
}

// measure chooses a training configuration for each model, and trains the models on the condensed graphs of a method at
// a size. The error is an *Unmeasured if the method takes too long or fails.
func (b *Board) measure(
	ctx context.Context, m *bounded, models []gnn.Model, seeds int,
) (records []experiment.Record, err error) {
	config, err := condense.Configuration(m, m.size.nodes, 0)
	if err != nil {
		return nil, err
	}
	un := Unmeasured{Graph: m.graph, Arm: m.name, Nodes: m.size.nodes, Config: config}
	if known := b.Unmeasured.find(un); known != nil {
		return nil, known
	}
	run := func(training gnn.Config, model gnn.Model, seeds int) ([]experiment.Record, error) {
		training.Weighted = training.Weighted && !m.equal
		records, err := experiment.Grid{
			Arms:   []experiment.Arm{{Name: m.name, Method: m, Size: condense.Size{Nodes: m.size.nodes}, Training: training}},
			Models: []gnn.Model{model}, Seeds: seeds, Trainings: 1, Whole: b.Whole, Measure: func(r *experiment.Record) {
				if r.Arm != experiment.Whole {
					r.Peak, r.Processor = m.most, m.costs[r.Seed]
				}
			},
		}.Run(ctx, b.Graph, b.Log)
		if err == nil || ctx.Err() != nil || !m.failed && m.Check(b.Graph, m.size.nodes) == nil {
			return records, err
		}
		un.Reason, un.Seconds, un.Needs = err.Error(), m.seconds, m.needs
		return nil, cmp.Or[error](b.Unmeasured.add(un), &un)
	}
	for _, model := range models {
		var best gnn.Config
		highest := -1.0
		for _, training := range Trainings(model) {
			if records, err = run(training, model, min(seeds, choosingSeeds)); err != nil {
				return nil, err
			}
			for _, sum := range experiment.Summarize(records) {
				if !sum.IsWhole() && sum.Val.Mean > highest {
					best, highest = training, sum.Val.Mean
				}
			}
		}
		if seeds > choosingSeeds {
			if records, err = run(best, model, seeds); err != nil {
				return nil, err
			}
		}
	}
	return records, nil
}

// wrapped forwards to a method, including its optional interfaces. Types with another Condense method embed it.
type wrapped struct{ condense.Method }

// Setting returns the method's setting.
func (w wrapped) Setting() condense.Setting { return condense.SettingOf(w.Method) }

// MarshalJSON writes the method's parameters.
func (w wrapped) MarshalJSON() ([]byte, error) { return json.Marshal(w.Method) }

// Check calls the method's Check, if it has one.
func (w wrapped) Check(g *graph.Graph, nodes int) error {
	if c, is := w.Method.(condense.Checker); is {
		return c.Check(g, nodes)
	}
	return nil
}

var (
	_ condense.InSetting = wrapped{}
	_ condense.Checker   = wrapped{}
)

// bounded is a competitor at one size, on one core and with a limit on its time. It keeps its condensed graphs for
// further training runs.
type bounded struct {
	competitor
	board *Board
	graph graph.Identity
	size  size
	done  map[uint64]*condense.Condensed // by seed
	costs map[uint64]float64             // processor seconds, by seed

	most    int64   // the largest resident set of the process during a condensation
	failed  bool    // whether a condensation ended with an error
	seconds float64 // the processor time until it ended
	needs   float64 // the seconds that it would have taken, if known
}

// bound returns competitor i at a size.
func (b *Board) bound(id graph.Identity, i int, s size) *bounded {
	return &bounded{
		competitor: b.competitors(s)[i], board: b, graph: id, size: s, done: map[uint64]*condense.Condensed{},
		costs: map[uint64]float64{},
	}
}

// errLimit is the cancellation cause of a condensation that takes too long.
var errLimit = errors.New("takes longer than the limit")

// Condense condenses with one thread. It stops the method as soon as it exceeds the limit, or if its progress after a
// tenth of the limit means that it would take more than twice the limit.
func (b *bounded) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	if small := b.done[seed]; small != nil {
		return small, nil
	}
	debug.FreeOSMemory()
	b.board.ResetPeak()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	limited, cancel := context.WithCancelCause(ctx)
	begin, limit, needs := b.board.Processor(), b.board.Limit.Seconds(), 0.0
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(max(b.board.Limit/1000, time.Millisecond))
		defer tick.Stop()
		for limited.Err() == nil {
			select {
			case <-limited.Done():
			case <-tick.C:
				if b.board.Processor()-begin > limit {
					cancel(errLimit)
				}
			}
		}
	})
	defer watch.Wait()
	defer cancel(nil)
	estimate := pace{begun: map[string]float64{}}
	small, err := b.Method.Condense(progress.With(limited, func(e progress.Event) {
		elapsed := b.board.Processor() - begin
		needs = estimate.needs(e, elapsed)
		if elapsed > limit/10 && needs > 2*limit {
			cancel(errLimit)
		}
	}), g, nodes, seed)
	b.most = max(b.most, b.board.Peak())
	if err == nil {
		b.done[seed], b.costs[seed] = small, b.board.Processor()-begin
		return small, nil
	}
	if b.failed = ctx.Err() == nil; b.failed {
		b.seconds = b.board.Processor() - begin
	}
	if b.failed && context.Cause(limited) == errLimit {
		if b.needs = 0; needs > limit { // less comes from an early step, after which there was no progress
			b.needs = needs
		}
		return nil, fmt.Errorf("takes more than %v on one core", b.board.Limit)
	}
	return nil, err
}

// pace estimates from its progress how long a condensation takes. Each stage has its own pace: a method may train
// experts for minutes before the first of many epochs.
type pace struct {
	begun map[string]float64 // the seconds at which each stage began
	last  float64            // the seconds at the last event
}

// needs returns the seconds at the end of the stage of e, which is reported after the given seconds.
func (p *pace) needs(e progress.Event, elapsed float64) float64 {
	begun, seen := p.begun[e.Stage]
	if !seen {
		begun = p.last
		p.begun[e.Stage] = begun
	}
	p.last = elapsed
	if e.Done == 0 || e.Total == 0 {
		return elapsed
	}
	return elapsed + (elapsed-begun)*float64(e.Total-e.Done)/float64(e.Done)
}

// Unmeasured is a condensation that failed or exceeded the limit.
type Unmeasured struct {
	Graph  graph.Identity  `json:"graph"`
	Arm    string          `json:"arm"`
	Nodes  int             `json:"nodes"`
	Config json.RawMessage `json:"config"`
	Reason string          `json:"reason"`
	// Seconds is the processor time after which it ended. Needs is the time that it would have taken, in seconds,
	// estimated from its progress; 0 if it was not stopped or reported no progress.
	Seconds float64 `json:"seconds"`
	Needs   float64 `json:"needs_seconds"`
}

// Error returns the reason and the time that the condensation would have taken.
func (u *Unmeasured) Error() string {
	if u.Needs == 0 {
		return u.Reason
	}
	return fmt.Sprintf("%s: about %s", u.Reason, report.Plural(int(math.Round(u.Needs/60)), "minute"))
}

// UnmeasuredLog keeps a list of Unmeasured in a file of JSON lines.
type UnmeasuredLog struct {
	path string
	all  []Unmeasured
}

// OpenUnmeasured reads the file at path, if it exists. A last line that was cut short is an error.
func OpenUnmeasured(path string) (*UnmeasuredLog, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l := &UnmeasuredLog{path: path}
	for decoder := json.NewDecoder(bytes.NewReader(text)); decoder.More(); {
		var u Unmeasured
		if err := decoder.Decode(&u); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		l.all = append(l.all, u)
	}
	return l, nil
}

// All returns a copy of the list, in the order of the entries in the file.
func (l *UnmeasuredLog) All() []Unmeasured { return slices.Clone(l.all) }

// find returns the entry with the graph, method, size and configuration of u, or nil.
func (l *UnmeasuredLog) find(u Unmeasured) *Unmeasured {
	return first(l.all, func(o *Unmeasured) bool {
		return o.Graph.Fingerprint == u.Graph.Fingerprint && o.Arm == u.Arm && o.Nodes == u.Nodes &&
			string(o.Config) == string(u.Config)
	})
}

// add appends u to the file.
func (l *UnmeasuredLog) add(u Unmeasured) error {
	line, err := json.Marshal(u)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	l.all = append(l.all, u)
	return errors.Join(err, file.Close())
}

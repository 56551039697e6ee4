// Package trajectory holds the rivals that match training trajectories: SFGC, GEOM and GCSR.
//
// Experts are trained on the original graph, and snapshots of their weights are kept. A student starts from one
// snapshot θ_0 and is trained on the condensed graph for S steps. The condensed graph is changed so that the student
// ends close to a later snapshot θ* of the same expert:
//
//	min ‖θ_S − θ*‖²/‖θ_0 − θ*‖².
//
// The gradient goes back through all S steps, and so is of second order (unroll).
//
// docs/rivals.md says what the papers leave open, and where the authors' programs do otherwise.
package trajectory

import (
	"context"
	"errors"
	"fmt"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival"
	"github.com/graph-condensation/cgc/rival/learn"
	"github.com/graph-condensation/cgc/rival/selection"
)

// Names of the beginnings of X′.
const (
	KCenter = "k-center"
	Random  = "random"
)

// Matching are the parameters that the methods share.
type Matching struct {
	// Epochs is the number of students, at least 1. Each changes X′ once.
	Epochs int `json:"epochs"`
	// FeatureRate is the step size of Adam on X′, above 0.
	FeatureRate float64 `json:"lr_feat"`
	// Steps is the number of steps of a student, at least 1. StudentRate is their size, above 0.
	Steps       int     `json:"steps"`
	StudentRate float64 `json:"lr_student"`
	Experts
	learn.Choice
	// Memory bounds the memory for students and experts. Experts that do not fit are kept in a temporary file of at most
	// Disk bytes.
	Memory rival.Memory `json:"memory"`
	Disk   rival.Memory `json:"disk"`
}

// check returns everything that is wrong with the parameters, with g, or with nodes for them.
func (m Matching) check(name string, g *graph.Graph, nodes int) error {
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	err := errors.Join(
		learn.Want(m.Epochs >= 1, "epochs", m.Epochs, "at least 1"),
		learn.Want(m.FeatureRate > 0, "lr feat", m.FeatureRate, "above 0"),
		learn.Want(m.Steps >= 1, "steps", m.Steps, "at least 1"),
		learn.Want(m.StudentRate > 0, "lr student", m.StudentRate, "above 0"),
		learn.Want(m.Experts.Experts >= 1, "experts", m.Experts.Experts, "at least 1"),
		learn.Want(m.Optimizer == SGD || m.Optimizer == Adam, "expert optimizer", m.Optimizer, "sgd or adam"),
		learn.Want(m.ExpertRate > 0, "lr expert", m.ExpertRate, "above 0"),
		learn.Want(m.ExpertDecay >= 0, "expert decay", m.ExpertDecay, "at least 0"),
		learn.Want(m.ExpertEpochs >= 1, "expert epochs", m.ExpertEpochs, "at least 1"),
		learn.Want(m.MaxStart >= 0, "max start", m.MaxStart, "at least 0"),
		learn.Want(m.Interval >= 1, "interval", m.Interval, "at least 1"),
		learn.Want(m.Hidden >= 1, "hidden", m.Hidden, "at least 1"),
		m.Choice.Check(),
	)
	if err != nil {
		return err
	}
	_, _, err = m.plan(name, g, nodes)
	return err
}

// bytes returns what a run takes without experts and states: the rows that experts learn from with their hidden units,
// copies of the weights, and X′ with its gradients.
func (m Matching) bytes(g *graph.Graph, nodes int) float64 {
	n, d, h, c := float64(g.Nodes()), float64(g.Features()), float64(m.Hidden), float64(g.Classes)
	rows := 16*n*d + 16*n*h
	return rows + 4*(8*float64(weightNumbers(g.Features(), m.Hidden, g.Classes))+
		float64(nodes)*(8*d+12*h+8*c+4*float64(nodes)))
}

// plan decides how the states of a student and the experts are kept. A quarter of the memory that is left is for
// states. Experts are on disk if they exceed the rest.
func (m Matching) plan(name string, g *graph.Graph, nodes int) (stretch int, onDisk bool, err error) {
	bound := m.Memory
	if bound == 0 {
		bound = rival.DefaultMemory
	}
	base := m.bytes(g, nodes)
	stretch, states := stretchFor(m.Steps, nodes, m.Hidden, g.Classes, (float64(bound)-base)/4)
	what := fmt.Sprintf("%s on %s nodes with %s features", name, rival.Count(g.Nodes()), rival.Count(g.Features()))
	if err := m.Memory.Fits(what, base+states); err != nil {
		return 0, false, err
	}
	snapshots := float64(m.Experts.Experts) * float64(m.snapshots())
	experts := 4 * snapshots * float64(weightNumbers(g.Features(), m.Hidden, g.Classes))
	if base+states+experts <= float64(bound) {
		return stretch, false, nil
	}
	what = fmt.Sprintf("%s with %s snapshots of experts", name, rival.Count(int(snapshots)))
	return stretch, true, m.Disk.FitsAs("disk", what, experts)
}

// SFGC is the method of Zheng et al., Structure-free graph condensation: From large-scale graphs to condensed
// graph-free data (NeurIPS 2023). A′ = I. Experts are GCN with two layers, and so are students.
type SFGC struct {
	Matching
	// LearnRate is the step size on the step size of students, at least 0: gradient descent with momentum 0.5.
	LearnRate float64 `json:"lr_lr"`
	// Init says what X′ begins as: the features of nodes chosen by k-center, or of random training nodes.
	Init string `json:"init"`
}

// NewSFGC returns SFGC with the settings of its authors' program for 70 nodes of Cora, but 20 experts for their 200.
func NewSFGC() SFGC {
	return SFGC{
		Matching: Matching{
			Epochs: 2000, FeatureRate: 1e-4, Steps: 500, StudentRate: 0.5,
			Experts: Experts{
				Experts: 20, Optimizer: SGD, ExpertRate: 0.4, ExpertEpochs: 1200, MaxStart: 30, Interval: 10, Hidden: 256,
			},
			Choice: learn.Choice{JudgeEvery: 50, JudgeEpochs: 200},
		},
		LearnRate: 1e-6, Init: KCenter,
	}
}

// Name returns "sfgc".
func (SFGC) Name() string { return "sfgc" }

// Check returns what is wrong with the parameters, with g, or with nodes for them.
func (m SFGC) Check(g *graph.Graph, nodes int) error {
	return errors.Join(m.check(m.Name(), g, nodes),
		learn.Want(m.LearnRate >= 0, "lr lr", m.LearnRate, "at least 0"), checkInit(m.Init))
}

func checkInit(init string) error {
	return learn.Want(init == KCenter || init == Random, "init", init, "k-center or random")
}

// Condense learns X′.
func (m SFGC) Condense(
	ctx context.Context, g *graph.Graph, nodes int, seed uint64,
) (_ *condense.Condensed, err error) {
	defer memory.Recover(&err)
	if err := m.Check(g, nodes); err != nil {
		return nil, err
	}
	return m.run(ctx, g, m, nodes, seed, 0, func(s *learn.Start, r *resources) (learn.Learner, error) {
		if err := begin(ctx, s, m.Init, m.Memory); err != nil {
			return nil, err
		}
		train, _ := s.Labelled()
		p, err := newConvolution(ctx, s, train)
		if err != nil {
			return nil, err
		}
		if err := m.train(ctx, p, r.store, seed, m.Name()+" experts"); err != nil {
			return nil, err
		}
		return &free{
			student: newStudent(m.Matching, s, r), y: autodiff.OneHot(s.Y, len(s.Budget)), x: s.X,
			features: learn.NewAdam(m.FeatureRate, s.X), pace: newPace(m.StudentRate, m.LearnRate),
		}, nil
	})
}

// resources are what a run holds: the unroll and the snapshots of experts.
type resources struct {
	stretch int
	store   *store
}

// run condenses. begin trains the experts and returns the learner.
func (m Matching) run(
	ctx context.Context, g *graph.Graph, method condense.Method, nodes int, seed uint64, threshold float64,
	begin func(*learn.Start, *resources) (learn.Learner, error),
) (*condense.Condensed, error) {
	stretch, onDisk, err := m.plan(method.Name(), g, nodes)
	if err != nil {
		return nil, err
	}
	r := &resources{stretch: stretch}
	defer func() { r.store.close() }()
	plan := learn.Plan{
		Method: method, Nodes: nodes, Seed: seed, Epochs: m.Epochs, Choice: m.Choice, Threshold: threshold,
	}
	return learn.Run(ctx, g, plan, func(s *learn.Start) (learn.Learner, error) {
		size := weightNumbers(s.X.Cols, m.Hidden, len(s.Budget))
		if r.store, err = newStore(m.Experts.Experts*m.snapshots(), size, onDisk); err != nil {
			return nil, err
		}
		return begin(s, r)
	})
}

// begin replaces X′ by the features of nodes that k-center chooses, unless init says otherwise.
func begin(ctx context.Context, s *learn.Start, init string, memory rival.Memory) error {
	if init != KCenter {
		return nil
	}
	method := selection.NewKCenter()
	method.Memory = memory
	small, err := method.Condense(ctx, s.Graph, len(s.Y), 0)
	if err != nil {
		return err
	}
	var rows []int32 // class by class
	for c := range s.Budget {
		for i, y := range small.Y {
			if int(y) == c {
				rows = append(rows, int32(i))
			}
		}
	}
	chosen := new(mat.Dense)
	if err := mat.Rows(chosen, small.X, rows); err != nil {
		return err
	}
	for i, v := range chosen.Data {
		s.X.Data[i] = v / s.Unit
	}
	return nil
}

package gnn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Result is the account of a training.
type Result struct {
	// Model is the name of the model.
	Model string `json:"model"`
	// Validation and Test are the accuracies in percent of the weights after epoch Epoch, the one of the best Validation.
	// Ties are common on a few hundred nodes: of tied epochs, the one with the lowest validation cross entropy counts.
	Validation float64 `json:"validation"`
	Test       float64 `json:"test"`
	Epoch      int     `json:"epoch"`
	// ValidateEvery is the number of epochs from one validation to the next.
	ValidateEvery int `json:"validate_every"`
	// Losses holds the training loss, with dropout, before each step.
	Losses []float32 `json:"-"`
	// Accuracies holds the validation accuracy in percent at each validation.
	Accuracies []float64 `json:"-"`
	// Seconds is the time that the training took, tests included.
	Seconds float64 `json:"seconds"`
	// Trained holds the weights after epoch Epoch.
	Trained *Trained `json:"-"`
	// Predicted is the class that they give each test node, in the order of the split. Validated is the same for the
	// validation nodes.
	Predicted []int32 `json:"-"`
	Validated []int32 `json:"-"`
}

// Train trains a model on s by Adam (Kingma and Ba 2015; β 0.9 and 0.999, ε 10⁻⁸), full batch. The loss is the mean
// cross entropy of the sample's nodes, weighted if config says so. The result is that of the epoch with the best
// validation accuracy on t. The labels of t's test nodes are read after the last epoch, once.
//
// Weights and dropout are drawn from src: the same seed gives the same bytes for any number of threads. Train stops
// within an epoch when ctx is done. It reports each validated epoch to package progress. The sample is not changed. A
// loss, a cross entropy or a weight that is not finite is an error that says in which epoch: the training diverged.
func Train(
	ctx context.Context, m Model, s *Sample, t *Target, config Config, src rand.Source,
) (_ *Result, err error) {
	defer memory.Recover(&err)
	start := time.Now()
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if err := t.accept(s); err != nil {
		return nil, err
	}
	_, features := s.X.Dims()
	parameters := Initial(m, features, config.Hidden, s.Classes, src)
	in, err := NewInput(ctx, s.Adj, s.X)
	if err != nil {
		return nil, err
	}
	in = in.WithDropout(config, src)
	result := &Result{Model: m.Name(), Validation: -1, ValidateEvery: config.cadence(t.nodes)}
	reserved := min(config.Epochs, 1<<16) // so that the lists do not grow within a usual training
	result.Losses, result.Accuracies = make([]float32, 0, reserved), make([]float64, 0, reserved/result.ValidateEvery+1)
	result.Validated = make([]int32, len(t.labels))
	best := make([]*mat.Dense, len(parameters))
	for i, p := range parameters {
		best[i] = mat.NewDense(p.Dims())
	}
	var (
		tape    = autodiff.NewTape()
		targets = s.targets(config.Weighted)
		steps   = newAdam(parameters)
		vars    = make([]*autodiff.Var, len(parameters))
		view    = t.validation.view()
		stage   = "train " + m.Name()
		lowest  float64 // cross entropy of the best epoch so far

		loss      *autodiff.Var
		gradients []*autodiff.Var
		wrong     error
	)
	differentiate := func() {
		tape.Reset()
		for i, p := range parameters {
			vars[i] = tape.Var(p)
		}
		logits := m.Forward(tape, in, vars)
		if n := in.Nodes(); logits.Value.Rows != n || logits.Value.Cols != s.Classes {
			wrong = fmt.Errorf("gnn: model %s returns logits %d×%d, want %d×%d",
				m.Name(), logits.Value.Rows, logits.Value.Cols, n, s.Classes)
			return
		}
		if s.Rows != nil {
			logits = tape.Rows(logits, s.Rows)
		}
		loss = tape.CrossEntropy(logits, tape.Var(targets))
		gradients = tape.Grad(loss, vars...)
	}
	for epoch := 1; epoch <= config.Epochs; epoch++ {
		if err := tape.Within(ctx, differentiate); err != nil {
			return nil, err
		}
		if wrong != nil {
			return nil, wrong
		}
		if err := in.Err(); err != nil {
			return nil, err
		}
		value := loss.Value.Data[0]
		if !finite(float64(value)) {
			return nil, fmt.Errorf("gnn: %s diverged: its loss is %v in epoch %d, want a finite number: scale the features, "+
				"or lower the learning rate", m.Name(), value, epoch)
		}
		rate := config.LearningRate
		if epoch > config.Epochs/2 {
			rate *= config.Drop
		}
		steps.step(parameters, gradients, rate, config.WeightDecay)
		result.Losses = append(result.Losses, value)

		if epoch%result.ValidateEvery != 0 && epoch != config.Epochs {
			continue
		}
		found, err := view.infer(ctx, m, parameters)
		if err != nil {
			return nil, err
		}
		accuracy := Accuracy(found, t.labels)
		result.Accuracies = append(result.Accuracies, accuracy)
		entropy := CrossEntropy(found, t.labels, 1)
		if !finite(entropy) {
			return nil, fmt.Errorf("gnn: %s diverged: its cross entropy on the validation nodes is %v after epoch %d, "+
				"want a finite number: scale the features or the weights of edges", m.Name(), entropy, epoch)
		}
		if accuracy > result.Validation || accuracy == result.Validation && entropy < lowest {
			lowest = entropy
			result.Validation, result.Epoch = accuracy, epoch
			for i := range result.Validated {
				result.Validated[i] = int32(largest(found.Row(i)))
			}
			for i, p := range parameters {
				copy(best[i].Data, p.Data)
			}
		}
		progress.Report(ctx, progress.Event{Stage: stage, Done: int64(epoch), Total: int64(config.Epochs)})
	}
	for k, p := range best { // a ReLU turns NaN into 0, so that losses do not show it
		if i, j, found, _ := mat.FirstNotFinite(p); found {
			return nil, fmt.Errorf("gnn: %s diverged: weight (%d, %d) of parameter %d is %v after epoch %d, want a finite "+
				"number: scale the features or the weights of edges", m.Name(), i, j, k, p.Row(i)[j], result.Epoch)
		}
	}
	if labels := t.testLabels(); len(labels) > 0 {
		view.scope = t.test
		found, err := view.infer(ctx, m, best)
		if err != nil {
			return nil, err
		}
		result.Test, result.Predicted = Accuracy(found, labels), predictions(found)
	}
	result.Trained = &Trained{m, features, config.Hidden, s.Classes, best}
	result.Seconds = time.Since(start).Seconds()
	return result, nil
}

// finite says whether v is neither NaN nor an infinity.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// adam holds the moments of Adam for a list of parameters.
type adam struct {
	first, second []*mat.Dense
	steps         int
}

func newAdam(parameters []*mat.Dense) *adam {
	a := &adam{}
	for _, p := range parameters {
		a.first = append(a.first, mat.NewDense(p.Dims()))
		a.second = append(a.second, mat.NewDense(p.Dims()))
	}
	return a
}

// step changes the parameters by one step along their gradients.
func (a *adam) step(parameters []*mat.Dense, gradients []*autodiff.Var, rate, decay float64) {
	a.steps++
	for i, p := range parameters {
		s := adamStep{p.Data, gradients[i].Value.Data, a.first[i].Data, a.second[i].Data, rate, decay, a.steps}
		adamSteps.For(len(p.Data), 1<<14, s, func(s *adamStep, lo, hi int) {
			parameters := kernel.Adam{Rate: s.rate, B1: 0.9, B2: 0.999, Epsilon: 1e-8, Decay: s.decay, Step: s.steps}
			kernel.AdamStep(s.w[lo:hi], s.g[lo:hi], s.m[lo:hi], s.v[lo:hi], parameters)
		})
	}
}

// adamStep is a step of one parameter w along its gradient g.
type adamStep struct {
	w, g, m, v  []float32
	rate, decay float64
	steps       int
}

var adamSteps parallel.Loop[adamStep]

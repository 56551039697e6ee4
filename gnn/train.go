package gnn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Result is the outcome of a training run.
type Result struct {
	// Model is the name of the model.
	Model string `json:"model"`
	// Validation and Test are the accuracies, in percent, with the weights after Epoch, the epoch with the best
	// Validation. Ties are common on a few hundred nodes; they are broken by the lowest validation cross entropy.
	Validation float64 `json:"validation"`
	Test       float64 `json:"test"`
	Epoch      int     `json:"epoch"`
	// Metrics describes the predictions on the test nodes in more detail than Test.
	Metrics Metrics `json:"metrics"`
	// ValidateEvery is the number of epochs from one validation to the next.
	ValidateEvery int `json:"validate_every"`
	// Losses holds the training loss, with dropout, before each step.
	Losses []float32 `json:"-"`
	// Accuracies holds the validation accuracy in percent at each validation.
	Accuracies []float64 `json:"-"`
	// Seconds is the duration of the training run, including validation and testing.
	Seconds float64 `json:"seconds"`
	// Trained holds the weights after epoch Epoch.
	Trained *Trained `json:"-"`
	// Predicted is the class that these weights predict for each test node, in the order of the split. Validated is the
	// predicted class of each validation node.
	Predicted []int32 `json:"-"`
	Validated []int32 `json:"-"`
}

// ErrDiverged is wrapped by the error of a training run whose loss, weights or logits are not finite.
var ErrDiverged = errors.New("diverged")

// Train trains a model on s with Adam (Kingma and Ba 2015; β 0.9 and 0.999, ε 10⁻⁸), full batch. The loss is the mean
// cross entropy of the sample's nodes, weighted if config.Weighted is set. The result belongs to the epoch with the
// best validation accuracy on t. The labels of t's test nodes are read only once, after the last epoch.
//
// Weights and dropout are drawn from src: the same seed gives the same bytes for any number of threads. Train stops
// within an epoch when ctx is done. It reports each validated epoch to package progress. The sample is not changed. If
// a loss, a cross entropy, a weight or a logit of a test node is not finite, training has diverged, and the error names
// the epoch.
func Train(
	ctx context.Context, m Model, s *Sample, t *Target, config Config, src rand.Source,
) (_ *Result, err error) {
	defer memory.Recover(&err)
	start := time.Now()
	r, err := newTraining(ctx, m, s, t, config, src)
	if err != nil {
		return nil, err
	}
	for epoch := 1; epoch <= config.Epochs; epoch++ {
		if err := r.step(ctx, epoch); err != nil {
			return nil, err
		}
		if epoch%r.result.ValidateEvery != 0 && epoch != config.Epochs {
			continue
		}
		if err := r.validate(ctx, epoch); err != nil {
			return nil, err
		}
		progress.Report(ctx, progress.Event{Stage: r.stage, Done: int64(epoch), Total: int64(config.Epochs)})
	}
	if err := r.test(ctx); err != nil {
		return nil, err
	}
	r.result.Seconds = time.Since(start).Seconds()
	return r.result, nil
}

// training is the state of a training run.
type training struct {
	model  Model
	sample *Sample
	target *Target
	config Config
	stage  string // for progress reports

	parameters []*mat.Dense
	in         *Input
	labels     *mat.Dense // the distributions to learn
	tape       *autodiff.Tape
	vars       []*autodiff.Var // the parameters on the tape
	loss       float32
	gradients  []*mat.Dense
	optimizer  *adam.Optimizer

	view    *View
	result  *Result
	best    []*mat.Dense // the parameters after epoch result.Epoch
	entropy float64      // the validation cross entropy after that epoch
}

// newTraining checks that all arguments fit together, and returns the state before the first epoch.
func newTraining(
	ctx context.Context, m Model, s *Sample, t *Target, config Config, src rand.Source,
) (*training, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if err := t.accept(s); err != nil {
		return nil, err
	}
	parameters := Initial(m, t.features, config.Hidden, s.Classes, src)
	in, err := constantInput(ctx, s.Adj, s.X, s.Causal)
	if err != nil {
		return nil, err
	}
	r := &training{
		model: m, sample: s, target: t, config: config, stage: "train " + m.Name(),
		parameters: parameters, in: in.withDropout(config, src).withLoss(s.Rows), labels: s.targets(config.Weighted),
		tape: autodiff.NewTape(), vars: make([]*autodiff.Var, len(parameters)),
		gradients: make([]*mat.Dense, len(parameters)), optimizer: adam.New(config.LearningRate, parameters...),
		view: t.validation.view(),
	}
	r.optimizer.Decay = config.WeightDecay
	for _, p := range parameters {
		r.best = append(r.best, mat.NewDense(p.Dims()))
	}
	every, reserved := config.cadence(t.nodes), min(config.Epochs, 1<<16) // most training runs never grow the lists
	r.result = &Result{
		Model: m.Name(), Validation: -1, ValidateEvery: every, Losses: make([]float32, 0, reserved),
		Accuracies: make([]float64, 0, reserved/every+1), Validated: make([]int32, len(t.labels)),
	}
	return r, nil
}

// step updates the parameters along the gradients of the loss.
func (r *training) step(ctx context.Context, epoch int) error {
	if err := r.tape.Within(ctx, r.differentiate); err != nil {
		return err
	}
	if err := r.in.Err(); err != nil {
		return err
	}
	if !finite(float64(r.loss)) {
		return fmt.Errorf("%s %w: its loss is %v in epoch %d, must be a finite number: scale the features, "+
			"or lower the learning rate", r.model.Name(), ErrDiverged, r.loss, epoch)
	}
	if epoch == r.config.Epochs/2+1 {
		r.optimizer.Rate *= r.config.Drop
	}
	r.optimizer.Step(r.gradients...)
	r.result.Losses = append(r.result.Losses, r.loss)
	return nil
}

// differentiate computes the loss and its gradients.
func (r *training) differentiate() error {
	r.tape.Reset()
	for i, p := range r.parameters {
		r.vars[i] = r.tape.Var(p)
	}
	logits := r.model.Forward(r.tape, r.in, r.vars)
	if n, z := r.in.Nodes(), logits.Value; z.Rows != n || z.Cols != r.sample.Classes {
		return fmt.Errorf("model %s returns logits %d×%d, expected %d×%d", r.model.Name(), z.Rows, z.Cols, n,
			r.sample.Classes)
	}
	if r.sample.Rows != nil {
		logits = r.tape.Rows(logits, r.sample.Rows)
	}
	loss := r.tape.CrossEntropy(logits, r.tape.Var(r.labels))
	for i, g := range r.tape.Grad(loss, r.vars...) {
		r.gradients[i] = g.Value
	}
	r.loss = loss.Value.Data[0]
	return nil
}

// validate evaluates the parameters on the validation nodes, and keeps them if they are the best so far.
func (r *training) validate(ctx context.Context, epoch int) error {
	logits, err := r.view.infer(ctx, r.model, r.parameters)
	if err != nil {
		return err
	}
	accuracy, entropy := Accuracy(logits, r.target.labels), CrossEntropy(logits, r.target.labels, 1)
	if !finite(entropy) {
		return fmt.Errorf("%s %w: its cross entropy on the validation nodes is %v after epoch %d, must be a finite number: "+
			"scale the features or the weights of edges", r.model.Name(), ErrDiverged, entropy, epoch)
	}
	r.result.Accuracies = append(r.result.Accuracies, accuracy)
	if accuracy < r.result.Validation || accuracy == r.result.Validation && entropy >= r.entropy {
		return nil
	}
	r.result.Validation, r.result.Epoch, r.entropy = accuracy, epoch, entropy
	predict(r.result.Validated, logits)
	for i, p := range r.parameters {
		copy(r.best[i].Data, p.Data)
	}
	return nil
}

// test evaluates the best parameters on the test nodes, and completes the result except for Seconds.
func (r *training) test(ctx context.Context) error {
	for k, p := range r.best { // ReLU turns NaN into 0, which hides it from the loss
		if i, j, found, _ := mat.FirstNotFinite(ctx, p); found {
			return fmt.Errorf("%s %w: weight (%d, %d) of parameter %d is %v after epoch %d, must be a finite number: "+
				"scale the features or the weights of edges", r.model.Name(), ErrDiverged, i, j, k, p.Row(i)[j], r.result.Epoch)
		}
	}
	if labels := r.target.testLabels(); len(labels) > 0 {
		r.view.scope = r.target.test
		logits, err := r.view.infer(ctx, r.model, r.best)
		if err != nil {
			return err
		}
		if i, k, found, _ := mat.FirstNotFinite(ctx, logits); found {
			return fmt.Errorf("%s %w: logit %d of test node %d is %v after epoch %d, must be a finite number: "+
				"scale the features or the weights of edges", r.model.Name(), ErrDiverged, k, r.target.testNodes[i],
				logits.Row(i)[k], r.result.Epoch)
		}
		r.result.Test, r.result.Predicted = Accuracy(logits, labels), make([]int32, len(labels))
		r.result.Metrics = MetricsOf(logits, labels)
		predict(r.result.Predicted, logits)
	}
	r.result.Trained = &Trained{r.model, r.target.features, r.config.Hidden, r.sample.Classes, r.best}
	return nil
}

// finite reports whether v is neither NaN nor an infinity.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Config configures a training run. Zero is not replaced by a default, except in ValidateEvery, so start from Defaults.
type Config struct {
	// Hidden is the number of hidden units, at least 1.
	Hidden int `json:"hidden"`
	// Dropout is the probability in [0, 1) of dropping a hidden unit in an epoch.
	Dropout float64 `json:"dropout"`
	// InputDropout is the probability in [0, 1) of dropping a feature in an epoch.
	InputDropout float64 `json:"input_dropout"`
	// LearningRate is Adam's learning rate, above 0.
	LearningRate float64 `json:"learning_rate"`
	// WeightDecay is the coefficient of an L2 penalty, at least 0: WeightDecay times the weights is added to their
	// gradient before the Adam step, as usual for GNNs.
	WeightDecay float64 `json:"weight_decay"`
	// Epochs is the number of steps, at least 1. Each step uses the full sample.
	Epochs int `json:"epochs"`
	// Drop multiplies the learning rate in the second half of the epochs. It must be above 0; 1 keeps the rate constant.
	Drop float64 `json:"drop"`
	// Weighted weights the loss by Sample.Weights. It is off by default, as in the paper.
	Weighted bool `json:"weighted"`
	// ValidateEvery is the number of epochs from one validation to the next. 0 means 1 for targets with fewer than 50,000
	// nodes, where a pass takes a few milliseconds, and 10 for larger ones. The last epoch is always validated.
	ValidateEvery int `json:"validate_every"`
}

// Defaults returns one set of values for all graphs and models. Values stated in the paper are used (§4.1, appendix
// E.3). The others gave the best validation accuracy of GCNs on condensed Cora (70 nodes) and Citeseer (60).
func Defaults() Config {
	return Config{
		Hidden: 256, // §4.1
		// 0.8 is as good on Cora and loses 0.9 points on Citeseer.
		Dropout: 0.5,
		// A feature of a condensed node is already a mean over many nodes. A dropout of one half on it costs 0.2 points of
		// validation accuracy on Cora and 3 on Citeseer. On full graphs it makes no difference.
		InputDropout: 0,
		// 0.001 is too slow for this number of epochs: it loses 0.7 points on Cora and 2 on Citeseer. 0.03 loses 0.2 and 1.4.
		LearningRate: 0.01,
		WeightDecay:  5e-4, // appendix E.3
		// On Citeseer the best epoch often comes after the 300th. 1000 epochs gain 0.2 points over 600.
		Epochs: 1000,
		Drop:   0.1,
	}
}

// Validate returns all invalid parameters of c as joined errors, each a *condense.FieldError.
func (c Config) Validate() error {
	return errors.Join(
		parameter.Check(c.Hidden >= 1, "hidden", c.Hidden, "at least 1"),
		parameter.Check(c.Dropout >= 0 && c.Dropout < 1, "dropout", c.Dropout, "at least 0 and below 1"),
		parameter.Check(c.InputDropout >= 0 && c.InputDropout < 1, "input dropout", c.InputDropout, "at least 0 and below 1"),
		parameter.Check(c.LearningRate > 0, "learning rate", c.LearningRate, "above 0"),
		parameter.Check(c.WeightDecay >= 0, "weight decay", c.WeightDecay, "at least 0"),
		parameter.Check(c.Epochs >= 1, "epochs", c.Epochs, "at least 1"),
		parameter.Check(c.Drop > 0, "drop", c.Drop, "above 0"),
		parameter.Check(c.ValidateEvery >= 0, "validate every", c.ValidateEvery, "at least 0"),
	)
}

// Validations returns the number of validations in a training run on a target of n nodes.
func (c Config) Validations(n int) int {
	every := c.cadence(n)
	return (c.Epochs + every - 1) / every
}

// cadence returns the number of epochs from one validation to the next on a target of n nodes.
func (c Config) cadence(n int) int {
	const large = 50_000
	switch {
	case c.ValidateEvery > 0:
		return c.ValidateEvery
	case n < large:
		return 1
	}
	return 10
}

// Metrics describes predictions in more detail than their accuracy, which says little if most nodes are of one class.
// All values are percentages.
type Metrics struct {
	// Balanced is the balanced accuracy: the mean of the recall over classes, which is the share of a class's nodes
	// that are predicted correctly.
	Balanced float64 `json:"balanced"`
	// MacroF1 is the mean over classes of F1 = 2tp/(2tp + fp + fn). A class without nodes and predictions is left out.
	MacroF1 float64 `json:"macro_f1"`
	// AUC is the area under the ROC curve of class 1. AveragePrecision equals scikit-learn's average_precision_score, in
	// percent. Both are 0, and absent in JSON, unless there are two classes and nodes of each.
	AUC              float64 `json:"auc,omitempty"`
	AveragePrecision float64 `json:"average_precision,omitempty"`
}

// MetricsOf returns the metrics of the predictions for n nodes, given their logits or probabilities, n×c, and their
// labels in [0, c).
func MetricsOf(logits *mat.Dense, labels []int32) Metrics {
	predicted := make([]int32, len(labels))
	predict(predicted, logits)
	right, own, all := make([]float64, logits.Cols), make([]float64, logits.Cols), make([]float64, logits.Cols)
	for i, y := range labels {
		own[y]++
		all[predicted[i]]++
		if predicted[i] == y {
			right[y]++
		}
	}
	var m Metrics
	var withNodes, present float64
	for k, tp := range right {
		if own[k] > 0 {
			m.Balanced += 100 * tp / own[k]
			withNodes++
		}
		if own[k]+all[k] > 0 {
			m.MacroF1 += 200 * tp / (own[k] + all[k])
			present++
		}
	}
	if withNodes > 0 {
		m.Balanced, m.MacroF1 = m.Balanced/withNodes, m.MacroF1/present
	}
	if logits.Cols == 2 && own[0] > 0 && own[1] > 0 {
		m.AUC, m.AveragePrecision = ranking(logits, labels, own)
	}
	return m
}

// ranking returns the area under the ROC curve and the average precision for two classes. Nodes with equal scores form
// one point of the curve.
func ranking(logits *mat.Dense, labels []int32, own []float64) (auc, precision float64) {
	order, scores := make([]int, len(labels)), make([]float32, len(labels))
	for i := range order {
		order[i], scores[i] = i, logits.Row(i)[1]-logits.Row(i)[0]
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var tp, fp float64
	for lo := 0; lo < len(order); {
		hi, more := lo, 0.0
		for ; hi < len(order) && scores[order[hi]] == scores[order[lo]]; hi++ {
			more += float64(labels[order[hi]])
		}
		others := float64(hi-lo) - more
		auc += others * (tp + more/2)
		tp, fp = tp+more, fp+others
		precision += more * tp / (tp + fp)
		lo = hi
	}
	return 100 * auc / (own[0] * own[1]), 100 * precision / own[1]
}

package gnn

import (
	"errors"

	"github.com/graph-condensation/cgc/internal/parameter"
)

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

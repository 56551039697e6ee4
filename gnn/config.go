package gnn

import (
	"errors"

	"github.com/graph-condensation/cgc/internal/parameter"
)

// Config says how a model is trained. Zeros are legal choices, so start from Defaults.
type Config struct {
	// Hidden is the number of hidden units, at least 1.
	Hidden int `json:"hidden"`
	// Dropout is the probability in [0, 1) with which a hidden unit is left out in an epoch.
	Dropout float64 `json:"dropout"`
	// InputDropout is the probability in [0, 1) with which a feature is left out in an epoch.
	InputDropout float64 `json:"input_dropout"`
	// LearningRate is the step size of Adam, above 0.
	LearningRate float64 `json:"learning_rate"`
	// WeightDecay is at least 0. WeightDecay times the weights is added to their gradient: an L2 penalty, inside Adam as
	// usual for GNNs.
	WeightDecay float64 `json:"weight_decay"`
	// Epochs is the number of steps, at least 1. Each step sees the whole sample.
	Epochs int `json:"epochs"`
	// Drop is above 0. It multiplies the learning rate in the second half of the epochs; 1 changes nothing.
	Drop float64 `json:"drop"`
	// Weighted lets nodes count by Sample.Weights. It is off by default: the paper's condensed nodes count alike.
	Weighted bool `json:"weighted"`
	// ValidateEvery is the number of epochs from one validation to the next. 0 chooses by the size of the target: 1 below
	// 50,000 nodes, where a pass takes some milliseconds, and 10 from there on. The last epoch is always validated.
	ValidateEvery int `json:"validate_every"`
}

// Defaults returns one set of values for all graphs and models: the paper's where it states them (§4.1, appendix E.3).
// The others gave the best validation accuracy of GCNs on condensed Cora (70 nodes) and Citeseer (60).
func Defaults() Config {
	return Config{
		Hidden: 256, // §4.1
		// 0.8 is as good on Cora and loses 0.9 points on Citeseer.
		Dropout: 0.5,
		// A feature of a condensed node is a mean over many nodes already. Dropout of one half on it costs 0.2 points of
		// validation accuracy on Cora and 3 on Citeseer. On whole graphs it makes no difference.
		InputDropout: 0,
		// 0.001 is too slow for this number of epochs: it loses 0.7 points on Cora and 2 on Citeseer. 0.03 loses 0.2 and 1.4.
		LearningRate: 0.01,
		WeightDecay:  5e-4, // appendix E.3
		// On Citeseer the best epoch often comes after the 300th. 1000 epochs gain 0.2 points over 600.
		Epochs: 1000,
		Drop:   0.1,
	}
}

// FieldError is the error for a parameter of training that is out of its range. Its Field is the JSON key in words.
type FieldError = parameter.Error

// Validate returns all that is wrong with c, joined. Each mistake is a *FieldError.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, field string, value any, want string) {
		if !ok {
			errs = append(errs, &FieldError{Package: "gnn", Field: field, Value: value, Want: want})
		}
	}
	check(c.Hidden >= 1, "hidden", c.Hidden, "at least 1")
	check(c.Dropout >= 0 && c.Dropout < 1, "dropout", c.Dropout, "at least 0 and below 1")
	check(c.InputDropout >= 0 && c.InputDropout < 1, "input dropout", c.InputDropout, "at least 0 and below 1")
	check(c.LearningRate > 0, "learning rate", c.LearningRate, "above 0")
	check(c.WeightDecay >= 0, "weight decay", c.WeightDecay, "at least 0")
	check(c.Epochs >= 1, "epochs", c.Epochs, "at least 1")
	check(c.Drop > 0, "drop", c.Drop, "above 0")
	check(c.ValidateEvery >= 0, "validate every", c.ValidateEvery, "at least 0")
	return errors.Join(errs...)
}

// Validations returns how many questions about its validation nodes a training asks a target of n nodes.
func (c Config) Validations(n int) int {
	every := c.cadence(n)
	return (c.Epochs + every - 1) / every
}

// cadence returns how often a target of n nodes is validated.
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

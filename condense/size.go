package condense

import (
	"errors"
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parameter"
)

// Size says how many nodes the condensed graph has. Exactly one field is above 0.
type Size struct {
	// Nodes is N′, from the number of classes with training nodes to the number of training nodes.
	Nodes int `json:"nodes,omitempty"`
	// Ratio is N′ as a share of all nodes, in (0, 1]; in the inductive setting, of the training nodes (§4.1).
	Ratio float64 `json:"ratio,omitempty"`
	// LabelRatio is N′ as a share of the training nodes, in (0, 1].
	LabelRatio float64 `json:"label_ratio,omitempty"`
}

// IsZero reports whether no size is given.
func (s Size) IsZero() bool { return s == Size{} }

// Validate returns all errors in s that do not depend on a graph, joined, or nil.
func (s Size) Validate() error {
	var errs []error
	given := 0
	for _, is := range []bool{s.Nodes != 0, s.Ratio != 0, s.LabelRatio != 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		errs = append(errs, fmt.Errorf("%d of nodes, ratio and label ratio given, must be exactly one", given))
	}
	if s.Nodes < 0 {
		errs = append(errs, outOfRange("nodes", s.Nodes, "at least 1"))
	}
	for _, share := range []struct {
		field string
		value float64
	}{{"ratio", s.Ratio}, {"label ratio", s.LabelRatio}} {
		if !(share.value >= 0 && share.value <= 1) {
			errs = append(errs, outOfRange(share.field, share.value, "above 0 and at most 1"))
		}
	}
	return errors.Join(errs...)
}

// Of returns N′ for g: Nodes, or the rounded product of the ratio and the number of nodes that it refers to. If N′ is
// below the number of classes with training nodes, or above the number of training nodes, the error is a *FieldError.
func (s Size) Of(g *graph.Graph, inductive bool) (int, error) {
	train := len(g.Split.Train)
	if train == 0 {
		return 0, Trainable(g)
	}
	present := g.TrainClasses()
	round := func(share float64, of int) int { return int(math.Round(share * float64(of))) }
	nodes, name, value, from := s.Nodes, "nodes", any(s.Nodes), ""
	switch {
	case s.Ratio > 0 && inductive:
		nodes, name, value = round(s.Ratio, train), "ratio", s.Ratio
		from = fmt.Sprintf(" of %d training nodes: nodes %d", train, nodes)
	case s.Ratio > 0:
		nodes, name, value = round(s.Ratio, g.Nodes()), "ratio", s.Ratio
		from = fmt.Sprintf(" of %d nodes: nodes %d", g.Nodes(), nodes)
	case s.LabelRatio > 0:
		nodes, name, value = round(s.LabelRatio, train), "label ratio", s.LabelRatio
		from = fmt.Sprintf(" of %d training nodes: nodes %d", train, nodes)
	}
	if nodes < present || nodes > train {
		bound := fmt.Sprintf("from %d (the classes with training nodes) to %d (the training nodes)", present, train)
		return 0, outOfRange(name, fmt.Sprint(value, from), bound)
	}
	return nodes, nil
}

// Trainable returns an error if a class of validation or test nodes has no training node, or if g has no training
// nodes. Of the labels of validation and test nodes, it reads only which classes occur.
func Trainable(g *graph.Graph) error {
	if len(g.Split.Train) == 0 {
		return fmt.Errorf("graph %s has 0 training nodes, must have at least 1", g.Name)
	}
	train, val, test := g.Counts(g.Split.Train), g.Counts(g.Split.Val), g.Counts(g.Split.Test)
	var errs []error
	for c, n := range train {
		if rest := val[c] + test[c]; n == 0 && rest > 0 {
			errs = append(errs, fmt.Errorf("class %d of graph %s has 0 training nodes and "+
				"%d for validation and test, must be at least 1 for training", c, g.Name, rest))
		}
	}
	return errors.Join(errs...)
}

// FieldError is the error for a parameter that is out of range. Its Field is the JSON key in words, such as "label
// ratio".
type FieldError = parameter.Error

// outOfRange returns a *FieldError.
func outOfRange(name string, value any, want string) error {
	return &FieldError{Field: name, Value: value, Want: want}
}

package session

import (
	"context"
	"errors"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/progress"
)

// Opened describes a graph that was opened.
type Opened struct {
	dataset.Facts
	// ClassNames holds the name of each class; absent if classes are numbered.
	ClassNames []string `json:"class_names,omitempty"`
	// Notes lists what reading changed or added, one sentence each.
	Notes []string `json:"notes"`
	// Problem is the reason why the graph cannot be condensed; absent if it can.
	Problem string `json:"problem,omitempty"`
	// Config holds the defaults for the graph. Why lists the reasons for defaults that depend on the graph.
	Config cgc.Config `json:"config"`
	Why    []string   `json:"why"`
	// Least and Most bound the number of condensed nodes.
	Least int `json:"least"`
	Most  int `json:"most"`
}

// open opens and describes a graph.
func (s *Session) open(ctx context.Context, path string) (*Opened, error) {
	g, err := s.opened(ctx, path)
	if err != nil {
		return nil, err
	}
	progress.Report(ctx, progress.Event{Stage: "describe"})
	o := &Opened{ClassNames: g.ClassNames, Notes: s.notes, Why: []string{}}
	if o.Facts, err = dataset.Describe(g); err != nil {
		return nil, err
	}
	if err := condense.Trainable(g); err != nil {
		o.Problem = s.sentence(err)
	}
	config, why := cgc.DefaultsFor(g)
	o.Config = config
	for _, reason := range why {
		o.Why = append(o.Why, reason.Text)
	}
	o.Least, o.Most = g.TrainClasses(), len(g.Split.Train)
	return o, nil
}

// opened returns the graph at path, and caches the graph opened last.
func (s *Session) opened(ctx context.Context, path string) (*graph.Graph, error) {
	if s.graph != nil && s.path == path {
		return s.graph, nil
	}
	s.graph, s.small, s.notes = nil, nil, []string{} // free memory for the next graph
	progress.Report(ctx, progress.Event{Stage: "read"})
	options := dataset.Options{Note: func(sentence string) { s.notes = append(s.notes, sentence) }}
	g, err := options.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	s.path, s.graph = path, g
	return g, nil
}

// failure returns the Failure for an error.
func (s *Session) failure(err error) Failure {
	f := Failure{Error: s.sentence(err)}
	var several *format.SeveralError
	if errors.As(err, &several) {
		for _, place := range several.Graphs {
			f.Choose = append(f.Choose, Choice{place.Name, place.Path})
		}
	}
	return f
}

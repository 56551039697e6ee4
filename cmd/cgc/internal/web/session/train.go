package session

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/training"
)

// Training holds the parameters of a training run.
type Training struct {
	// Model is one of gnn.Names.
	Model string `json:"model"`
	// Epochs is at least 1; the command's default is 1000.
	Epochs int `json:"epochs"`
	// Seed determines the initial weights and dropout.
	Seed uint64 `json:"seed"`
	// Whole means training on the full graph instead of the condensed graph, for comparison.
	Whole bool `json:"whole"`
	// File is the condensed graph, as in Condensed.Files.
	File string `json:"file"`
}

// Trained is the result of a training run. Accuracies are in percent, measured on nodes of the original graph.
type Trained struct {
	gnn.Result
	Epochs int `json:"epochs"`
	// Nodes is the number of labelled training nodes.
	Nodes int `json:"nodes"`
}

// train trains a model on a condensed graph or on the full graph, and tests it on the graph at path. The results equal
// those of `cgc evaluate --epochs N`: condensed nodes are weighted by the number of their source nodes.
func (s *Session) train(ctx context.Context, path string, t *Training) (*Trained, error) {
	if t == nil {
		return nil, errors.New("the page asks for a training, and does not say which")
	}
	model, err := gnn.Parse(t.Model)
	if err != nil {
		return nil, err
	}
	config := gnn.Defaults()
	config.Epochs, config.Weighted = t.Epochs, !t.Whole
	if err := config.Validate(); err != nil {
		return nil, err
	}
	g, err := s.opened(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := g.NeedTest(); err != nil {
		return nil, err
	}
	small, err := s.condensed(t.File)
	if err != nil {
		return nil, err
	}
	if g, err = g.WithFeatures(small.FeatureNames); err != nil { // once, since it may copy them
		return nil, err
	}
	compared, err := small.CheckTarget(g)
	if err != nil {
		return nil, err
	}
	if err := compared.Err(); err != nil {
		return nil, err
	}
	g, _ = g.WithClasses(small.Classes, small.ClassNames)
	seen, err := small.Seen(ctx, g)
	if err != nil {
		return nil, err
	}
	target, err := gnn.NewTarget(seen, small.Inductive)
	if err != nil {
		return nil, err
	}
	sample := experiment.Sample(small)
	if t.Whole {
		sample = target.Sample()
	}
	r, err := gnn.Train(ctx, model, sample, target, config, training.Source(model, t.Seed))
	if err != nil {
		return nil, err
	}
	s.keep(r, t.Whole)
	trained := &Trained{Result: *r, Epochs: t.Epochs, Nodes: small.Nodes()}
	if t.Whole {
		trained.Nodes = len(g.Split.Train)
	}
	return trained, nil
}

// condensed returns the condensed graph in a file, and caches the one used last.
func (s *Session) condensed(file string) (*condense.Condensed, error) {
	if s.small != nil && s.file == file {
		return s.small, nil
	}
	small, err := condense.Load(file)
	if err != nil {
		return nil, err
	}
	s.file, s.small, s.name = file, small, strings.TrimSuffix(filepath.Base(file), extension)
	s.onSmall, s.onWhole = nil, nil
	return small, nil
}

package format

import (
	"errors"

	"github.com/graph-condensation/cgc/graph"
)

// CheckTraining returns a *ReadError about file if g has a split without training nodes.
func CheckTraining(file string, g *graph.Graph) error {
	if s := g.Split; len(s.Train) > 0 || len(s.Val)+len(s.Test) == 0 {
		return nil
	}
	return &ReadError{File: file, Err: errors.New("the training split is empty, must have at least 1 node")}
}

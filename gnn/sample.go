package gnn

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
)

// Sample is a graph with labels for training, usually a condensed graph.
type Sample struct {
	// Adj is A′: symmetric, without self-loops (normalisation adds them), columns ascending. nil means no edges.
	Adj *mat.CSR
	// Causal says that Adj is strictly lower triangular instead, as in graph.Graph.Causal.
	Causal bool
	// X is X′. If it is neither *mat.Dense nor *mat.CSR, it is read once into a dense matrix.
	X mat.Matrix
	// Y is the class of each node in [0, Classes). Labels of nodes outside Rows are not read.
	Y []int32
	// Classes is c, the number of classes of both sample and target.
	Classes int
	// Rows lists the nodes that the loss covers. nil means all.
	Rows []int32
	// Weights are the loss weights of the nodes of Rows if Config.Weighted is set. They are at least 0, and not all
	// 0. nil means equal weights.
	Weights []float32
	// Soft holds a distribution over the classes for each node of Rows, which replaces its label in the loss. Each row has
	// Classes numbers that are at least 0 and sum to 1. nil means that the loss uses Y.
	Soft *mat.Dense
}

func (s *Sample) validate() error {
	if s.X == nil {
		return fmt.Errorf("sample has no features (nil)")
	}
	n, d := s.X.Dims()
	switch {
	case n == 0 || d == 0:
		return fmt.Errorf("sample of %d nodes with %d features, must be at least 1 of each", n, d)
	case len(s.Y) != n:
		return fmt.Errorf("%d labels for %d nodes of the sample", len(s.Y), n)
	case s.Adj != nil && (s.Adj.Rows != n || s.Adj.Cols != n):
		return fmt.Errorf("adjacency %d×%d for %d nodes of the sample", s.Adj.Rows, s.Adj.Cols, n)
	case s.Rows != nil && len(s.Rows) == 0:
		return fmt.Errorf("no node of the sample to learn from (0 rows), must be at least 1")
	}
	rows := s.Rows
	if rows == nil {
		rows = span(nil, 0, n)
	}
	for _, i := range rows {
		if i < 0 || int(i) >= n {
			return fmt.Errorf("row %d of the sample, must be 0 to %d", i, n-1)
		}
		if y := s.Y[i]; y < 0 || int(y) >= s.Classes {
			return fmt.Errorf("label %d of node %d of the sample, must be 0 to %d", y, i, s.Classes-1)
		}
	}
	if err := s.validateSoft(); err != nil {
		return err
	}
	return s.validateWeights()
}

func (s *Sample) validateSoft() error {
	if s.Soft == nil {
		return nil
	}
	if n := len(s.labels()); s.Soft.Rows != n || s.Soft.Cols != s.Classes {
		return fmt.Errorf("soft labels are %d×%d, expected %d nodes to learn from × %d classes",
			s.Soft.Rows, s.Soft.Cols, n, s.Classes)
	}
	const rounding = 1e-3
	for i := range s.Soft.Rows {
		var sum float64
		for c, p := range s.Soft.Row(i) {
			if !(p >= 0) || math.IsInf(float64(p), 1) {
				return fmt.Errorf("soft label %d of class %d is %v, must be a finite number of at least 0", i, c, p)
			}
			sum += float64(p)
		}
		if math.Abs(sum-1) > rounding {
			return fmt.Errorf("soft label %d has the sum %v, must be 1", i, sum)
		}
	}
	return nil
}

func (s *Sample) validateWeights() error {
	if s.Weights == nil {
		return nil
	}
	if want := len(s.labels()); len(s.Weights) != want {
		return fmt.Errorf("%d weights for %d nodes to learn from", len(s.Weights), want)
	}
	var sum float64
	for i, w := range s.Weights {
		if !(w >= 0) || math.IsInf(float64(w), 1) {
			return fmt.Errorf("weight %d is %v, must be a finite number of at least 0", i, w)
		}
		sum += float64(w)
	}
	if sum == 0 {
		return fmt.Errorf("all %d weights are 0, expected one above", len(s.Weights))
	}
	return nil
}

// targets returns the target distributions of the loss: Soft, or one-hot labels. If weighted is set, each row is
// multiplied by the node's weight divided by the mean weight.
func (s *Sample) targets(weighted bool) *mat.Dense {
	var y *mat.Dense
	if s.Soft != nil {
		y = s.Soft.Clone() // a copy, because it is scaled below
	} else {
		y = autodiff.OneHot(s.labels(), s.Classes)
	}
	if !weighted || s.Weights == nil {
		return y
	}
	var sum float64
	for _, w := range s.Weights {
		sum += float64(w)
	}
	for i, w := range s.Weights {
		row := y.Row(i)
		kernel.Scale(row, float32(float64(w)*float64(len(s.Weights))/sum), row)
	}
	return y
}

// labels returns the labels of the nodes of Rows.
func (s *Sample) labels() []int32 {
	if s.Rows == nil {
		return s.Y
	}
	y := make([]int32, len(s.Rows))
	for r, i := range s.Rows {
		y[r] = s.Y[i]
	}
	return y
}

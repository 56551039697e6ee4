package learn

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/progress"
)

// judge measures the accuracy of iterates on the validation nodes.
type judge struct {
	target *gnn.Target
	config gnn.Config
}

// judgeEvery is the number of epochs between two validations in the judge's own training.
const judgeEvery = 10

// newJudge returns a judge for g, or nil if g has no validation nodes. The judge's graph has no test nodes, so that it
// cannot read their labels.
func newJudge(g *graph.Graph, epochs int) (*judge, error) {
	if len(g.Split.Val) == 0 {
		return nil, nil
	}
	target, err := gnn.NewTarget(g.WithoutTest(), false)
	if err != nil {
		return nil, err
	}
	config := gnn.Defaults()
	config.Epochs, config.ValidateEvery = epochs, judgeEvery
	return &judge{target, config}, nil
}

// accuracy trains a GCN on the condensed graph. It returns the best validation accuracy during training, and the mean
// validation error over all validations, both in percent. The mean error breaks ties between iterates.
func (j *judge) accuracy(ctx context.Context, small *condense.Condensed, y []int32, seed uint64) (
	accuracy, meanError float64, err error,
) {
	sample := &gnn.Sample{Adj: small.Adj, X: small.X, Y: y, Soft: small.Soft, Classes: j.target.Sample().Classes}
	quiet := progress.With(ctx, nil)
	result, err := gnn.Train(quiet, gnn.GCN(), sample, j.target, j.config, rand.NewPCG(seed, math.MaxUint64))
	if err != nil {
		return 0, 0, err
	}
	var sum float64
	for _, a := range result.Accuracies {
		sum += a
	}
	return result.Validation, 100 - sum/float64(len(result.Accuracies)), nil
}

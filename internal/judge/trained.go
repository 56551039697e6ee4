package judge

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
)

// epochs is the number of epochs of Trained. More epochs hardly change the order of candidates.
const epochs = 100

// Trained returns the verdict of a two-layer GCN with 256 units that is trained on a condensed graph for 100 epochs. It
// is closer to longer training runs than Of, and takes many times as long. Weights and dropout are drawn from src;
// shares are as in Of. The GCN is tested once, after the last epoch.
func (j *Judge) Trained(
	ctx context.Context, small *condense.Condensed, shares []float64, src rand.Source,
) (Verdict, error) {
	// The only validation of this training is after the last epoch, and its result is not used.
	target, err := gnn.NewTarget(&graph.Graph{
		Name: small.Graph, Adj: small.Operator().Adj, X: small.X, Y: small.Y, Classes: small.Classes,
		Split: graph.Split{Val: []int32{0}},
	}, false)
	if err != nil {
		return Verdict{}, err
	}
	defer target.Close()
	config := gnn.Defaults()
	config.Epochs, config.ValidateEvery = epochs, epochs
	sample := &gnn.Sample{
		Adj: small.Adj, X: small.X, Y: small.Y, Classes: small.Classes, Soft: small.Soft, Weights: small.Weights(),
	}
	r, err := gnn.Train(ctx, gnn.GCN(), sample, target, config, src)
	if err != nil {
		return Verdict{}, err
	}
	p := r.Trained.Parameters
	j.testing.Lock()
	defer j.testing.Unlock()
	var hidden, projected, logits mat.Dense
	mat.Mul(&hidden, j.features, p[0])
	addRow(&hidden, p[1].Data)
	kernel.ReLU(hidden.Data, hidden.Data)
	mat.Mul(&projected, &hidden, p[2])
	if err := j.operator.ApplyRows(ctx, &logits, &projected, j.rows, j.position); err != nil {
		return Verdict{}, err
	}
	addRow(&logits, p[3].Data)
	return verdict(&logits, j.labels, j.weights(shares)), nil
}

func addRow(x *mat.Dense, b []float32) {
	for i := range x.Rows {
		kernel.Add(x.Row(i), x.Row(i), b)
	}
}

package bench

import "context"

// The formulas and the fit, for tests.
var (
	Exponent = exponent
	GrowthOf = growth

	Propagation  = propagation
	Allocation   = allocation
	Within       = within
	Assessment   = assessment
	Augmentation = augmentation
	Partitioning = partitioning
	Generation   = generation
	Learning     = learning
)

// Graph measures one graph, with a short training.
func (p Plan) Graph(ctx context.Context, name string, scale float64) ([]Case, error) {
	p.epochs = 20
	return p.graph(ctx, name, scale, p.Train)
}

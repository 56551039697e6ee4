package bench

import (
	"context"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// These functions export the formulas and the fit for tests.

func Exponent(scales, seconds []float64) (float64, bool) { return exponent(scales, seconds) }
func GrowthOf(cases []Case) []Growth                     { return growth(cases) }

func Propagation(a *mat.CSR, x mat.Matrix, rows []int32, hops int, precision blocked.Precision) *Work {
	return propagation(a, x, rows, hops, precision)
}
func Assessment(n, d, classes, judged int) *Work { return assessment(n, d, classes, judged) }
func Augmentation(n, d, picks int) *Work         { return augmentation(n, d, picks) }
func Partitioning(train []int, d int, method string, budget []int, account cgc.Account) *Work {
	return partitioning(train, d, method, budget, account)
}
func Generation(a *mat.CSR, d, hops int) *Work                { return generation(a, d, hops) }
func Learning(g *graph.Graph, n int, config gnn.Config) *Work { return learning(g, n, config) }

// Graph measures one graph, with a short training.
func (p Plan) Graph(ctx context.Context, name string, scale float64) ([]Case, error) {
	p.epochs = 20
	return p.graph(ctx, name, scale, p.Train)
}

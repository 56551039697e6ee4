package partition

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/mat"
)

// Random shuffles the rows and cuts them into k groups whose sizes differ by one at most: the ablation "w RAN" of the paper (§4.5),
// which looks at no feature. Its Stats are empty.
type Random struct{}

// Partition implements Method.
func (Random) Partition(ctx context.Context, x *mat.Dense, k int, src rand.Source) (Groups, error) {
	if err := check(x, k); err != nil {
		return Groups{}, err
	}
	if err := ctx.Err(); err != nil {
		return Groups{}, err
	}
	g := Groups{Of: make([]int32, x.Rows), K: k}
	for at, i := range rand.New(src).Perm(x.Rows) {
		g.Of[i] = int32(at * k / x.Rows)
	}
	return g, nil
}

package partition

import (
	"context"
	"errors"
	"math/rand/v2"
)

// Random shuffles the rows and cuts them into k groups whose sizes differ by at most one. It is the ablation "w RAN" of
// the paper (§4.5), which ignores the features. Its Stats are empty.
type Random struct{}

// Partition implements Partitioner.
func (Random) Partition(ctx context.Context, x [][]float32, k int, src rand.Source) (Groups, error) {
	if err := errors.Join(check(x, k), finite(x)); err != nil {
		return Groups{}, err
	}
	if err := ctx.Err(); err != nil {
		return Groups{}, err
	}
	n := len(x)
	g := Groups{Of: make([]int32, n), K: k}
	for at, i := range rand.New(src).Perm(n) {
		g.Of[i] = int32(at * k / n)
	}
	return g, nil
}

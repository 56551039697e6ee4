package partition

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/mat"
)

// Spectral is scalable spectral clustering (Fettal et al. 2023), the paper's choice (§4.1). The zero value is ready to
// use.
//
// For the rows X (n×d) of a class and k groups:
//
//  1. U, n×r with r ≤ k, are the leading left singular vectors of the centred X.
//  2. K_ij = (u_i·u_j + c)², c = 2^-½: a kernel of degree 2, never negative, whose explicit map Z has 1 + r + r(r+1)/2 columns.
//  3. S = D^-½KD^-½ with D = diag(K·1). Its leading eigenvector is D^½1 with eigenvalue 1 and says nothing; the k that follow it
//     minimise the relaxed normalised cut (Ncut) of K.
//  4. The rows of these k vectors are clustered by k-means.
//
// Neither K nor Z is formed (see kernelMap), unless the class is small. Only the spaces spanned by the vectors matter:
// another basis of U leaves K as it is, and one of step 3 the distances that k-means sees. Vectors beyond the rank of X
// or S are left out.
//
// For step 1 the Gram matrix XᵀX of d columns is taken, n·d² operations, or where rows are many and d > 24·(k+8) two
// products XᵀXV with some of all rows and one with all of them: 8·n·d·(k+8). With r the rank found, one product with S
// costs 2·n·r²·k floating-point operations, and none is taken where the linear columns of Z are known to span the
// space, as in most classes of many rows.
type Spectral struct {
	// KMeans clusters the embedding.
	KMeans KMeans
	// Dense is the largest n for which the n×n matrix S is written out and decomposed. 0 means 64: up to there that is
	// quicker. Negative: never.
	Dense int
}

const (
	defaultDense = 64
	// mostProducts bounds the products with S. Where U has k columns they settle after one or two, because U spans almost
	// all of the space; where it has fewer, the eigenvalues at the cut lie close together and either side of it will do.
	mostProducts = 12
	// settled is the mean squared sine of the angles to the subspace sought below which the iteration stops.
	settled = 1e-3
	// settledBound is the same for a bound of that mean, which exceeds it several times.
	settledBound = 1e-2
)

// Partition implements Partitioner.
func (m Spectral) Partition(ctx context.Context, x [][]float32, k int, src rand.Source) (Groups, error) {
	if err := errors.Join(m.KMeans.check(), check(x, k)); err != nil {
		return Groups{}, err
	}
	if k == len(x) {
		return singletons(k), errors.Join(finite(x), ctx.Err())
	}
	random := rand.New(src)
	u, err := leading(ctx, x, k, random)
	if err != nil {
		return Groups{}, err
	}
	dense := m.Dense
	if dense == 0 {
		dense = defaultDense
	}
	var embedding *mat.Dense
	products := 0
	switch {
	case u.Cols == 0: // equal rows
		embedding = u
	default:
		s, err := newKernelMap(ctx, u)
		if err != nil {
			return Groups{}, err
		}
		if len(x) <= dense {
			embedding, err = s.leadingDense(ctx, k)
		} else {
			embedding, products, err = s.leading(ctx, u, k, random)
		}
		if err != nil {
			return Groups{}, err
		}
	}
	groups, err := m.KMeans.Partition(ctx, embedding.View().Rows(), k, src)
	if err != nil {
		return Groups{}, fmt.Errorf("clustering the spectral embedding: %w", err)
	}
	groups.Stats.Products = products
	return groups, nil
}

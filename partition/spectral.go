package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/mat"
)

// Spectral is scalable spectral clustering (Fettal et al. 2023), the paper's choice (§4.1). The zero value is ready to
// use.
//
// For the rows X (n×d) of a class and k groups:
//
//  1. U, n×r with r ≤ k, are the leading left singular vectors of the centred X.
//  2. K_ij = (u_i·u_j + c)² with c = 2^-½. This kernel of degree 2 is never negative. Its explicit map Z has
//     1 + r + r(r+1)/2 columns.
//  3. S = D^-½KD^-½ with D = diag(K·1). Its leading eigenvector is D^½1 with eigenvalue 1 and carries no information.
//     The next k eigenvectors minimise the relaxed normalised cut (Ncut) of K.
//  4. The rows of these k vectors are clustered by k-means.
//
// Neither K nor Z is formed (see kernelMap), unless the class is small. Only the spans of the vectors matter: another
// basis of U does not change K, and another basis in step 3 does not change the distances in k-means. Vectors beyond
// the rank of X or S are left out.
//
// Step 1 needs n·d² operations for the Gram matrix XᵀX. With many rows and d > 24·(k+8), a Krylov method needs
// 8·n·d·(k+8) instead. A product with S costs 2·n·r²·k operations, r being the rank found. No product is needed if the
// linear columns of Z are known to span the space, as in most classes of many rows.
type Spectral struct {
	// KMeans clusters the embedding.
	KMeans KMeans
	// Dense is the largest n for which S is formed and decomposed. 0 means 64, because this is faster for up to 64 rows. A
	// negative number means never.
	Dense int
}

const (
	defaultDense = 64
	// mostProducts limits the products with S. If U has k columns, it spans almost all of the space, and one or two
	// products are enough. If U has fewer, the eigenvalues at the cut are close together, and any of their eigenvectors
	// will do.
	mostProducts = 12
	// settled is the tolerance of the iteration: the mean squared sine of the angles to the wanted subspace.
	settled = 1e-3
	// settledBound is the tolerance on the upper bound of the mean squared sine. The bound is several times the true
	// value, so this is larger than settled.
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
	embedding, products := u, 0
	if u.Cols > 0 { // otherwise all rows are equal
		s, err := newKernelMap(ctx, u)
		if err != nil {
			return Groups{}, err
		}
		if len(x) <= cmp.Or(m.Dense, defaultDense) {
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

// gramColumns decides how k singular vectors of many rows of d columns are found. If d ≤ gramColumns·(k+8), the d×d
// Gram matrix is decomposed (n·d² operations). Otherwise a block Krylov method is cheaper.
const gramColumns = 24

// leading returns an orthonormal basis, n×r, of the space of the leading k left singular vectors of the centred rows of
// x. r is below k if the rank is lower. Many rows are not copied but read two or three times.
func leading(ctx context.Context, x [][]float32, k int, random *rand.Rand) (*mat.Dense, error) {
	if len(x) >= 2*sampleSize(k) {
		u, err := leadingOfMany(ctx, x, k, random)
		if !errors.Is(err, errUnlike) && !errors.Is(err, factor.ErrRange) {
			return u, err
		}
	}
	p, err := newPoints(ctx, x)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return factor.LeftSingular(ctx, p.x, k, random)
}

// leadingOfMany implements leading for many rows: with the eigenvectors of the d×d Gram matrix, or with a Krylov space
// that starts from a sample of the rows.
func leadingOfMany(ctx context.Context, x [][]float32, k int, random *rand.Rand) (*mat.Dense, error) {
	if len(x[0]) <= gramColumns*(k+factor.Oversampling) {
		return factor.CentredLeftByGram(ctx, centred(x), k, random)
	}
	sample, err := newPoints(ctx, sampled(x, sampleRows, random))
	if err != nil || sample.unit != 1 || sample.total == 0 {
		return nil, errUnlike
	}
	return factor.CentredLeftByKrylov(ctx, sample.others(x), sample, k, random)
}

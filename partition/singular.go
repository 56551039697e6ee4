package partition

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/mat"
)

// gramColumns decides how k singular vectors of many rows of d columns are found. If d ≤ gramColumns·(k+8), the d×d
// Gram matrix is decomposed (n·d² operations). Otherwise a block Krylov method is cheaper.
const gramColumns = 24

// leading returns an orthonormal basis, n×r, of the space of the leading k left singular vectors of the centred rows of
// x. r is below k if the rank is lower. Many rows are not copied but read two or three times.
func leading(ctx context.Context, x [][]float32, k int, random *rand.Rand) (*mat.Dense, error) {
	if len(x) >= 2*sampleSize(k) {
		find := leadingByGram
		if len(x[0]) > gramColumns*(k+factor.Oversampling) {
			find = leadingByKrylov
		}
		if u, err := find(ctx, x, k, random); !errors.Is(err, errUnlike) && !errors.Is(err, factor.ErrRange) {
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

// leadingByGram implements leading with the eigenvectors of the d×d Gram matrix.
func leadingByGram(ctx context.Context, x [][]float32, k int, random *rand.Rand) (*mat.Dense, error) {
	return factor.CentredLeftByGram(ctx, centred(x), k, random)
}

// leadingByKrylov implements leading with a Krylov space that starts from a sample of the rows.
func leadingByKrylov(ctx context.Context, x [][]float32, k int, random *rand.Rand) (*mat.Dense, error) {
	sample, err := newPoints(ctx, sampled(x, sampleRows, random))
	if err != nil || sample.unit != 1 || sample.total == 0 {
		return nil, errUnlike
	}
	return factor.CentredLeftByKrylov(ctx, sample.others(x), sample, k, random)
}

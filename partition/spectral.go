package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
)

// Spectral is scalable spectral clustering (Fettal et al. 2023), the paper's choice (§4.1). The zero value is ready to use.
//
// For the rows X (n×d) of a class and k groups:
//
//  1. U, n×r with r ≤ k, are the leading left singular vectors of the centred X.
//  2. K_ij = (u_i·u_j + c)², c = 2^-½: a kernel of degree 2, never negative, whose explicit map Z has 1 + r + r(r+1)/2 columns.
//  3. S = D^-½KD^-½ with D = diag(K·1). Its leading eigenvector is D^½1 with eigenvalue 1 and says nothing; the k that follow it
//     minimise the relaxed normalised cut (Ncut) of K.
//  4. The rows of these k vectors are clustered by k-means.
//
// Neither K nor Z is formed (see kernelMap), unless the class is small. Only the spaces spanned by the vectors matter: another basis of U
// leaves K as it is, and one of step 3 the distances that k-means sees. Vectors beyond the rank of X or S are left out.
//
// For step 1 the Gram matrix XᵀX of d columns is taken, n·d² operations, or where rows are many and d > 24·(k+8) two products XᵀXV with some of all rows and one with all of them: 8·n·d·(k+8). With r
// the rank found, one product with S costs 2·n·r²·k floating-point operations, and none is taken where the linear columns of Z are known to span the space, as in most classes of many rows.
type Spectral struct {
	// KMeans clusters the embedding.
	KMeans KMeans
	// Dense is the largest n for which the n×n matrix S is written out and decomposed. 0 means 64: up to there that is quicker. Negative: never.
	Dense int
}

const (
	defaultDense = 64
	// oversampling is how many vectors more than k are sought where U spans fewer than k: the last of them then need not settle.
	oversampling = 8
	// mostProducts bounds the products with S. Where U has k columns they settle after one or two, because U
	// spans almost all of the space; where it has fewer, the eigenvalues at the cut lie close together and either side of it will do.
	mostProducts = 12
	// settled is the mean squared sine of the angles to the subspace sought below which the iteration stops.
	settled = 1e-3
	// settledBound is the same for a bound of that mean, which exceeds it several times.
	settledBound = 1e-2
	// settledTrace is the gain of a step in the trace that the subspace carries, as a share of it, below which subspace iteration stops, and mostSteps bounds the steps.
	settledTrace = 1e-4
	mostSteps    = 100
	// negligible is the ratio to the largest below which the eigenvalue of a Gram matrix of float32 columns is rounding.
	negligible = 1e-6
	// independent is the least squared distance of a column of norm 1 from the space of those before it with which it is made orthogonal to them right away.
	independent = 1e-2
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
	case len(x) <= dense:
		embedding = newKernelMap(u).leadingDense(k)
	default:
		if embedding, products, err = newKernelMap(u).leading(ctx, u, k, random); err != nil {
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

// leftSingular returns an orthonormal basis, n×r, of the space of the leading k left singular vectors of x; r is less than k where the rank is.
func leftSingular(x *mat.Dense, k int, random *rand.Rand) *mat.Dense {
	if x.Rows <= x.Cols {
		values, vectors := leadingEigen(mat.GramRows(x), k, random)
		return columns(vectors, rank(values, k))
	}
	values, right := leadingEigen(mat.Gram(x), k, random)
	var u mat.Dense
	mat.Mul(&u, x, columns(right, rank(values, k)))
	return orthonormal(&u)
}

// leadingEigen returns at least the k largest eigenvalues of a positive semi-definite g, or all, and their eigenvectors as columns. Where k is well below the order, they come
// from subspace iteration on products in float32, until the trace that the subspace carries has settled; the full decomposition, of cubic cost and slow, is for the rest. Eigenvalues that lie
// close together at the cut may then be told apart wrongly, which costs the trace next to nothing.
func leadingEigen(g *mat.Symmetric, k int, random *rand.Rand) (values []float64, vectors *mat.Dense) {
	m := k + oversampling
	trace := g.Trace()
	if g.N < 3*m || trace == 0 {
		return eigen(g)
	}
	scaled := mat.NewDense(g.N, g.N)
	for i, v := range g.Data {
		scaled.Data[i] = float32(v / trace)
	}
	image := mat.NewDense(g.N, m)
	for i := range image.Data {
		image.Data[i] = float32(random.NormFloat64())
	}
	var v *mat.Dense
	before := 0.0
	for range mostSteps {
		v = orthonormal(image)
		mat.Mul(image, scaled, v)
		carried := 0.0 // tr VᵀGV
		for i := range image.Rows {
			carried += float64(kernel.Dot(v.Row(i), image.Row(i)))
		}
		if carried-before <= settledTrace*carried {
			break
		}
		before = carried
	}
	var projected mat.Dense
	mat.MulTA(&projected, v, image)
	ritz := mat.NewSymmetric(v.Cols)
	for i := range v.Cols { // rounding leaves it not quite symmetric
		for j := range v.Cols {
			ritz.Data[i*v.Cols+j] = (float64(projected.Row(i)[j]) + float64(projected.Row(j)[i])) / 2
		}
	}
	values, turn := eigen(ritz)
	for i := range values {
		values[i] *= trace
	}
	vectors = new(mat.Dense)
	mat.Mul(vectors, v, turn)
	return values, vectors
}

// eigen returns the eigenvalues of s, largest first, and the eigenvectors as columns.
func eigen(s *mat.Symmetric) (values []float64, vectors *mat.Dense) {
	values, rows := s.Eigen()
	vectors = mat.NewDense(s.N, s.N)
	for j := range s.N {
		for i, v := range rows[j*s.N : (j+1)*s.N] {
			vectors.Row(i)[j] = float32(v)
		}
	}
	return values, vectors
}

// rank returns how many of the leading k eigenvalues, largest first, are not rounding.
func rank(values []float64, k int) (r int) {
	for r < min(k, len(values)) && values[r] > 0 && values[r] > negligible*values[0] {
		r++
	}
	return r
}

// orthonormal returns an orthonormal basis of the column space of v. It scales the columns of v.
func orthonormal(v *mat.Dense) *mat.Dense {
	scaleColumns(v)
	g := mat.Gram(v)
	turn := inverseFactor(g)
	if turn == nil { // columns that depend on others, or nearly
		values, vectors := eigen(g)
		turn = columns(vectors, rank(values, v.Cols))
		for i := range turn.Rows {
			for j := range turn.Cols {
				turn.Row(i)[j] /= float32(math.Sqrt(values[j]))
			}
		}
	}
	var q mat.Dense
	mat.Mul(&q, v, turn)
	return &q
}

// inverseFactor returns U⁻¹ of the Cholesky factorisation g = UᵀU for g with ones on the diagonal; nil if a pivot is below independent.
func inverseFactor(g *mat.Symmetric) *mat.Dense {
	factor, err := g.Cholesky()
	if err != nil || factor.LeastPivot() < independent {
		return nil
	}
	turn := mat.NewDense(g.N, g.N)
	for i, e := range factor.Inverse() {
		turn.Data[i] = float32(e)
	}
	return turn
}

// scaleColumns gives each column of v that is not zero the norm 1.
func scaleColumns(v *mat.Dense) {
	sum, squares, scale := make([]float64, v.Cols), make([]float32, v.Cols), make([]float32, v.Cols)
	for i := range v.Rows {
		kernel.Mul(squares, v.Row(i), v.Row(i))
		kernel.Accumulate(sum, 1, squares)
	}
	for j, s := range sum {
		if s > 0 {
			scale[j] = float32(1 / math.Sqrt(s))
		}
	}
	for i := range v.Rows {
		kernel.Mul(v.Row(i), v.Row(i), scale)
	}
}

package factor

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
)

const (
	// Oversampling is the number of additional vectors in a subspace iteration. The last vectors need not converge.
	Oversampling = 8
	// settledTrace ends subspace iteration when a step raises the trace captured by the subspace by less than this share.
	settledTrace = 1e-4
	// mostSteps limits the steps of subspace iteration.
	mostSteps = 100
	// negligible: an eigenvalue of a Gram matrix of float32 columns counts as a rounding error if it is at most negligible
	// times the largest.
	negligible = 1e-6
	// independent decides how Orthonormal works. If the squared distance of a unit column to the span of the earlier
	// columns is below independent, it uses eigenvectors instead of a Cholesky factor.
	independent = 1e-2
)

// EigenColumns is Eigen with the eigenvectors as the columns of an n×n matrix of float32.
func (s *Symmetric) EigenColumns(ctx context.Context) (values []float64, vectors *mat.Dense, err error) {
	values, rows, err := s.Eigen(ctx)
	if err != nil {
		return nil, nil, err
	}
	return values, Rounded(rows, s.N).T(), nil
}

// LeadingEigen returns at least the k largest eigenvalues of a positive semi-definite g, largest first, and their
// eigenvectors as columns, n×m with m ≥ min(k, n).
//
// If 3·(k+Oversampling) exceeds the order of g, or g is zero, Eigen finds all eigenvalues. Otherwise subspace iteration
// (Halko, Martinsson and Tropp 2011, §4.5) starts from k+Oversampling random vectors V of src and repeats
//
//	V ← orthonormal basis of GV
//
// in float32 until tr VᵀGV grows by less than 10⁻⁴ of itself in a step, but at most 100 times. A Rayleigh-Ritz step on
// VᵀGV follows. If eigenvalues are close together at the cut, the selected ones may not be the largest. That hardly
// lowers the trace.
//
// A step costs 2n²(k+Oversampling) operations. The result depends only on g, k and src. Errors are as in Eigen.
func LeadingEigen(ctx context.Context, g *Symmetric, k int, src rand.Source) (values []float64, vectors *mat.Dense,
	err error) {
	m := k + Oversampling
	trace := g.Trace()
	if g.N < 3*m || trace == 0 {
		return g.EigenColumns(ctx)
	}
	scaled := mat.NewDense(g.N, g.N)
	for i, v := range g.Data {
		scaled.Data[i] = float32(v / trace)
	}
	image := Gaussian(g.N, m, src)
	var v *mat.Dense
	before := 0.0
	for range mostSteps {
		if v, err = Orthonormal(ctx, image); err != nil {
			return nil, nil, err
		}
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
	values, turn, err := SymmetricPart(&projected).EigenColumns(ctx) // rounding makes it slightly asymmetric
	if err != nil {
		return nil, nil, err
	}
	for i := range values {
		values[i] *= trace
	}
	vectors = new(mat.Dense)
	mat.Mul(vectors, v, turn)
	return values, vectors, nil
}

// Gaussian returns a matrix of standard normal numbers.
func Gaussian(rows, cols int, src rand.Source) *mat.Dense {
	random := rand.New(src)
	m := mat.NewDense(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(random.NormFloat64())
	}
	return m
}

// Rank returns how many of the leading k eigenvalues of a Gram matrix of float32 columns, largest first, are not
// rounding errors: they exceed 10⁻⁶ of the largest.
func Rank(values []float64, k int) (r int) {
	for r < min(k, len(values)) && values[r] > 0 && values[r] > negligible*values[0] {
		r++
	}
	return r
}

// Orthonormal returns an orthonormal basis, n×r, of the column space of v, n×m with m small. r is the numerical rank of
// v, as defined by Rank. It scales the columns of v.
//
// With the columns scaled to norm 1 and G = VᵀV = UᵀU, the basis is VU⁻¹. If a pivot of the Cholesky factor U is below
// 10⁻², it is VQΛ^-½ instead, with the eigenvectors Q and eigenvalues Λ of G that Rank counts. The error is ctx.Err(),
// or it says that v is not finite.
func Orthonormal(ctx context.Context, v *mat.Dense) (*mat.Dense, error) {
	scaleColumns(v)
	g, err := Gram(ctx, v)
	if err != nil {
		return nil, err
	}
	factor, err := g.Cholesky(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var turn *mat.Dense
	if err == nil && factor.leastPivot() >= independent {
		turn = Rounded(factor.inverse(), g.N)
	} else { // some columns are linearly dependent, or nearly so
		values, vectors, err := g.EigenColumns(ctx)
		if err != nil {
			return nil, err
		}
		turn = vectors.Columns(0, Rank(values, v.Cols))
		for i := range turn.Rows {
			for j := range turn.Cols {
				turn.Row(i)[j] /= float32(math.Sqrt(values[j]))
			}
		}
	}
	var q mat.Dense
	mat.Mul(&q, v, turn)
	return &q, nil
}

// scaleColumns scales each nonzero column of v to norm 1.
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

package partition

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

const (
	// gramColumns is the number of columns for each vector sought up to which the Gram matrix of many rows is taken and decomposed. With more, its n·d² operations are more than those of
	// products with as many vectors, and the vectors are sought among the Krylov space of two blocks.
	gramColumns = 24
	// sampleSteps is the number of power iterations on the rows of a sample that precede the products with all rows.
	sampleSteps = 4
)

// leading returns an orthonormal basis, n×r, of the space of the leading k left singular vectors of the centred rows of x; r is less than k where the rank is. Many rows are not copied but read
// two or three times.
func leading(ctx context.Context, x [][]float32, k int, random *rand.Rand) (*mat.Dense, error) {
	if len(x) >= 2*sampleSize(k) {
		find := leadingByGram
		if len(x[0]) > gramColumns*(k+oversampling) {
			find = leadingByKrylov
		}
		if u, err := find(ctx, x, k, random); err != errUnlike {
			return u, err
		}
	}
	p, err := newPoints(x)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return leftSingular(p.x, k, random), nil
}

// leadingByGram is leading by the eigenvectors of the d×d Gram matrix.
func leadingByGram(ctx context.Context, x [][]float32, k int, random *rand.Rand) (*mat.Dense, error) {
	p := &points{n: len(x), d: len(x[0]), rows: x, shift: columnMeans(x)}
	for j, v := range p.shift {
		p.shift[j] = -v
	}
	g := mat.GramBlocks(p.n, p.d, func(dst *mat.Dense, lo int) { p.block(dst.Data, lo, lo+dst.Rows) })
	if trace := g.Trace(); !(trace >= leastNorm*float64(p.n) && trace <= mostNorm) {
		return nil, errUnlike
	}
	values, right := leadingEigen(g, k, random)
	u, err := p.project(ctx, columns(right, rank(values, k)))
	if err != nil {
		return nil, err
	}
	return orthonormal(u), nil
}

// leadingByKrylov is leading by the Rayleigh-Ritz method in the space of V and XᵀXV (Musco and Musco 2015), V being what power iteration finds on a sample of the rows from a random start.
func leadingByKrylov(ctx context.Context, x [][]float32, k int, random *rand.Rand) (*mat.Dense, error) {
	sample, err := newPoints(sampled(x, sampleRows, random))
	if err != nil || sample.unit != 1 || sample.total == 0 {
		return nil, errUnlike
	}
	p := sample.others(x)
	v := mat.NewDense(p.d, k+oversampling)
	for i := range v.Data {
		v.Data[i] = float32(random.NormFloat64())
	}
	for range sampleSteps {
		if v, err = sample.covariance(ctx, v); err != nil {
			return nil, err
		}
		v = orthonormal(v)
	}
	image, err := p.covariance(ctx, v)
	if err != nil {
		return nil, err
	}
	scaleColumns(image)
	both := mat.NewDense(p.d, v.Cols+image.Cols)
	for i := range p.d {
		copy(both.Row(i)[copy(both.Row(i), v.Row(i)):], image.Row(i))
	}
	y, err := p.project(ctx, orthonormal(both))
	if err != nil {
		return nil, err
	}
	values, turn := eigen(mat.Gram(y))
	var u mat.Dense
	mat.Mul(&u, y, columns(turn, rank(values, k)))
	return orthonormal(&u), nil
}

// tasks is the most tasks that a pass over many rows is cut into, each of which keeps sums of its own.
const tasks = 32

// chunk returns the number of rows in a task.
func (p *points) chunk() int { return max(4*rowChunk, (p.n+tasks-1)/tasks) }

// covariance returns PᵀP·v, d×m, for the points P and v d×m. The points' mean, about zero, is left in: it is the Ritz values that have to be of centred points, and project sees to that.
// The error is errUnlike if the result is not finite.
func (p *points) covariance(ctx context.Context, v *mat.Dense) (*mat.Dense, error) {
	d, m := v.Dims()
	parts := make([]mat.Dense, (p.n+p.chunk()-1)/p.chunk())
	err := parallel.ForContext(ctx, p.n, p.chunk(), func(lo, hi int) {
		part := &parts[lo/p.chunk()]
		part.Reshape(d, m)
		y := mat.NewDense(p.blockRows(), m)
		p.each(lo, hi, func(at, end int, x []float32) {
			kernel.Gemm(y.Data, m, x, d, false, v.Data, m, false, end-at, m, d, false)
			kernel.Gemm(part.Data, m, x, d, true, y.Data, m, false, d, m, end-at, at > lo)
		})
	})
	if err != nil {
		return nil, err
	}
	image := &parts[0]
	for _, part := range parts[1:] {
		kernel.Add(image.Data, image.Data, part.Data)
	}
	if !(kernel.Dot(image.Data, image.Data) <= math.MaxFloat32) {
		return nil, errUnlike
	}
	return image, nil
}

// project returns P·v, n×m, for the centred points P. The error is errUnlike if that is not finite.
func (p *points) project(ctx context.Context, v *mat.Dense) (*mat.Dense, error) {
	d, m := v.Dims()
	u := mat.NewDense(p.n, m)
	err := parallel.ForContext(ctx, p.n, p.chunk(), func(lo, hi int) {
		p.each(lo, hi, func(at, end int, x []float32) {
			kernel.Gemm(u.Data[at*m:], m, x, d, false, v.Data, m, false, end-at, m, d, false)
		})
	})
	if err != nil {
		return nil, err
	}
	shift := columnMeans(u.View().Rows())
	if !(kernel.Dot(shift, shift) <= mostNorm) {
		return nil, errUnlike
	}
	kernel.Scale(shift, -1, shift)
	for i := range p.n {
		kernel.Add(u.Row(i), u.Row(i), shift)
	}
	return u, nil
}

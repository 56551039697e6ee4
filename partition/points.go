package partition

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// points are rows prepared for distances by the expansion ‖x−c‖² = ‖x‖² − 2x·c + ‖c‖². They are shifted so that their
// mean is about zero, which avoids cancellation in the expansion. They are scaled by a power of two if squares could
// overflow or underflow in float32.
//
// Points are kept in memory, or recomputed from the rows for each pass if there are only a few passes: see Block. If
// there are few rows of many columns, points in memory are replaced by their coordinates in the space that they span: n
// columns instead of d, with the same distances.
type points struct {
	n, d  int
	x     *mat.Dense  // n×d; nil if the points are not in memory
	rows  [][]float32 // the original rows
	shift []float32   // what is added to each row: minus a mean
	norms []float32   // ‖x_i‖²; if points are not in memory, known only after the first pass
	total float64     // Σ_i ‖x_i‖²
	unit  float64     // unit times a squared distance of points is the squared distance of their rows
}

// rowChunk is the number of rows in one task of newPoints.
const rowChunk = 512

// centred returns x as points that are not in memory, shifted by minus its mean. Their norms are not computed yet.
func centred(x [][]float32) *points {
	p := &points{n: len(x), d: len(x[0]), rows: x, shift: factor.ColumnMeans(x), unit: 1}
	for j, v := range p.shift {
		p.shift[j] = -v
	}
	return p
}

// newPoints returns the rows of x as points in memory. The error names a value that is not finite, says that the rows
// are too far apart, or is ctx.Err().
func newPoints(ctx context.Context, x [][]float32) (*points, error) {
	n, d := len(x), len(x[0])
	p := centred(x)
	p.x, p.norms = mat.NewDense(n, d), make([]float32, n)
	parallel.For(n, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := p.x.Row(i)
			if i+ahead < hi {
				kernel.Prefetch(x[i+ahead])
			}
			kernel.Add(row, x[i], p.shift)
			p.norms[i] = kernel.Dot(row, row)
		}
	})
	if largest := slices.Max(p.norms); !(largest >= factor.LeastNorm && largest <= factor.MostNorm) {
		if err := p.rescale(); err != nil {
			return p, cmp.Or(finite(x), err)
		}
	}
	if n <= fewRows && n < d {
		var err error
		if p.x, err = coordinates(ctx, p.x); err != nil {
			return p, err
		}
		p.d = p.x.Cols
		for i := range n {
			p.norms[i] = float32(squaredNorm(p.x.Row(i)))
		}
	}
	for _, v := range p.norms {
		p.total += float64(v)
	}
	return p, nil
}

// others returns x as points with the shift of p, not in memory. p must not be scaled or converted to coordinates.
func (p *points) others(x [][]float32) *points {
	return &points{n: len(x), d: p.d, rows: x, shift: p.shift, norms: make([]float32, len(x)), unit: 1}
}

// Dims returns the numbers of points and of their coordinates.
func (p *points) Dims() (n, d int) { return p.n, p.d }

// Block returns points lo to hi−1, one after the other. It computes them in buffer if they are not in memory.
func (p *points) Block(lo, hi int, buffer *mat.Dense) []float32 {
	if p.x != nil {
		return p.x.Data[lo*p.d : hi*p.d]
	}
	buffer.Reshape(hi-lo, p.d)
	for i := lo; i < hi; i++ {
		if i+ahead < hi {
			kernel.Prefetch(p.rows[i+ahead])
		}
		kernel.Add(buffer.Row(i-lo), p.rows[i], p.shift)
	}
	return buffer.Data
}

// rescale multiplies the points by the power of two that brings their largest magnitude into [½, 1).
func (p *points) rescale() error {
	var top uint32
	for _, v := range p.x.Data { // the bits compare like the magnitudes, and NaN is above all
		top = max(top, math.Float32bits(v)&^(1<<31))
	}
	largest := float64(math.Float32frombits(top))
	if !(largest <= math.MaxFloat32) {
		return fmt.Errorf("the rows differ from their mean by more than the largest float32, %g", math.MaxFloat32)
	}
	if top == 0 {
		return nil
	}
	_, exponent := math.Frexp(largest)
	scale := math.Ldexp(1, -exponent)
	for i := range p.x.Rows {
		row := p.x.Row(i)
		for j, v := range row {
			row[j] = float32(float64(v) * scale)
		}
		p.norms[i] = kernel.Dot(row, row)
	}
	p.unit = 1 / (scale * scale)
	return nil
}

// fewRows is the largest number of rows that are converted to coordinates. Up to this number, the decomposition costs
// less than it saves in a few runs of k-means.
const fewRows = 64

// coordinates returns the n rows of x in the basis of their right singular vectors, XV = UΣ, from XXᵀ = UΣ²Uᵀ. Columns
// below the rounding error of XXᵀ are left out. The only error is ctx.Err().
func coordinates(ctx context.Context, x *mat.Dense) (*mat.Dense, error) {
	g, err := factor.GramRows(ctx, x)
	if err != nil {
		return nil, err
	}
	values, vectors, err := g.EigenColumns(ctx)
	if err != nil {
		return nil, err
	}
	y := vectors.Columns(0, factor.Rank(values, x.Rows))
	for i := range y.Rows {
		for j := range y.Cols {
			y.Row(i)[j] *= float32(math.Sqrt(values[j]))
		}
	}
	return y, nil
}

// nearestChunk is the number of rows per call of the kernel. Each call packs the centres again.
const nearestChunk = 1024

// nearest finds the nearest centre of each point and the squared distance to it. The points must be in memory.
// centreNorms are the centres' squared norms. The result is meaningless once ctx is done.
func (p *points) nearest(ctx context.Context, of []int32, dist []float32, centres *mat.Dense, centreNorms []float32) {
	d := p.d
	to := kernel.Points{Data: centres.Data, Stride: d, N: centres.Rows, Norms: centreNorms}
	_ = parallel.ForContext(ctx, p.n, nearestChunk, func(lo, hi int) { // the caller checks ctx
		points := kernel.Points{Data: p.x.Data[lo*d : hi*d], Stride: d, N: hi - lo, Norms: p.norms[lo:hi]}
		kernel.Nearest(of[lo:hi], dist[lo:hi], points, to, d)
	})
}

// squaredNorm returns ‖x‖² summed in float64.
func squaredNorm(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// squaredDistance returns ‖x−y‖². It sums squared differences, which avoids cancellation.
func squaredDistance(x, y []float32) (sum float64) {
	for j, v := range x {
		diff := float64(v) - float64(y[j])
		sum += diff * diff
	}
	return sum
}

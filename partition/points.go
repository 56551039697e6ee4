package partition

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// points are rows made fit for distances by the expansion ‖x−c‖² = ‖x‖² − 2x·c + ‖c‖²: moved so that their mean is about zero, which
// keeps the expansion from cancelling, and scaled by a power of two where squares could overflow or vanish in float32.
//
// A few rows of many columns are also turned into coordinates of the space that they span: n columns in place of d, the same distances.
type points struct {
	x     *mat.Dense // n×d or n×r, r ≤ n
	norms []float32  // ‖x_i‖²
	total float64    // Σ_i ‖x_i‖²
	unit  float64    // a squared distance between points times unit is one between the rows they come from
}

// rowChunk is the number of rows in one task of a pass over the rows. It decides the order of sums.
const rowChunk = 512

// newPoints returns the rows of x as points. The error names a number that is not finite, or says that the rows lie too far apart.
func newPoints(x [][]float32) (points, error) {
	n, d := len(x), len(x[0])
	p := points{x: mat.NewDense(n, d), norms: make([]float32, n), unit: 1}
	mean := columnMeans(x)
	parallel.For(n, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := p.x.Row(i)
			copy(row, x[i])
			kernel.Axpy(-1, mean, row)
			p.norms[i] = kernel.Dot(row, row)
		}
	})
	// Between these bounds, squared distances neither overflow nor lose a significant part to underflow.
	if largest := slices.Max(p.norms); !(largest >= 0x1p-40 && largest <= 0x1p40) {
		if err := p.rescale(); err != nil {
			return p, cmp.Or(finite(x), err)
		}
	}
	if n <= fewRows && n < d {
		p.x = coordinates(p.x)
		for i := range n {
			p.norms[i] = float32(squaredNorm(p.x.Row(i)))
		}
	}
	for _, v := range p.norms {
		p.total += float64(v)
	}
	return p, nil
}

// rescale brings the largest magnitude among the points to between a half and one.
func (p *points) rescale() error {
	var top uint32
	for _, v := range p.x.Data { // as bits: these compare like the magnitudes, and NaN is above all
		top = max(top, math.Float32bits(v)&^(1<<31))
	}
	largest := float64(math.Float32frombits(top))
	if !(largest <= math.MaxFloat32) {
		return fmt.Errorf("partition: the rows differ from their mean by more than the largest float32, %g", math.MaxFloat32)
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

// fewRows is the largest number of rows that are turned into coordinates: up to there the decomposition costs less than a few runs of
// k-means save.
const fewRows = 64

// coordinates returns the n rows of x in the basis of their right singular vectors, XV = UΣ, from XXᵀ = UΣ²Uᵀ. What falls below the rounding
// of XXᵀ is left out.
func coordinates(x *mat.Dense) *mat.Dense {
	values, vectors := eigen(mat.GramRows(x))
	y := columns(vectors, rank(values, x.Rows))
	for i := range y.Rows {
		for j := range y.Cols {
			y.Row(i)[j] *= float32(math.Sqrt(values[j]))
		}
	}
	return y
}

// columnMeans returns the mean of each column, summed in float64 and rounded to float32: the mean of equal rows is then exactly
// that row.
func columnMeans(x [][]float32) []float32 {
	n, d := len(x), len(x[0])
	part := make([][]float64, (n+rowChunk-1)/rowChunk)
	parallel.For(n, rowChunk, func(lo, hi int) {
		sum := make([]float64, d)
		for _, row := range x[lo:hi] {
			kernel.Accumulate(sum, 1, row)
		}
		part[lo/rowChunk] = sum
	})
	mean := make([]float32, d)
	for j := range mean {
		sum := 0.0
		for _, p := range part {
			sum += p[j]
		}
		mean[j] = float32(sum / float64(n))
	}
	return mean
}

// squaredNorm returns ‖x‖² summed in float64.
func squaredNorm(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// squaredDistance returns ‖x−y‖², from the differences and so without cancellation.
func squaredDistance(x, y []float32) (sum float64) {
	for j, v := range x {
		diff := float64(v) - float64(y[j])
		sum += diff * diff
	}
	return sum
}

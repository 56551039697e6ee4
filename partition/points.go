package partition

import (
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// points are rows made fit for distances by the expansion ‖x−c‖² = ‖x‖² − 2x·c + ‖c‖²: moved so that their mean is about zero, which
// keeps the expansion from cancelling, and scaled by a power of two where squares could overflow or vanish in float32.
//
// A few rows of many columns are also turned into coordinates of the space that they span: n columns in place of d, the same distances.
type points struct {
	x     *mat.Dense // n×d or n×r, r ≤ n
	total float64    // Σ_i ‖x_i‖²
	unit  float64    // a squared distance between points times unit is one between the rows they come from
}

// rowChunk is the number of rows in one task of a pass over the rows. It decides the order of sums.
const rowChunk = 512

// newPoints returns the rows of x as points. x is left alone.
func newPoints(x *mat.Dense) (points, error) {
	n, d := x.Dims()
	p := points{x: mat.NewDense(n, d), unit: 1}
	mean := columnMeans(x)
	largest := make([]uint32, (n+rowChunk-1)/rowChunk) // |v|, as bits: these compare like the numbers, and faster
	p.total = parallel.Sum(n, rowChunk, func(lo, hi int) (sum float64) {
		var top uint32
		for i := lo; i < hi; i++ {
			to := p.x.Row(i)
			for j, v := range x.Row(i) {
				v -= mean[j]
				to[j] = v
				sum += float64(v) * float64(v)
				top = max(top, math.Float32bits(v)&^(1<<31))
			}
		}
		largest[lo/rowChunk] = top
		return sum
	})
	top := math.Float32frombits(slices.Max(largest))
	if math.IsInf(float64(top), 0) {
		return p, fmt.Errorf("partition: the rows differ from their mean by more than the largest float32, %g", math.MaxFloat32)
	}
	// Between these bounds the squared norm of a million columns neither overflows nor loses a significant part to underflow.
	if top != 0 && (top < 0x1p-20 || top > 0x1p20) {
		_, exponent := math.Frexp(float64(top))
		scale := math.Ldexp(1, -exponent)
		parallel.For(len(p.x.Data), rowChunk*64, func(lo, hi int) {
			for i, v := range p.x.Data[lo:hi] {
				p.x.Data[lo+i] = float32(float64(v) * scale)
			}
		})
		p.total *= scale * scale
		p.unit = 1 / (scale * scale)
	}
	if n <= fewRows && n < d {
		p.x = coordinates(p.x)
		p.total = 0
		for i := range n {
			p.total += squaredNorm(p.x.Row(i))
		}
	}
	return p, nil
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
func columnMeans(x *mat.Dense) []float32 {
	n, d := x.Dims()
	part := make([][]float64, (n+rowChunk-1)/rowChunk)
	parallel.For(n, rowChunk, func(lo, hi int) {
		sum := make([]float64, d)
		for i := lo; i < hi; i++ {
			for j, v := range x.Row(i) {
				sum[j] += float64(v)
			}
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

package factor

import (
	"context"
	"errors"
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// singleBlock is the number of rows of U that SolveSingle computes before it updates the rest of the matrix.
const singleBlock = 128

// SolveSingle returns s⁻¹b for a positive definite s, computed in float32. For large s it is several times as fast as
// Cholesky, whose products are in float64. The relative error is about 2⁻²⁴ times the condition number of DsD, with
// D = diag(s)^-½. The error is a NotPositive, or ctx's error soon after ctx is done. The result is the same for any
// number of threads.
//
// Rows of (DsD | Db) become rows of (U | U⁻ᵀDb) with UᵀU = DsD. As in Cholesky, this is done in blocks of rows, and the
// product of a block with itself is subtracted from the rest. Triangles on the diagonal are factored and inverted in
// float64.
func (s *Symmetric) SolveSingle(ctx context.Context, b *mat.Dense) (*mat.Dense, error) {
	n, width := s.N, s.N+b.Cols
	scale := make([]float64, n)
	for i := range n {
		if pivot := s.Row(i)[i]; !(pivot > 0) || math.IsInf(pivot, 1) {
			return nil, NotPositive{n, i}
		}
		scale[i] = 1 / math.Sqrt(s.Row(i)[i])
	}
	u := &mat.Dense{Rows: n, Cols: width, Data: memory.Make[float32](n * width)}
	const strip = 240 // rows to a task
	parallel.For(n, strip, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := u.Row(i)
			for j, v := range s.Row(i)[i:] {
				row[i+j] = float32(v * scale[i] * scale[i+j])
			}
			for c, v := range b.Row(i) {
				row[n+c] = float32(float64(v) * scale[i])
			}
		}
	})
	var inverses []*mat.Dense // of the triangles on the diagonal
	for k := 0; k < n; k += singleBlock {
		end := min(k+singleBlock, n)
		inverse, err := invertDiagonal(ctx, u, k, end)
		if err != nil {
			return nil, err
		}
		inverses = append(inverses, inverse)
		rows, rest := end-k, width-end
		right, minus := mat.NewDense(rows, rest), mat.NewDense(rows, rest)
		parallel.For(rest, strip, func(lo, hi int) {
			kernel.Gemm(kernel.Rows(right.Data[lo:], rest), kernel.Rows(inverse.Data, rows).T(),
				kernel.Rows(u.Data[k*width+end+lo:], width), rows, hi-lo, rows, false)
			for i := range rows {
				copy(u.Row(k + i)[end+lo:end+hi], right.Row(i)[lo:hi])
				kernel.Scale(minus.Row(i)[lo:hi], -1, right.Row(i)[lo:hi])
			}
		})
		err = parallel.ForContext(ctx, n-end, strip, func(lo, hi int) {
			kernel.Gemm(kernel.Rows(u.Data[(end+lo)*width+end+lo:], width), kernel.Rows(minus.Data[lo:], rest).T(),
				kernel.Rows(right.Data[lo:], rest), hi-lo, rest-lo, rows, true)
		})
		if err != nil {
			return nil, err
		}
	}
	return substituteSingle(u, inverses, scale), ctx.Err()
}

// invertDiagonal returns the inverse of the factor of rows and columns k to end−1 of u.
func invertDiagonal(ctx context.Context, u *mat.Dense, k, end int) (*mat.Dense, error) {
	diagonal := NewSymmetric(end - k)
	for i := range diagonal.N {
		for j, v := range u.Row(k + i)[k+i : end] {
			diagonal.Row(i)[i+j], diagonal.Row(i + j)[i] = float64(v), float64(v)
		}
	}
	cholesky, err := diagonal.Cholesky(ctx)
	if not := (NotPositive{}); errors.As(err, &not) {
		return nil, NotPositive{u.Rows, k + not.Leading}
	}
	if err != nil {
		return nil, err
	}
	return Rounded(cholesky.inverse(), diagonal.N), nil
}

// substituteSingle returns D·U⁻¹z, for z in the last columns of u.
func substituteSingle(u *mat.Dense, inverses []*mat.Dense, scale []float64) *mat.Dense {
	n, cols := u.Rows, u.Cols-u.Rows
	x, minus, part := mat.NewDense(n, cols), mat.NewDense(n, cols), new(mat.Dense)
	for at := len(inverses) - 1; at >= 0 && cols > 0; at-- {
		inverse, k := inverses[at], at*singleBlock
		rows := inverse.Rows
		end := k + rows
		part.Reshape(rows, cols)
		for i := range rows {
			copy(part.Row(i), u.Row(k + i)[n:])
		}
		if end < n {
			kernel.Gemm(kernel.Rows(part.Data, cols), kernel.Rows(u.Data[k*u.Cols+end:], u.Cols),
				kernel.Rows(minus.Data[end*cols:], cols), rows, cols, n-end, true)
		}
		kernel.Gemm(kernel.Rows(x.Data[k*cols:], cols), kernel.Rows(inverse.Data, rows), kernel.Rows(part.Data, cols), rows,
			cols, rows, false)
		kernel.Scale(minus.Data[k*cols:end*cols], -1, x.Data[k*cols:end*cols])
	}
	for i := range n {
		kernel.Scale(x.Row(i), float32(scale[i]), x.Row(i))
	}
	return x
}

// Package generate builds the condensed graph on the condensed embeddings H′ (§3.5 of the paper): its adjacency A′ by
// similarity, and features X′ that propagation over A′ turns back into H′.
package generate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Adjacency returns A′, n×n, with A′_ij = 1 where cos(h_i, h_j) > T and i ≠ j (eq. 16), and the T that was used. h is
// n×d. A zero row is similar to nothing.
//
// T starts at threshold (at 1 or above there are no edges). If that gives more than n·degree/2 edges, T is raised to
// the smallest similarity that keeps the bound. A degree of 0 means no limit.
//
// Cosines are computed for one block of rows at a time (n²·d operations in total), and those above the threshold are
// kept. The result is the same for any number of threads. It is an error if threshold is NaN, if degree is negative or
// not finite, or if h is not finite. Otherwise the only error is ctx.Err().
func Adjacency(ctx context.Context, h *mat.Dense, threshold, degree float64) (a *mat.CSR, used float64, err error) {
	if math.IsNaN(threshold) {
		return nil, 0, fmt.Errorf("threshold %v, must be a number", threshold)
	}
	if !(degree >= 0) || math.IsInf(degree, 1) {
		return nil, 0, fmt.Errorf("degree %v, must be a finite number of at least 0", degree)
	}
	if err := checkFinite(ctx, "H′", h); err != nil {
		return nil, 0, err
	}
	pairs, err := similar(ctx, unitRows(h), threshold)
	if err != nil {
		return nil, 0, err
	}
	pairs, used = strongest(pairs, threshold, h.Rows, degree)
	return joined(h.Rows, pairs), used, nil
}

// pair is two nodes i < j and the cosine of their embeddings.
type pair struct {
	i, j   int32
	cosine float64
}

// rowChunk is the number of rows that one task compares with all others.
const rowChunk = 64

// similar returns the pairs of rows of unit length with a cosine above threshold.
func similar(ctx context.Context, unit *mat.Dense, threshold float64) ([]pair, error) {
	n := unit.Rows
	found := make([][]pair, (n+rowChunk-1)/rowChunk)
	err := parallel.ForContext(ctx, n, rowChunk, func(lo, hi int) {
		m := n - lo // rows before lo have been compared
		cosine := make([]float32, (hi-lo)*m)
		from, d := unit.Data[lo*unit.Cols:], unit.Cols
		rows := kernel.Rows(from, d)
		kernel.Gemm(kernel.Rows(cosine, m), rows, rows.T(), hi-lo, m, d, false)
		for i := lo; i < hi; i++ {
			row := cosine[(i-lo)*m : (i-lo+1)*m]
			for j := i + 1; j < n; j++ {
				if c := min(row[j-lo], 1); float64(c) > threshold { // rounding must not lift a cosine above 1
					found[lo/rowChunk] = append(found[lo/rowChunk], pair{int32(i), int32(j), float64(c)})
				}
			}
		}
	})
	return slices.Concat(found...), err
}

// strongest returns the pairs with the largest cosines, at most n·degree/2 of them, and the cosine that they all
// exceed: bound, or the largest cosine of a dropped pair. A degree of 0 keeps all pairs. strongest may reorder pairs.
func strongest(pairs []pair, bound float64, n int, degree float64) ([]pair, float64) {
	limit := degree * float64(n) / 2 // may exceed an int
	if degree <= 0 || float64(len(pairs)) <= limit {
		return pairs, bound
	}
	most := int(limit)
	byCosine := func(p, q pair) int { return cmp.Compare(q.cosine, p.cosine) }
	slices.SortFunc(pairs, byCosine)
	bound = pairs[most].cosine // all pairs of this cosine are dropped
	first, _ := slices.BinarySearchFunc(pairs, pairs[most], byCosine)
	return pairs[:first], bound
}

// joined returns the symmetric n×n adjacency of the given pairs.
func joined(n int, pairs []pair) *mat.CSR {
	var e graph.Edges
	for _, p := range pairs {
		e.From, e.To = append(e.From, p.i), append(e.To, p.j)
	}
	a, _, _ := graph.Adjacency(context.Background(), n, e) // no error: nodes are in range
	return a
}

// unitRows returns the rows of h divided by their norms; a zero row stays zero.
func unitRows(h *mat.Dense) *mat.Dense {
	unit := h.Clone()
	parallel.For(h.Rows, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var square float64
			for _, v := range unit.Row(i) {
				square += float64(v) * float64(v)
			}
			scale(unit.Row(i), math.Sqrt(square))
		}
	})
	return unit
}

// scale divides row by its norm.
func scale(row []float32, norm float64) {
	const ordinary = 0x1p100 // up to this norm, norms and their inverses are normal float32 numbers
	switch {
	case norm == 0:
	case norm < ordinary && norm > 1/ordinary:
		kernel.Scale(row, float32(1/norm), row)
	default:
		for j, v := range row {
			row[j] = float32(float64(v) / norm)
		}
	}
}

// checkFinite returns an error that names the first number of m that is not finite.
func checkFinite(ctx context.Context, name string, m *mat.Dense) error {
	i, j, found, err := mat.FirstNotFinite(ctx, m)
	if found {
		return fmt.Errorf("row %d column %d of %s is %v, must be a finite number", i, j, name, m.Row(i)[j])
	}
	return err
}

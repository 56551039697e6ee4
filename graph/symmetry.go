package graph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// asymmetry returns the first entry of a that breaks symmetry, and what is wrong with it: a self-loop, or an entry
// without an equal one in the transpose. a is valid and square. Looking up the counterpart of each entry is slow, so
// callers first use a mirror to decide whether that is needed. The result is meaningless once ctx is done.
func asymmetry(ctx context.Context, a *mat.CSR) (i, j int, why string) {
	const chunk = 1 << 12
	type fault struct {
		i, j int
		why  string
	}
	first := make([]fault, (a.Rows+chunk-1)/chunk)
	_ = parallel.ForContext(ctx, a.Rows, chunk, func(lo, hi int) { // the caller checks ctx
		for i := lo; i < hi; i++ {
			for e := a.Indptr[i]; e < a.Indptr[i+1]; e++ {
				if why := unmatched(a, i, e); why != "" {
					first[lo/chunk] = fault{i, int(a.Indices[e]), why}
					return
				}
			}
		}
	})
	for _, f := range first {
		if f.why != "" {
			return f.i, f.j, f.why
		}
	}
	return 0, 0, ""
}

// unmatched returns how entry e of row i breaks symmetry, or "" if it does not.
func unmatched(a *mat.CSR, i int, e int64) string {
	j := int(a.Indices[e])
	if j == i {
		return "is a self-loop; normalisation adds those"
	}
	at, found := slices.BinarySearch(a.Indices[a.Indptr[j]:a.Indptr[j+1]], int32(i))
	if !found {
		return "has no counterpart; the graph must be undirected"
	}
	if a.Data != nil {
		if back := a.Data[a.Indptr[j]+int64(at)]; back != a.Data[e] {
			return fmt.Sprintf("has weight %v, and %v the other way round", a.Data[e], back)
		}
	}
	return ""
}

// mirror is a hash to decide whether a matrix equals its transpose and has no self-loops. The hashes of the entries
// above the diagonal must have the same sum as the hashes of the mirrored entries below it. A single entry without
// counterpart always changes the sum. Several such entries cancel with a probability of 2⁻⁶⁴. The answer can be false
// for a symmetric matrix with the weights 0 and −0.
type mirror struct {
	sum   atomic.Uint64 // modulo 2⁶⁴, so the order of the rows does not matter
	loops atomic.Bool
}

// add adds rows lo to hi−1 of a. It is safe for concurrent use.
func (m *mirror) add(a *mat.CSR, lo, hi int) {
	var s uint64
	for i := lo; i < hi; i++ {
		row := uint64(i)
		for e := a.Indptr[i]; e < a.Indptr[i+1]; e++ {
			column := uint64(a.Indices[e])
			h := scramble(min(row, column)<<32 | max(row, column))
			if a.Data != nil {
				h = scramble(h + uint64(math.Float32bits(a.Data[e])))
			}
			switch {
			case column > row:
				s += h
			case column < row:
				s -= h
			default:
				m.loops.Store(true)
			}
		}
	}
	m.sum.Add(s)
}

// same reports whether the added rows form a symmetric matrix without self-loops.
func (m *mirror) same() bool { return m.sum.Load() == 0 && !m.loops.Load() }

// hashed returns a number that differs between all weights of a given entry, and between all entries of a given weight.
func hashed(entry, weight uint64) uint64 { return scramble(scramble(entry) + weight) }

// scramble is the finaliser of SplitMix64 (Steele et al. 2014), a permutation of the 64-bit numbers.
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

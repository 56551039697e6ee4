package blocked

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Precision is the number format between hops. Its text, also in JSON, is float32 or half.
type Precision uint8

const (
	// Float32 stores values in 32 bits.
	Float32 Precision = iota
	// Half stores values in 16 bits, IEEE 754 binary16, with a power of two for each column. Sums are still float32. The
	// neighbours of a node are read from random places in memory, so half the bytes take less time if memory bandwidth is
	// the bottleneck.
	//
	// With u = 2⁻¹¹, the unit roundoff of binary16, and P the operator of a hop, a value of H⁽ˡ⁾ differs from exact
	// arithmetic by at most
	//
	//	((1+u)ˡ⁺¹−1)·(Pˡ|X|)_vj + (l+1)·2⁻²³·max_w |X_wj|,
	//
	// plus the rounding errors of float32. With PPR, Pˡ|X| is H⁽ˡ⁾ of |X|. Features may therefore have any magnitude.
	Half
)

// Precisions returns the precisions, the default first.
func Precisions() []Precision { return []Precision{Float32, Half} }

// names are the texts of the precisions.
var names = []string{"float32", "half"}

// String returns the text of p.
func (p Precision) String() string {
	if int(p) >= len(names) {
		return strconv.Itoa(int(p))
	}
	return names[p]
}

// MarshalText returns the text of p.
func (p Precision) MarshalText() ([]byte, error) { return []byte(p.String()), p.validate() }

// UnmarshalText reads what MarshalText writes.
func (p *Precision) UnmarshalText(text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("precision %q, must be one of %v", text, names)
	}
	*p = Precision(i)
	return nil
}

// validate returns an error unless p is one of Precisions.
func (p Precision) validate() error {
	if int(p) >= len(names) {
		return fmt.Errorf("precision %v, must be one of %v", p, names)
	}
	return nil
}

// S⁽ˡ⁾ fits in float16 for the following reason. R·L = 1/D, D being the degrees with self-loops, and edge weights are
// positive. A row of S⁽ˡ⁾ is therefore a weighted mean of rows of S⁽ˡ⁻¹⁾, mixed with S⁽⁰⁾ if β > 0. Magnitudes of a
// column never exceed the largest of S⁽⁰⁾ = R·X, and R ≤ 1. A power of two scales the largest magnitude of each column
// of X to at least 2¹⁴ and below 2¹⁵. That leaves a factor of 2 to the largest float16, for rounding.
//
// Scaled values below 2⁻¹⁴ are rounded to multiples of 2⁻²⁴, with an error of at most 2⁻³⁹ times the column's largest
// magnitude. H⁽ˡ⁾ is S⁽ˡ⁾/R, and 1/R is at most 2¹⁶ for degrees up to largestDegree. This gives the second term of
// Half's bound. Degrees of graphs without weights are below 2³¹.
const largestDegree = 1 << 32

// largestExponent limits the power of two of a column, so that its inverse can be represented. Columns below 2⁻¹¹² are
// therefore not scaled up to 2¹⁴.
const largestExponent = 126

// checkDegrees returns an error if half precision cannot represent the S⁽ˡ⁾ of a node at which a hop is computed. left
// and right are L and R of the operator.
func (r *run) checkDegrees(left []float32) error {
	if !r.half || r.adj.Data == nil && !r.degrees {
		return nil
	}
	for _, v := range r.nodes[:r.computed()] {
		if mean := float64(left[v]) * float64(r.scale(v)); !(mean*largestDegree >= 1) {
			return fmt.Errorf("weights of edges give node %d the degree %.3g, must be at most %.3g with "+
				"precision half",
				v, 1/mean, float64(largestDegree))
		}
	}
	return nil
}

// factors computes the powers of two of columns lo to hi−1. If the features are sparse, x contains these columns.
func (r *run) factors(ctx context.Context, x mat.Matrix, lo, hi int) error {
	if !r.half {
		return nil
	}
	top, err := r.largest(ctx, x, lo, hi-lo)
	if err != nil {
		return err
	}
	r.up, r.down = memory.Resized(r.up, len(top)), memory.Resized(r.down, len(top))
	for k, v := range top {
		r.up[k], r.down[k] = 1, 1
		if v > 0 && v <= math.MaxFloat32 {
			_, exponent := math.Frexp(float64(v))
			e := min(15-exponent, largestExponent)
			r.up[k], r.down[k] = float32(math.Ldexp(1, e)), float32(math.Ldexp(1, -e))
		}
	}
	return nil
}

// largest returns the largest magnitudes of d columns of the features, from column first on. If the features are
// sparse, x contains exactly these columns.
func (r *run) largest(ctx context.Context, x mat.Matrix, first, d int) ([]float32, error) {
	all, merge := make([]float32, d), sync.Mutex{}
	const chunk = 1 << 14 // maxima do not depend on the chunks
	part := func(fill func(top []float32)) {
		top := make([]float32, d)
		fill(top)
		merge.Lock()
		defer merge.Unlock()
		kernel.Magnitudes(all, top)
	}
	switch x := x.(type) {
	case *mat.Dense:
		err := parallel.ForContext(ctx, x.Rows, chunk, func(lo, hi int) {
			part(func(top []float32) {
				for v := lo; v < hi; v++ {
					if v+ahead < hi {
						kernel.Prefetch(x.Row(v + ahead)[first : first+d])
					}
					kernel.Magnitudes(top, x.Row(v)[first:first+d])
				}
			})
		})
		return all, err
	case *mat.CSR:
		err := parallel.ForContext(ctx, x.Rows, max(chunk, d), func(lo, hi int) {
			part(func(top []float32) {
				for e := x.Indptr[lo]; e < x.Indptr[hi]; e++ {
					v := float32(1)
					if x.Data != nil {
						v = max(x.Data[e], -x.Data[e])
					}
					top[x.Indices[e]] = max(top[x.Indices[e]], v)
				}
			})
		})
		return all, err
	}
	err := r.visit(ctx, first, d, func(nodes []int32, block *mat.Dense) {
		part(func(top []float32) {
			for i := range nodes {
				kernel.Magnitudes(top, block.Row(i))
			}
		})
	})
	return all, err
}

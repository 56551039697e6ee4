package factor

import (
	"context"
	"fmt"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/graph-condensation/cgc/internal/memory"
)

// Eigen returns the eigenvalues of s, largest first, and their eigenvectors as the rows of vectors (n×n, row-major):
//
//	s·v_i = values[i]·v_i,  ‖v_i‖ = 1.
//
// The sign of a vector makes its first component of largest magnitude positive. The cost is about 9n³ operations on one
// thread, in a library call that cannot be interrupted: 0.3 seconds at n = 500, and up to 10 seconds at n = 1024.
//
// The error says that s has an entry that is not finite, or is ctx.Err(). When ctx ends, Eigen returns at once, and the
// library call finishes in the background.
func (s *Symmetric) Eigen(ctx context.Context) (values, vectors []float64, err error) {
	n := s.N
	if n == 0 {
		return nil, nil, ctx.Err()
	}
	for i, v := range s.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, fmt.Errorf("eigen-decomposition of a matrix with %v in row %d, must be finite numbers",
				v, i/n)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	own := gonum.NewSymDense(n, memory.Clone(s.Data)) // the caller may change s after ctx ends
	found := make(chan *gonum.EigenSym, 1)
	go func() {
		e := new(gonum.EigenSym)
		if !e.Factorize(own, true) {
			e = nil
		}
		found <- e
	}()
	select {
	case e := <-found:
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if e == nil {
			return nil, nil, fmt.Errorf("the eigen-decomposition of a %d×%d matrix did not converge", n, n)
		}
		values, vectors = ordered(e, n)
		return values, vectors, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// ordered returns the eigenvalues, largest first, and the eigenvectors as rows, with the signs that Eigen promises.
func ordered(e *gonum.EigenSym, n int) (values, vectors []float64) {
	values = e.Values(nil)
	slices.Reverse(values)
	var q gonum.Dense
	e.VectorsTo(&q)
	vectors = memory.Make[float64](n * n)
	for i := range n {
		v := vectors[i*n : (i+1)*n]
		largest := 0
		for j := range v {
			v[j] = q.At(j, n-1-i)
			if math.Abs(v[j]) > math.Abs(v[largest]) {
				largest = j
			}
		}
		if v[largest] < 0 {
			for j := range v {
				v[j] = -v[j]
			}
		}
	}
	return values, vectors
}

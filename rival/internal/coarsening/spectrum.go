package coarsening

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
)

const (
	// written is the size of the largest component whose Laplacian is decomposed as a dense matrix.
	written = 128
	// spare is the number of extra vectors in the iteration.
	spare = 8
	// settled is the relative tolerance on the requested eigenvalues at which the iteration ends.
	settled = 1e-5
	// mostRounds limits the number of iterations, and mostSolves limits the conjugate-gradient steps in each.
	mostRounds, mostSolves = 40, 300
)

// laplacian is L = D − A of a connected graph.
type laplacian struct {
	edges  [][]edge
	degree []float64
}

func newLaplacian(edges [][]edge) *laplacian { return &laplacian{edges, degrees(edges)} }

// apply sets dst to L·x.
func (l *laplacian) apply(dst, x []float64) {
	for i, of := range l.edges {
		sum := l.degree[i] * x[i]
		for _, e := range of {
			sum -= e.weight * x[e.to]
		}
		dst[i] = sum
	}
}

// smallest returns the k smallest eigenvalues of L above 0, ascending, and their eigenvectors. If n ≤ k, it returns
// only n−1.
//
// For a large L it uses inverse subspace iteration. It starts with random vectors V ⟂ 1 from a fixed source. Each
// iteration sets V ← L⁻¹V by conjugate gradients and then performs a Rayleigh-Ritz step. The result does not depend on
// the number of threads.
func (l *laplacian) smallest(ctx context.Context, k int) (values []float64, vectors [][]float64, err error) {
	n := len(l.edges)
	k = min(k, n-1)
	if n <= written || n <= 3*(k+spare) {
		return l.dense(ctx, k)
	}
	random := rand.New(rand.NewPCG(1, 10))
	v := make([][]float64, k+spare)
	for c := range v {
		v[c] = memory.Make[float64](n)
		for i := range v[c] {
			v[c][i] = random.NormFloat64()
		}
	}
	var before []float64
	for range mostRounds {
		orthonormalize(v)
		if values, err = l.ritz(ctx, v); err != nil {
			return nil, nil, err
		}
		moved := before == nil
		for c := range min(k, len(before)) {
			moved = moved || math.Abs(values[c]-before[c]) > settled*values[c]
		}
		if !moved {
			break
		}
		before = values
		err := parallel.ForContext(ctx, len(v), 1, func(lo, _ int) { l.solve(ctx, v[lo], values[lo]) })
		if err != nil {
			return nil, nil, err
		}
	}
	return values[:k], v[:k], ctx.Err()
}

// dense implements smallest by a full decomposition.
func (l *laplacian) dense(ctx context.Context, k int) (values []float64, vectors [][]float64, err error) {
	n := len(l.edges)
	s := factor.NewSymmetric(n)
	for i, of := range l.edges {
		s.Data[i*n+i] = l.degree[i]
		for _, e := range of {
			s.Data[i*n+int(e.to)] = -e.weight
		}
	}
	all, rows, err := s.Eigen(ctx)
	if err != nil {
		return nil, nil, err
	}
	for c := range k { // the last eigenvalue is 0
		at := n - 2 - c
		values = append(values, all[at])
		vectors = append(vectors, rows[at*n:(at+1)*n])
	}
	return values, vectors, nil
}

// ritz replaces the orthonormal v with approximate eigenvectors, and returns their eigenvalues in ascending order.
func (l *laplacian) ritz(ctx context.Context, v [][]float64) ([]float64, error) {
	m, n := len(v), len(v[0])
	images := make([][]float64, m)
	if err := parallel.ForContext(ctx, m, 1, func(c, _ int) {
		images[c] = memory.Make[float64](n)
		l.apply(images[c], v[c])
	}); err != nil {
		return nil, err
	}
	s := factor.NewSymmetric(m)
	for a := range m {
		for b := range a + 1 {
			s.Data[a*m+b] = dot(v[a], images[b])
			s.Data[b*m+a] = s.Data[a*m+b]
		}
	}
	values, rows, err := s.Eigen(ctx)
	if err != nil {
		return nil, err
	}
	turned, ascending := make([][]float64, m), make([]float64, m)
	for c := range m {
		turned[c] = memory.Make[float64](n)
		ascending[c] = values[m-1-c]
		for b := range m {
			axpy(turned[c], rows[(m-1-c)*m+b], v[b])
		}
	}
	copy(v, turned)
	return ascending, nil
}

// solve sets x to an approximation of L⁻¹x, by conjugate gradients preconditioned with the degrees. The initial guess
// is x/value, which is exact if x is an eigenvector.
func (l *laplacian) solve(ctx context.Context, x []float64, value float64) {
	n := len(x)
	r, z, p, q := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	begin := 1 / max(value, math.SmallestNonzeroFloat32)
	norm := math.Sqrt(dot(x, x))
	l.apply(q, x)
	for i, b := range x {
		r[i] = b - begin*q[i]
		x[i] = begin * b
	}
	rho := 0.0
	for step := range mostSolves {
		if ctx.Err() != nil || math.Sqrt(dot(r, r)) <= 1e-3*norm {
			return
		}
		for i := range z {
			z[i] = r[i] / l.degree[i]
		}
		last := rho
		rho = dot(r, z)
		for i := range p {
			if step == 0 {
				p[i] = z[i]
			} else {
				p[i] = z[i] + rho/last*p[i]
			}
		}
		l.apply(q, p)
		curve := dot(p, q)
		if !(curve > 0) {
			return
		}
		axpy(x, rho/curve, p)
		axpy(r, -rho/curve, q)
	}
}

// orthonormalize makes v orthonormal and orthogonal to 1, by two passes of Gram-Schmidt.
func orthonormalize(v [][]float64) {
	for c, x := range v {
		for range 2 {
			mean := 0.0
			for _, e := range x {
				mean += e / float64(len(x))
			}
			for i := range x {
				x[i] -= mean
			}
			for _, before := range v[:c] {
				axpy(x, -dot(before, x), before)
			}
			if norm := math.Sqrt(dot(x, x)); norm > 0 {
				for i := range x {
					x[i] /= norm
				}
			}
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func axpy(y []float64, alpha float64, x []float64) {
	for i, v := range x {
		y[i] += alpha * v
	}
}

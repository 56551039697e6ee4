package trajectory

import (
	"context"
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// express computes A′ from X′. B holds the weights that best express each node as a combination of all nodes:
//
//	B = (XXᵀ + (α+β)I)⁻¹(XXᵀ + αP + βQ) = argmin ‖Xᵀ − XᵀB‖² + α‖B − P‖² + β‖B − Q‖²,
//	A′_ij = (|B_ij| + |B_ji|)/2 for i ≠ j,  A′_ii = 0.
//
// The linear system is solved in float64.
type express struct {
	alpha, beta float64

	factor *factor.Cholesky
	b      []float64 // N′×N′
	k      mat.Dense
	a, dx  mat.Dense
}

// forward returns A′, which is in e's memory and valid until the next call. It fails if ctx is done, or if the system
// is not positive definite because X′ is not finite.
func (e *express) forward(ctx context.Context, x, p, q *mat.Dense) (*mat.Dense, error) {
	n := x.Rows
	mat.MulTB(&e.k, x, x)
	system, right := factor.SymmetricPart(&e.k), memory.Make[float64](n*n)
	for i := range n {
		for j, k := range system.Row(i) {
			right[i*n+j] = k + e.alpha*float64(p.Row(i)[j]) + e.beta*float64(q.Row(i)[j])
		}
		system.Row(i)[i] += e.alpha + e.beta
	}
	var err error
	if e.factor, err = system.Cholesky(ctx); err != nil {
		return nil, fmt.Errorf("gcsr diverged: the system of A′: %w; lower lr_feat", err)
	}
	if e.b, err = e.factor.Solve(ctx, right, n); err != nil {
		return nil, err
	}
	e.a.Reshape(n, n)
	for i := range n {
		for j := range i {
			w := float32((math.Abs(e.b[i*n+j]) + math.Abs(e.b[j*n+i])) / 2)
			e.a.Row(i)[j], e.a.Row(j)[i] = w, w
		}
		e.a.Row(i)[i] = 0
	}
	return &e.a, nil
}

// backward returns the gradient with respect to X′ of a function of A′ whose gradient is da. forward must be called
// first. With G = (XXᵀ + (α+β)I)⁻¹dB, the gradient with respect to XXᵀ is G − G·Bᵀ. The result is in e's memory.
func (e *express) backward(ctx context.Context, x, da *mat.Dense) (*mat.Dense, error) {
	n := x.Rows
	db := memory.Make[float64](n * n)
	for i := range n {
		for j := range n {
			if i != j && e.b[i*n+j] != 0 {
				d := (float64(da.Row(i)[j]) + float64(da.Row(j)[i])) / 2
				db[i*n+j] = math.Copysign(d, d*e.b[i*n+j])
			}
		}
	}
	g, err := e.factor.Solve(ctx, db, n)
	if err != nil {
		return nil, err
	}
	through := mat.NewDense(n, n)
	for i := range n {
		for j := range n {
			sum := g[i*n+j]
			for k := range n {
				sum -= g[i*n+k] * e.b[j*n+k]
			}
			through.Row(i)[j] = float32(sum)
		}
	}
	both := through.T()
	kernel.Add(both.Data, both.Data, through.Data)
	mat.Mul(&e.dx, both, x)
	return &e.dx, nil
}

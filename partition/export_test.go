package partition

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/mat"
)

// KernelProduct returns S·v for the rows of u, as Spectral computes it.
func KernelProduct(ctx context.Context, u, v *mat.Dense) (*mat.Dense, error) {
	var t, dst mat.Dense
	m, err := newKernelMap(ctx, u)
	if err != nil {
		return nil, err
	}
	if err := m.transposed(ctx, &t, v); err != nil {
		return nil, err
	}
	return &dst, m.forward(ctx, &dst, &t)
}

// Leader returns the eigenvector of S that Spectral leaves out.
func Leader(u *mat.Dense) []float64 {
	m, err := newKernelMap(context.Background(), u)
	if err != nil {
		panic(err)
	}
	return m.leader
}

// LeadingLeft is step 1 of Spectral for any number of rows.
func LeadingLeft(ctx context.Context, x [][]float32, k int) (*mat.Dense, error) {
	return leading(ctx, x, k, rand.New(rand.NewPCG(1, 1)))
}

// Leading is step 3 of Spectral, without and with the explicit matrix S.
func Leading(ctx context.Context, u *mat.Dense, k int, src rand.Source) (free, dense *mat.Dense, err error) {
	m, err := newKernelMap(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	if free, _, err = m.leading(ctx, u, k, rand.New(src)); err != nil {
		return nil, nil, err
	}
	dense, err = m.leadingDense(ctx, k)
	return free, dense, err
}

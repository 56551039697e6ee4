package factor

import "context"

// PseudoSolveUpTo is PseudoSolve with eigenvectors up to the given order, and with pivots beyond it.
func (s *Symmetric) PseudoSolveUpTo(
	ctx context.Context, b []float64, cols int, cut float64, order int,
) (Solution, error) {
	return s.pseudoSolve(ctx, b, cols, cut, order)
}

// LeastPivot exports leastPivot.
func (c *Cholesky) LeastPivot() float64 { return c.leastPivot() }

// Inverse exports inverse.
func (c *Cholesky) Inverse() []float64 { return c.inverse() }

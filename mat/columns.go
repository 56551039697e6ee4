package mat

import (
	"context"
	"errors"

	"github.com/graph-condensation/cgc/internal/parallel"
)

// ReadColumns sets dst to columns lo to hi−1 of the given rows of x, in their order; nil means all rows. It reads
// several blocks of rows concurrently, and stops between blocks when ctx is done. The error comes from ctx or from the
// first block, in order, that has one.
func ReadColumns(ctx context.Context, dst *Dense, x Matrix, rows []int32, lo, hi int) error {
	const chunk = 1 << 12
	n := len(rows)
	if rows == nil {
		n, _ = x.Dims()
	}
	dst.Reshape(n, hi-lo)
	errs := make([]error, (n+chunk-1)/chunk)
	err := parallel.ForContext(ctx, n, chunk, func(first, end int) {
		some := rows
		if some == nil {
			some = make([]int32, end-first)
			for r := range some {
				some[r] = int32(first + r)
			}
		} else {
			some = rows[first:end]
		}
		block := blocks.Get().(*Dense)
		defer blocks.Put(block)
		if errs[first/chunk] = Read(block, x, some, lo, hi); errs[first/chunk] == nil {
			copy(dst.Data[first*dst.Cols:], block.Data)
		}
	})
	for _, failed := range errs {
		if failed != nil {
			return errors.Join(err, failed)
		}
	}
	return err
}

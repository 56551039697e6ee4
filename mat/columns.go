package mat

import (
	"context"
	"sync"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// ReadColumns sets dst to columns lo to hi−1 of the given rows of x, in their order; nil means all rows. It reads
// several blocks of rows concurrently, and stops between blocks when ctx is done. The error comes from ctx or from the
// first block, in order, that has one.
func ReadColumns(ctx context.Context, dst *Dense, x Matrix, rows []int32, lo, hi int) error {
	n := len(rows)
	if rows == nil {
		n, _ = x.Dims()
	}
	dst.Reshape(n, hi-lo)
	return readChunks(ctx, x, rows, 1<<12, lo, hi, dst.set)
}

// set copies block to the rows of m from first on.
func (m *Dense) set(first int, block *Dense) { copy(m.Data[first*m.Cols:], block.Data) }

// readChunks reads columns lo to hi−1 of the given rows of x, chunk rows at a time and in parallel; nil means all rows.
// use processes the rows from first on.
func readChunks(
	ctx context.Context, x Matrix, rows []int32, chunk, lo, hi int, use func(first int, block *Dense),
) error {
	n := len(rows)
	if rows == nil {
		n, _ = x.Dims()
	}
	return parallel.Try(ctx, n, chunk, func(first, end int) error {
		var some []int32
		if rows == nil {
			some = memory.Range(first, end)
		} else {
			some = rows[first:end]
		}
		block := blocks.Get().(*Dense)
		defer blocks.Put(block)
		if err := Read(block, x, some, lo, hi); err != nil {
			return err
		}
		use(first, block)
		return nil
	})
}

// blocks is a pool of memory for rows that are used as soon as they are read.
var blocks = sync.Pool{New: func() any { return new(Dense) }}

package mat

import (
	"iter"

	"github.com/graph-condensation/cgc/internal/memory"
)

// blockRows bounds the rows of a block, and blockElements its elements.
const (
	blockRows     = 4096
	blockElements = 1 << 20
)

// Blocks returns an iterator over all rows of x in order, as dense blocks. Use it to read a matrix of any type once. A
// block is valid until the next one. The iterator ends after an error.
func Blocks(x Matrix) iter.Seq2[*Dense, error] {
	return func(yield func(*Dense, error) bool) {
		n, d := x.Dims()
		step := max(1, min(blockRows, blockElements/max(1, d)))
		block := new(Dense)
		for lo := 0; lo < n; lo += step {
			if err := Read(block, x, memory.Range(lo, min(lo+step, n)), 0, d); err != nil {
				yield(nil, err)
				return
			}
			if !yield(block, nil) {
				return
			}
		}
	}
}

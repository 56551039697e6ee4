package distill

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

const (
	// narrow leaves up to mostColumns columns as they are and hashes more to fewColumns.
	mostColumns, fewColumns = 4096, 1024
	// narrowRows is the number of rows of a task.
	narrowRows = 64
)

// narrow returns x itself if it has at most 4,096 columns. Otherwise it hashes the columns (Weinberger et al. 2009): it
// adds each of them, with a random sign, to one of 1,024 columns that is drawn at random. Inner products of rows keep
// their expectation; their standard deviation is about ‖x_i‖·‖x_j‖/32. The draws depend only on the number of columns,
// so rows of different matrices can be compared. Errors come from reading x, or from ctx.
func narrow(ctx context.Context, x mat.Matrix) (mat.Matrix, error) {
	n, d := x.Dims()
	if d <= mostColumns {
		return x, nil
	}
	random := rand.New(rand.NewPCG(uint64(d), narrowStream))
	column, sign := make([]int, d), make([]float32, d)
	for j := range column {
		column[j], sign[j] = random.IntN(fewColumns), float32(2*random.IntN(2)-1)
	}
	hashed := mat.NewDense(n, fewColumns)
	return hashed, parallel.Try(ctx, n, narrowRows, func(lo, hi int) error {
		var block mat.Dense
		if err := mat.Read(&block, x, memory.Range(lo, hi), 0, d); err != nil {
			return fmt.Errorf("reading features: %w", err)
		}
		for i := range block.Rows {
			row := hashed.Row(lo + i)
			for j, v := range block.Row(i) {
				row[column[j]] += sign[j] * v
			}
		}
		return nil
	})
}

package bonsai

import (
	"context"

	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// block is the number of rows whose distances to all rows are computed in one product.
const block = 256

// nearest returns, for each row of r, the k rows with the smallest Euclidean distance to it, ascending. Each list
// begins with the row itself. Ties go to the first row. If there are fewer than k rows, each list has all rows.
func nearest(ctx context.Context, r *mat.Dense, k int) ([][]int32, error) {
	n := r.Rows
	k = min(k, n)
	squares := make([]float32, n)
	for i := range squares {
		for _, v := range r.Row(i) {
			squares[i] += float32(v * v)
		}
	}
	lists := make([][]int32, n)
	var dots mat.Dense
	count := progress.NewCounter(0, (n+block-1)/block)
	for lo := 0; lo < n; lo += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(n, lo+block)
		mat.MulTB(&dots, &mat.Dense{Rows: hi - lo, Cols: r.Cols, Data: r.Data[lo*r.Cols : hi*r.Cols]}, r)
		for i := lo; i < hi; i++ {
			distance := dots.Row(i - lo)
			for j := range distance {
				distance[j] = squares[j] - 2*distance[j] // the squared norm of row i is the same for all j
			}
			lists[i] = least(distance, i, k)
		}
		count.Add(ctx, orderStep)
	}
	return lists, ctx.Err()
}

// least returns own and the indices of the k−1 smallest other values, ascending by value.
func least(values []float32, own, k int) []int32 {
	list := make([]int32, 1, k)
	list[0] = int32(own)
	for j, v := range values {
		full := len(list) == k
		if j == own || full && (k == 1 || !(v < values[list[k-1]])) {
			continue
		}
		if !full {
			list = append(list, 0)
		}
		at := len(list) - 1
		for ; at > 1 && v < values[list[at-1]]; at-- {
			list[at] = list[at-1]
		}
		list[at] = int32(j)
	}
	return list
}

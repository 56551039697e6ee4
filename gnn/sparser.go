package gnn

import "github.com/graph-condensation/cgc/mat"

// A dense X is stored as a sparse matrix if at most one element in zeroShare is not 0, and X has at least wide columns.
// X·W then costs less than the dense product, and X needs at most an eighth of the memory. With fewer columns the dense
// path costs about the same, because it computes P·X only once.
const (
	zeroShare = 16
	wide      = 512
)

// sparser returns x as a sparse matrix if that is faster and smaller, and x itself otherwise. Products may differ in
// the last bits, because the kernels add in different orders.
func sparser(x mat.Matrix) mat.Matrix {
	dense, is := x.(*mat.Dense)
	if !is || dense.Cols < wide {
		return x
	}
	most := len(dense.Data) / zeroShare
	for _, v := range dense.Data {
		if v != 0 {
			if most--; most < 0 {
				return x
			}
		}
	}
	return dense.Sparse()
}

package propagate

import "github.com/graph-condensation/cgc/mat"

// Width returns the number of columns of the blocks that Embeddings works in.
func (p Propagation) Width(a *mat.CSR, x mat.Matrix, rows []int32) int {
	r := run{Propagation: p, rows: rows, fields: fields(a, rows, p.Hops), h: make([]*mat.Dense, p.Hops+1)}
	return r.width(a, x)
}

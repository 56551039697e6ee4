package kernel

// Set is one set of loops, as the tests see it.
type Set struct{ im *implementation }

// Available lists the sets that this machine runs, fastest first.
func Available() []Set {
	var sets []Set
	for _, im := range available() {
		sets = append(sets, Set{im})
	}
	return sets
}

func (s Set) Name() string        { return s.im.name }
func (s Set) Tile() (r, c int)    { return s.im.rows, s.im.columns }
func (s Set) Depth() int          { return s.im.depth }
func (s Set) Height() int         { return s.im.height }
func (s Set) Width() int          { return s.im.width }
func (s Set) Softmax(x []float32) { s.im.softmax(x) }
func (s Set) ExpShifted(dst, x []float32, shift float32) float32 {
	return s.im.expShifted(dst, x, shift)
}
func (s Set) Dot(x, y []float32) float32                       { return s.im.dot(x, y) }
func (s Set) Axpy(alpha float32, x, y []float32)               { s.im.axpy(alpha, x, y) }
func (s Set) Accumulate(sum []float64, w float64, x []float32) { s.im.accumulate(sum, w, x) }
func (s Set) Add(dst, x, y []float32)                          { s.im.add(dst, x, y) }
func (s Set) Mul(dst, x, y []float32)                          { s.im.mul(dst, x, y) }
func (s Set) MulAdd(dst, x, y []float32)                       { s.im.mulAdd(dst, x, y) }
func (s Set) Scale(dst []float32, a float32, x []float32)      { s.im.scale(dst, a, x) }
func (s Set) ReLU(dst, x []float32)                            { s.im.relu(dst, x) }
func (s Set) ReLUGrad(dst, g, x []float32)                     { s.im.reluGrad(dst, g, x) }

func (s Set) AdamStep(w, g, m, v []float32, lr, b1, b2, eps, decay float64, t int) {
	step := newAdamStep(lr, b1, b2, eps, decay, t)
	s.im.adam(w, g, m, v, step)
}

func (s Set) Transpose(dst []float32, ldd int, src []float32, lds, rows, columns int) {
	s.im.transpose(dst, ldd, src, lds, rows, columns)
}

func (s Set) Gemm(c []float32, ldc int, a []float32, lda int, transA bool, b []float32, ldb int, transB bool, m, n, k int, accumulate bool) {
	s.im.gemm(c, ldc, operand{a, lda, transA}, operand{b, ldb, transB}, m, n, k, accumulate, m)
}

func (s Set) GramRows(g []float32, ldg int, x []float32, ldx, n, d, lo, hi int, accumulate bool) {
	s.im.gramRows(g, ldg, x, ldx, n, d, lo, hi, accumulate)
}

func (s Set) Nearest(nearest []int32, dist []float32, x []float32, ldx, n, d int, rowNorms, centres []float32, ldc, k int, norms []float32) {
	s.im.nearest(nearest, dist, x, ldx, n, d, rowNorms, centres, ldc, k, norms)
}

func (s Set) Gather(dst []float32, ldd int, lo, hi int, indptr []int64, indices []int32, weights, left, right []float32, self float32, x []float32, ldx, d int) {
	s.im.gatherRows(gathering{
		dst: dst, ldd: ldd, lo: lo, count: hi - lo, indptr: indptr, indices: indices, weights: weights,
		left: left, right: right, self: self, x: x, ldx: ldx, d: d,
	})
}

func (s Set) GatherRows(dst []float32, ldd int, rows, position []int32, indptr []int64, indices []int32, weights, left, right []float32, self float32, x []float32, ldx, d int) {
	s.im.gatherRows(gathering{
		dst: dst, ldd: ldd, rows: rows, count: len(rows), position: position, indptr: indptr, indices: indices, weights: weights,
		left: left, right: right, self: self, x: x, ldx: ldx, d: d,
	})
}

func (s Set) GatherSum(dst []float32, ldd int, indptr []int64, indices []int32, scale []float32, x []float32, ldx, d int) {
	s.im.sumRows(dst, ldd, indptr, indices, scale, x, ldx, d)
}

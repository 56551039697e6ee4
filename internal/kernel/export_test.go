package kernel

// Set is one set of loops, for the tests.
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
func (s Set) Scale(dst []float32, a float32, x []float32)      { s.im.scale(dst, a, x) }
func (s Set) ReLU(dst, x []float32)                            { s.im.relu(dst, x) }
func (s Set) ReLUGrad(dst, g, x []float32)                     { s.im.reluGrad(dst, g, x) }
func (s Set) AdamStep(w, g, m, v []float32, a Adam)            { s.im.adam(w, g, m, v, newAdamStep(a)) }

func (s Set) WidenFloat16(dst []float32, src []uint16)  { s.im.widenFloat16(dst, src) }
func (s Set) WidenBFloat16(dst []float32, src []uint16) { s.im.widenBFloat16(dst, src) }
func (s Set) NarrowFloat16(dst []uint16, src []float32) { s.im.narrowFloat16(dst, src) }
func (s Set) NarrowScaled(dst []uint16, alpha float32, factors, src []float32) {
	s.im.narrowScaled(dst, alpha, factors, src)
}

func (s Set) WidenScaled(dst []float32, alpha float32, factors []float32, src []uint16) {
	s.im.widenScaled(dst, alpha, factors, src)
}
func (s Set) Magnitudes(top, x []float32) { s.im.magnitudes(top, x) }

func (s Set) GatherHalf(dst Block, indptr []int64, indices []int32, weights, scale []float32, x Halves, d int) {
	sums[uint16]{dst, indptr, indices, weights, scale, x.Data, x.Stride, d}.by(s.im.gatherHalf)
}

func (s Set) GatherFactored(dst Block, indptr []int64, indices []int32, scale []float32, x Halves, d int) {
	sums[uint16]{dst, indptr, indices, nil, scale, x.Data, x.Stride, d}.by(s.im.factored)
}
func (s Set) Largest(x []float32) uint32 { return s.im.largest(x) }

func (s Set) Transpose(dst []float32, ldd int, src []float32, lds, rows, columns int) {
	s.im.transpose(dst, ldd, src, lds, rows, columns)
}

func (s Set) Gemm(c, a, b Block, m, n, k int, accumulate bool) {
	s.im.gemm(product{c: c, a: a, b: b, m: m, n: n, k: k, accumulate: accumulate, above: m})
}

func (s Set) GramRows(g, x Block, n, d, lo, hi int, accumulate bool) {
	s.im.gramRows(g, x, n, d, lo, hi, accumulate)
}

func (s Set) Nearest(nearest []int32, dist []float32, x, centres Points, d int) {
	s.im.nearest(nearest, dist, x, centres, d)
}

func (s Set) Gather(dst Block, m Sparse, lo, hi int, x Block, d int) {
	gathering{dst: dst, s: m, lo: lo, count: hi - lo, x: x, d: d}.by(s.im.gather)
}

func (s Set) GatherRows(dst Block, m Sparse, rows, position []int32, x Block, d int) {
	gathering{dst: dst, s: m, rows: rows, count: len(rows), position: position, x: x, d: d}.by(s.im.gather)
}

func (s Set) GatherSum(dst Block, indptr []int64, indices []int32, scale []float32, x Block, d int) {
	sums[float32]{dst, indptr, indices, nil, scale, x.Data, x.Stride, d}.by(s.im.gatherSum)
}

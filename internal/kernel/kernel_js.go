//go:build js && simd128

package kernel

// available lists the sets of loops that a browser runs.
func available() []*implementation { return []*implementation{&simd} }

// simd has the loops of package simd128 where portable ones would take most of the time. They give the same bits, so
// the set has the name of the portable one.
var simd = implementation{
	name:        "generic",
	rows:        24,
	columns:     Columns128,
	tile:        tileSIMD,
	packStrided: true,
	depth:       256, // as in portable: it decides the order of sums
	height:      96,
	width:       1024,
	copyPanel:   copyPanelSIMD,
	transpose:   transposeGeneric,
	gather:      gatherSIMD,
	gatherSum:   gatherSumSIMD,
	gatherHalf:  gatherHalfGeneric,
	factored:    gatherFactoredGeneric,
	closest:     closestSIMD,
	lowest:      lowestGeneric,
	dot:         dotSIMD,
	axpy: func(alpha float32, x, y []float32) {
		inFours(axpy128, y, alpha, x, y, func(_, x, y []float32) { axpyGeneric(alpha, x, y) })
	},
	accumulate: accumulateSIMD,
	prefetch:   prefetchGeneric,
	prefetchAt: prefetchAtGeneric,
	add:        func(dst, x, y []float32) { inFours(add128, dst, 0, x, y, addGeneric) },
	mul:        func(dst, x, y []float32) { inFours(mul128, dst, 0, x, y, mulGeneric) },
	scale: func(dst []float32, alpha float32, x []float32) {
		inFours(scale128, dst, alpha, x, x, func(dst, x, _ []float32) { scaleGeneric(dst, alpha, x) })
	},
	relu: func(dst, x []float32) {
		inFours(relu128, dst, 0, x, x, func(dst, x, _ []float32) { reluGeneric(dst, x) })
	},
	reluGrad: func(dst, g, x []float32) {
		inFours(reluGrad128, dst, 0, x, g, func(dst, x, g []float32) { reluGradGeneric(dst, g, x) })
	},
	adam:       adamSIMD,
	maximum:    maximumGeneric,
	expShifted: expShiftedGeneric,
	exp:        expGeneric,

	widenFloat16:  widenFloat16Generic,
	widenBFloat16: widenBFloat16Generic,
	narrowFloat16: narrowFloat16Generic,
	narrowScaled:  narrowScaledGeneric,
	widenScaled:   widenScaledGeneric,
	largest:       largestGeneric,
	magnitudes:    magnitudesGeneric,
}

func tileSIMD(c []float32, ldc int, a []float32, rs, cs int, b []float32, m, n, k, _ int, accumulate bool) {
	_, _, _ = c[(m-1)*ldc+n-1], a[(m-1)*rs+(k-1)*cs], b[Columns128*k-1]
	add := int32(0)
	if accumulate {
		add = 1
	}
	tile128(&c[0], int32(ldc), &a[0], int32(rs), int32(cs), &b[0], int32(m), int32(n), int32(k), add)
}

func copyPanelSIMD(dst, src []float32, lds, rows, columns int) {
	_, _ = dst[rows*columns-1], src[(rows-1)*lds+columns-1]
	copyPanel128(&dst[0], &src[0], int32(lds), int32(rows))
}

func gatherSIMD(g gathering) {
	gather128(&g.dst.Data[0], int32(g.dst.Stride), first(g.rows), int32(g.lo), int32(g.count), first(g.position),
		first(g.s.Indptr), first(g.s.Indices), first(g.s.Weights), first(g.s.Left), first(g.s.Right), g.s.Self,
		first(g.x.Data), int32(g.x.Stride), int32(g.d))
}

func gatherSumSIMD(s sums[float32]) {
	gather128(&s.dst.Data[0], int32(s.dst.Stride), nil, 0, int32(len(s.scale)), nil, &s.indptr[0], first(s.indices), nil,
		&s.scale[0], nil, 0, first(s.x), int32(s.ldx), int32(s.d))
}

// closestSIMD compares tiles of 8 columns, from the lane of the first centre on.
func closestSIMD(value []float32, index []int32, product, norms []float32, m int, first int32) {
	at := int(first) % lanes
	_, _, _, _ = value[m*lanes-1], index[m*lanes-1], product[m*Columns128-1], norms[Columns128-1]
	closest128(&value[at], &index[at], &product[0], &norms[0], int32(m), first)
}

// short is the number of elements of a vector for which a call costs more than it saves.
const short = 24

func dotSIMD(x, y []float32) (sum float32) {
	if len(x) < short {
		return dotGeneric(x, y)
	}
	dot128(&sum, &x[0], &y[0], int32(len(x)))
	return sum
}

func accumulateSIMD(sum []float64, w float64, x []float32) {
	n := len(x) / 2 * 2
	if n < short {
		n = 0
	} else {
		accumulate128(&sum[0], w, &x[0], int32(n))
	}
	accumulateGeneric(sum[n:], w, x[n:])
}

func adamSIMD(w, g, m, v []float32, s adamStep) {
	n := len(w) / 4 * 4
	if n > 0 {
		adam128(&w[0], &g[0], &m[0], &v[0], int32(n), s.decay, s.b1, s.c1, s.b2, s.c2, s.rate, s.root, s.eps)
	}
	adamGeneric(w[n:], g[n:], m[n:], v[n:], s)
}

// inFours calls loop, and the portable one for the last elements and for short vectors.
func inFours(loop func(dst *float32, alpha float32, x, y *float32, n int32), dst []float32, alpha float32,
	x, y []float32, portable func(dst, x, y []float32)) {
	n := len(dst) / 4 * 4
	if n < short {
		n = 0
	} else {
		loop(&dst[0], alpha, &x[0], &y[0], int32(n))
	}
	portable(dst[n:], x[n:], y[n:])
}

//go:wasmimport cgc tile
//go:noescape
func tile128(c *float32, ldc int32, a *float32, rs, cs int32, b *float32, m, n, k, accumulate int32)

//go:wasmimport cgc copyPanel
//go:noescape
func copyPanel128(dst, src *float32, lds, rows int32)

//go:wasmimport cgc gather
//go:noescape
func gather128(dst *float32, ldd int32, rows *int32, first, count int32, position *int32, indptr *int64,
	indices *int32, weights, left, right *float32, self float32, x *float32, ldx, d int32)

//go:wasmimport cgc closest
//go:noescape
func closest128(value *float32, index *int32, product, norms *float32, m, first int32)

//go:wasmimport cgc dot
//go:noescape
func dot128(sum, x, y *float32, n int32)

//go:wasmimport cgc accumulate
//go:noescape
func accumulate128(sum *float64, w float64, x *float32, n int32)

//go:wasmimport cgc adam
//go:noescape
func adam128(w, g, m, v *float32, n int32, decay, b1, c1, b2, c2, rate, root, eps float32)

//go:wasmimport cgc axpy
//go:noescape
func axpy128(dst *float32, alpha float32, x, y *float32, n int32)

//go:wasmimport cgc add
//go:noescape
func add128(dst *float32, alpha float32, x, y *float32, n int32)

//go:wasmimport cgc mul
//go:noescape
func mul128(dst *float32, alpha float32, x, y *float32, n int32)

//go:wasmimport cgc scale
//go:noescape
func scale128(dst *float32, alpha float32, x, y *float32, n int32)

//go:wasmimport cgc relu
//go:noescape
func relu128(dst *float32, alpha float32, x, y *float32, n int32)

//go:wasmimport cgc reluGrad
//go:noescape
func reluGrad128(dst *float32, alpha float32, x, y *float32, n int32)

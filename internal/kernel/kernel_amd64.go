//go:build !purego

package kernel

import (
	"math"

	"golang.org/x/sys/cpu"
)

// available lists the sets of loops that this CPU runs, fastest first.
func available() []*implementation {
	var sets []*implementation
	x := cpu.X86
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512BW && x.HasBMI2 && x.HasAVX2 && x.HasFMA {
		sets = append(sets, &avx512)
	}
	if x.HasAVX2 && x.HasFMA { // these processors have F16C too
		sets = append(sets, &avx2)
	}
	return append(sets, &portable)
}

var avx512 = implementation{
	name:       "avx512",
	rows:       12,
	columns:    32,
	tile:       tile(32, tileAVX512),
	depth:      384,
	height:     96,
	width:      2048,
	copyPanel:  copyPanel(copyPanelAVX512),
	transpose:  transposeAVX2,
	gather:     gather(16, 16, gatherAVX512),
	gatherSum:  sumPanels(gatherSumAVX512, nil, gatherSumGeneric),
	gatherHalf: sumPanels(gatherSumHalfAVX512, gatherWeightedHalfAVX512, gatherHalfGeneric),
	factored:   sumPanels(gatherFactoredAVX512, nil, gatherFactoredGeneric),
	few:        fewWide,
	closest:    closestWide(closestAVX512),
	lowest:     lowestWide,
	dot:        dotAVX512,
	axpy:       axpyAVX512,
	accumulate: accumulateAVX2,
	prefetch:   prefetchAVX2,
	prefetchAt: prefetchAtAVX2,
	add:        addAVX512,
	mul:        mulAVX512,
	scale:      scaleAVX512,
	relu:       reluAVX512,
	reluGrad:   reluGradAVX512,
	adam:       adamWide(adamAVX512),
	maximum:    maximumAVX512,
	expShifted: expShiftedAVX512,
	exp:        exponential(exponentialAVX512),

	widenFloat16:  inBlocks(widenFloat16AVX512, widenFloat16Generic),
	widenBFloat16: inBlocks(widenBFloat16AVX512, widenBFloat16Generic),
	narrowFloat16: inBlocks(narrowFloat16AVX512, narrowFloat16Generic),
	narrowScaled:  scaledInBlocks(narrowScaledAVX512, narrowScaledGeneric),
	widenScaled:   scaledInBlocks(widenScaledAVX512, widenScaledGeneric),
	largest:       largestInBlocks(largestAVX512),
	magnitudes:    inBlocks(magnitudesAVX512, magnitudesGeneric),
}

var avx2 = implementation{
	name:        "avx2",
	rows:        6,
	columns:     16,
	tile:        tile(16, tileAVX2),
	packStrided: true,
	depth:       256,
	height:      120,
	width:       2048,
	copyPanel:   copyPanel(copyPanelAVX2),
	transpose:   transposeAVX2,
	gather:      gather(14, 8, gatherAVX2),
	gatherSum:   sumPanels(gatherSumAVX2, nil, gatherSumGeneric),
	gatherHalf:  sumPanels(gatherSumHalfAVX2, gatherWeightedHalfAVX2, gatherHalfGeneric),
	factored:    sumPanels(gatherFactoredAVX2, nil, gatherFactoredGeneric),
	few:         fewWide,
	closest:     closestWide(closestAVX2),
	lowest:      lowestWide,
	dot:         dotAVX2,
	axpy:        axpyAVX2,
	accumulate:  accumulateAVX2,
	prefetch:    prefetchAVX2,
	prefetchAt:  prefetchAtAVX2,
	add:         addAVX2,
	mul:         mulAVX2,
	scale:       scaleAVX2,
	relu:        reluAVX2,
	reluGrad:    reluGradAVX2,
	adam:        adamWide(adamAVX2),
	maximum:     maximumAVX2,
	expShifted:  expShiftedAVX2,
	exp:         exponential(exponentialAVX2),

	widenFloat16:  inBlocks(widenFloat16AVX2, widenFloat16Generic),
	widenBFloat16: inBlocks(widenBFloat16AVX2, widenBFloat16Generic),
	narrowFloat16: inBlocks(narrowFloat16AVX2, narrowFloat16Generic),
	narrowScaled:  scaledInBlocks(narrowScaledAVX2, narrowScaledGeneric),
	widenScaled:   scaledInBlocks(widenScaledAVX2, widenScaledGeneric),
	largest:       largestInBlocks(largestAVX2),
	magnitudes:    inBlocks(magnitudesAVX2, magnitudesGeneric),
}

// tile returns assembly as a microKernel that first checks bounds. b has the given number of columns.
func tile(columns int, assembly func(c *float32, ldc int, a *float32, rs, cs int, b *float32, m, n, k, ahead int,
	accumulate bool)) microKernel {
	return func(c []float32, ldc int, a []float32, rs, cs int, b []float32, m, n, k, ahead int, accumulate bool) {
		_ = c[(m-1)*ldc+n-1]
		_ = a[(m-1)*rs+(k-1)*cs]
		_ = b[columns*k-1]
		assembly(&c[0], ldc, &a[0], rs, cs, &b[0], m, n, k, ahead, accumulate)
	}
}

func copyPanel(assembly func(dst, src *float32, lds, rows int)) func(dst, src []float32, lds, rows, columns int) {
	return func(dst, src []float32, lds, rows, columns int) {
		_, _ = dst[rows*columns-1], src[(rows-1)*lds+columns-1]
		assembly(&dst[0], &src[0], lds, rows)
	}
}

func closestWide(
	assembly func(value *float32, index *int32, product, norms *float32, m int, first int32),
) func(value []float32, index []int32, product, norms []float32, m int, first int32) {
	return func(value []float32, index []int32, product, norms []float32, m int, first int32) {
		_, _ = value[m*lanes-1], index[m*lanes-1]
		assembly(&value[0], &index[0], &product[0], &norms[0], m, first)
	}
}

func fewWide(product, x0, x1, centres []float32, d int) {
	_, _, _, _ = product[7], x0[d-1], x1[d-1], centres[4*d-1]
	fewAVX2(&product[0], &x0[0], &x1[0], &centres[0], d)
}

func lowestWide(nearest []int32, least, value []float32, index []int32, m int) {
	_, _, _, _ = nearest[m-1], least[m-1], value[m*lanes-1], index[m*lanes-1]
	lowestAVX2(&nearest[0], &least[0], &value[0], &index[0], m)
}

func adamWide(
	assembly func(w, g, m, v []float32, decay, b1, c1, b2, c2, rate, root, eps float32),
) func(w, g, m, v []float32, s adamStep) {
	return func(w, g, m, v []float32, s adamStep) {
		assembly(w, g, m, v, s.decay, s.b1, s.c1, s.b2, s.c2, s.rate, s.root, s.eps)
	}
}

// exponential leaves numbers outside the range of the loop to math.Exp.
func exponential(assembly func(x *float64, blocks int)) func(x []float64) {
	const most = 700
	return func(x []float64) {
		for _, v := range x {
			if !(math.Abs(v) <= most) {
				expGeneric(x)
				return
			}
		}
		if len(x) > 0 {
			assembly(&x[0], len(x)/expBlock)
		}
	}
}

// transposeAVX2 leaves the last rows and columns, fewer than 8, to the portable loop.
func transposeAVX2(dst []float32, ldd int, src []float32, lds, rows, columns int) {
	blocks := columns / 8
	i := 0
	if blocks > 0 {
		for ; i+8 <= rows; i += 8 {
			_, _ = dst[(8*blocks-1)*ldd+i+7], src[(i+7)*lds+8*blocks-1]
			transpose8AVX2(&dst[i], ldd, &src[i*lds], lds, blocks)
		}
		if i > 0 && 8*blocks < columns {
			transposeGeneric(dst[8*blocks*ldd:], ldd, src[8*blocks:], lds, i, columns-8*blocks)
		}
	}
	if i < rows {
		transposeGeneric(dst[i:], ldd, src[i*lds:], lds, rows-i, columns)
	}
}

// gather cuts the columns into as few panels as the loop allows, with about equal numbers of registers. A register
// holds lanes values, and a panel has up to most registers.
func gather(most, lanes int, loop func(dst *float32, ldd int, rows *int32, first, count int, position *int32,
	indptr *int64, indices *int32, weights, left, right *float32, self float32, x *float32, ldx, d int),
) func(g gathering) {
	return func(g gathering) {
		vectors := (g.d + lanes - 1) / lanes
		panels := (vectors + most - 1) / most
		width := (vectors + panels - 1) / panels * lanes
		for j := 0; j < g.d; j += width {
			x := first(g.x.Data[min(j, len(g.x.Data)):])
			loop(&g.dst.Data[j], g.dst.Stride, first(g.rows), g.lo, g.count, first(g.position),
				first(g.s.Indptr), first(g.s.Indices), first(g.s.Weights), first(g.s.Left), first(g.s.Right), g.s.Self,
				x, g.x.Stride, min(width, g.d-j))
		}
	}
}

// summer sums rows of 16, 32, 48 or 64 columns, of float32 or of float16; weightedSummer has weights.
type (
	summer[T float32 | uint16] func(dst *float32, ldd, d, count int, indptr *int64, indices *int32,
		scale *float32, x *T, ldx int)
	weightedSummer[T float32 | uint16] func(dst *float32, ldd, d, count int, indptr *int64, indices *int32,
		weights, scale *float32, x *T, ldx int)
)

// sumPanels cuts the columns into panels of at most 64. If all rows are empty, it calls portable, because the other
// loops prefetch entries. weighted is nil if there are never weights.
func sumPanels[T float32 | uint16](
	plain summer[T], weighted weightedSummer[T], portable func(s sums[T]),
) func(s sums[T]) {
	return func(s sums[T]) {
		if s.indptr[0] == s.indptr[len(s.indptr)-1] {
			portable(s)
			return
		}
		for j := 0; j < s.d; j += 64 {
			dst, d, count, x := &s.dst.Data[j], min(64, s.d-j), len(s.scale), &s.x[j]
			if s.weights != nil {
				weighted(dst, s.dst.Stride, d, count, &s.indptr[0], &s.indices[0], &s.weights[0], &s.scale[0], x, s.ldx)
				continue
			}
			plain(dst, s.dst.Stride, d, count, &s.indptr[0], &s.indices[0], &s.scale[0], x, s.ldx)
		}
	}
}

//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// available lists the sets of loops that this CPU runs, fastest first.
func available() []*implementation {
	var sets []*implementation
	x := cpu.X86
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512BW && x.HasBMI2 && x.HasAVX2 && x.HasFMA {
		sets = append(sets, &avx512)
	}
	if x.HasAVX2 && x.HasFMA && hasF16C() {
		sets = append(sets, &avx2)
	}
	return append(sets, &portable)
}

var avx512 = implementation{
	name:       "avx512",
	rows:       12,
	columns:    32,
	tile:       tiles(tilesAVX512, 16),
	depth:      384,
	height:     96,
	width:      2048,
	copyPanel:  copyPanel(copyPanelAVX512),
	transpose:  transposeAVX2,
	gather:     gatherPanels(gathersAVX512, 16),
	gatherSum:  sumPanels(sumsAVX512, nil, gatherSumGeneric),
	gatherHalf: sumPanels(halfSumsAVX512, weightedSumsAVX512, gatherHalfGeneric),
	factored:   sumPanels(factoredSumsAVX512, nil, gatherFactoredGeneric),
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
	tile:        tiles(tilesAVX2, 8),
	packStrided: true,
	depth:       256,
	height:      120,
	width:       2048,
	copyPanel:   copyPanel(copyPanelAVX2),
	transpose:   transposeAVX2,
	gather:      gatherPanels(gathersAVX2, 8),
	gatherSum:   sumPanels(sumsAVX2, nil, gatherSumGeneric),
	gatherHalf:  sumPanels(halfSumsAVX2, weightedSumsAVX2, gatherHalfGeneric),
	factored:    sumPanels(factoredSumsAVX2, nil, gatherFactoredGeneric),
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

	widenFloat16:  inBlocks(widenFloat16AVX2, widenFloat16Generic),
	widenBFloat16: inBlocks(widenBFloat16AVX2, widenBFloat16Generic),
	narrowFloat16: inBlocks(narrowFloat16AVX2, narrowFloat16Generic),
	narrowScaled:  scaledInBlocks(narrowScaledAVX2, narrowScaledGeneric),
	widenScaled:   scaledInBlocks(widenScaledAVX2, widenScaledGeneric),
	largest:       largestInBlocks(largestAVX2),
	magnitudes:    inBlocks(magnitudesAVX2, magnitudesGeneric),
}

// microKernel computes a tile of a fixed number of rows.
type microKernel func(c *float32, ldc int, a *float32, rs, cs int, b *float32, n, k, ahead int, accumulate bool)

// The micro-kernels for 1 and 2 registers of columns, and for 1, 2, … rows.
var (
	tilesAVX512 = [2][]microKernel{
		{tile1x1AVX512, tile2x1AVX512, tile3x1AVX512, tile4x1AVX512, tile5x1AVX512, tile6x1AVX512,
			tile7x1AVX512, tile8x1AVX512, tile9x1AVX512, tile10x1AVX512, tile11x1AVX512, tile12x1AVX512},
		{tile1x2AVX512, tile2x2AVX512, tile3x2AVX512, tile4x2AVX512, tile5x2AVX512, tile6x2AVX512,
			tile7x2AVX512, tile8x2AVX512, tile9x2AVX512, tile10x2AVX512, tile11x2AVX512, tile12x2AVX512},
	}
	tilesAVX2 = [2][]microKernel{
		{tile1x1AVX2, tile2x1AVX2, tile3x1AVX2, tile4x1AVX2, tile5x1AVX2, tile6x1AVX2},
		{tile1x2AVX2, tile2x2AVX2, tile3x2AVX2, tile4x2AVX2, tile5x2AVX2, tile6x2AVX2},
	}
)

// tiles returns the micro-kernel that chooses among kernels by the rows and columns of a tile, whose rows have at most
// two registers of lanes values.
func tiles(
	kernels [2][]microKernel, lanes int,
) func(c []float32, ldc int, a []float32, rs, cs int, b []float32, m, n, k, ahead int, accumulate bool) {
	return func(c []float32, ldc int, a []float32, rs, cs int, b []float32, m, n, k, ahead int, accumulate bool) {
		_ = c[(m-1)*ldc+n-1]
		_ = a[(m-1)*rs+(k-1)*cs]
		_ = b[2*lanes*k-1]
		kernels[(n-1)/lanes][m-1](&c[0], ldc, &a[0], rs, cs, &b[0], n, k, ahead, accumulate)
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

// rowGatherer gathers rows of a fixed number of registers.
type rowGatherer func(dst *float32, ldd int, rows *int32, first, count int, position *int32, indptr *int64,
	indices *int32, weights, left, right *float32, self float32, x *float32, ldx, d int)

// The gathering loops for rows of 1, 2, … registers.
var (
	gathersAVX512 = []rowGatherer{gather1AVX512, gather2AVX512, gather3AVX512, gather4AVX512, gather5AVX512,
		gather6AVX512, gather7AVX512, gather8AVX512, gather9AVX512, gather10AVX512, gather11AVX512, gather12AVX512,
		gather13AVX512, gather14AVX512, gather15AVX512, gather16AVX512}
	gathersAVX2 = []rowGatherer{gather1AVX2, gather2AVX2, gather3AVX2, gather4AVX2, gather5AVX2, gather6AVX2,
		gather7AVX2, gather8AVX2, gather9AVX2, gather10AVX2, gather11AVX2, gather12AVX2, gather13AVX2, gather14AVX2}
)

// gatherPanels returns the loop that cuts the columns into as few panels as the loops allow, with about equal numbers
// of registers.
func gatherPanels(loops []rowGatherer, lanes int) func(g gathering) {
	return func(g gathering) {
		vectors := (g.d + lanes - 1) / lanes
		panels := (vectors + len(loops) - 1) / len(loops)
		width := (vectors + panels - 1) / panels * lanes
		for j := 0; j < g.d; j += width {
			d := min(width, g.d-j)
			x := first(g.x.Data[min(j, len(g.x.Data)):])
			loops[(d-1)/lanes](&g.dst.Data[j], g.dst.Stride, first(g.rows), g.lo, g.count, first(g.position),
				first(g.s.Indptr), first(g.s.Indices), first(g.s.Weights), first(g.s.Left), first(g.s.Right), g.s.Self,
				x, g.x.Stride, d)
		}
	}
}

// rowSummer sums rows of a fixed multiple of 16 columns, of float32 or of float16.
type rowSummer[T float32 | uint16] func(dst *float32, ldd, count int, indptr *int64, indices *int32, scale *float32,
	x *T, ldx int)

// weightedSummer is like rowSummer, with weights.
type weightedSummer[T float32 | uint16] func(dst *float32, ldd, count int, indptr *int64, indices *int32,
	weights, scale *float32, x *T, ldx int)

// The summing loops for 16, 32, 48 and 64 columns.
var (
	sumsAVX512 = []rowSummer[float32]{gatherSum1AVX512, gatherSum2AVX512, gatherSum3AVX512, gatherSum4AVX512}
	sumsAVX2   = []rowSummer[float32]{gatherSum1AVX2, gatherSum2AVX2, gatherSum3AVX2, gatherSum4AVX2}

	halfSumsAVX512 = []rowSummer[uint16]{gatherSumHalf1AVX512, gatherSumHalf2AVX512, gatherSumHalf3AVX512,
		gatherSumHalf4AVX512}
	halfSumsAVX2 = []rowSummer[uint16]{gatherSumHalf1AVX2, gatherSumHalf2AVX2, gatherSumHalf3AVX2, gatherSumHalf4AVX2}

	weightedSumsAVX512 = []weightedSummer[uint16]{gatherWeightedHalf1AVX512, gatherWeightedHalf2AVX512,
		gatherWeightedHalf3AVX512, gatherWeightedHalf4AVX512}
	weightedSumsAVX2 = []weightedSummer[uint16]{gatherWeightedHalf1AVX2, gatherWeightedHalf2AVX2,
		gatherWeightedHalf3AVX2, gatherWeightedHalf4AVX2}

	factoredSumsAVX512 = []rowSummer[uint16]{gatherFactored1AVX512, gatherFactored2AVX512, gatherFactored3AVX512,
		gatherFactored4AVX512}
	factoredSumsAVX2 = []rowSummer[uint16]{gatherFactored1AVX2, gatherFactored2AVX2, gatherFactored3AVX2,
		gatherFactored4AVX2}
)

// sumPanels returns the loop that cuts the columns into panels of at most 64. If all rows are empty, it calls portable:
// the other loops prefetch entries. weighted is nil if there are never weights.
func sumPanels[T float32 | uint16](
	plain []rowSummer[T], weighted []weightedSummer[T], portable func(s sums[T]),
) func(s sums[T]) {
	return func(s sums[T]) {
		if s.indptr[0] == s.indptr[len(s.indptr)-1] {
			portable(s)
			return
		}
		for j := 0; j < s.d; j += 64 {
			dst, count, part, x := &s.dst.Data[j], len(s.scale), min(64, s.d-j)/16-1, &s.x[j]
			if s.weights != nil {
				weighted[part](dst, s.dst.Stride, count, &s.indptr[0], &s.indices[0], &s.weights[0], &s.scale[0], x, s.ldx)
				continue
			}
			plain[part](dst, s.dst.Stride, count, &s.indptr[0], &s.indices[0], &s.scale[0], x, s.ldx)
		}
	}
}

// first returns the address of the first element, or nil.
func first[T any](s []T) *T {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}

//go:build !purego

package kernel

// inBlocks calls assembly for complete blocks of 16 elements, and rest for the remaining ones.
func inBlocks[D, S any](
	assembly func(dst *D, src *S, blocks int), rest func(dst []D, src []S),
) func(dst []D, src []S) {
	return func(dst []D, src []S) {
		blocks := len(src) / 16
		if blocks > 0 {
			_ = dst[16*blocks-1]
			assembly(&dst[0], &src[0], blocks)
		}
		if at := 16 * blocks; at < len(src) {
			rest(dst[at:], src[at:])
		}
	}
}

// largestInBlocks is like inBlocks, for the largest magnitude.
func largestInBlocks(assembly func(x *float32, blocks int) uint32) func(x []float32) uint32 {
	return func(x []float32) (top uint32) {
		blocks := len(x) / 16
		if blocks > 0 {
			top = assembly(&x[0], blocks)
		}
		return max(top, largestGeneric(x[16*blocks:]))
	}
}

// scaledInBlocks is like inBlocks, for NarrowScaled and WidenScaled.
func scaledInBlocks[D, S any](
	assembly func(dst *D, alpha float32, factors *float32, src *S, blocks int),
	rest func(dst []D, alpha float32, factors []float32, src []S),
) func(dst []D, alpha float32, factors []float32, src []S) {
	return func(dst []D, alpha float32, factors []float32, src []S) {
		blocks := len(src) / 16
		at := 16 * blocks
		if blocks > 0 {
			_, _ = dst[at-1], factors[at-1]
			assembly(&dst[0], alpha, &factors[0], &src[0], blocks)
		}
		rest(dst[at:], alpha, factors[at:], src[at:])
	}
}

package radix_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/radix"
)

// TestSort compares a sort by ranges of bits with the stable sort by the same bits.
func TestSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 3, 100, 5000} {
		for _, ranges := range [][]radix.Bits{nil, {{0, 1}}, {{0, 13}}, {{0, 27}, {32, 18}}, {{60, 4}}, {{0, 64}}} {
			for _, weighted := range []bool{false, true} {
				key := make([]uint64, n)
				var weight []float32
				for i := range key {
					key[i] = random.Uint64() >> random.IntN(64)
				}
				if weighted {
					weight = make([]float32, n)
					for i := range weight {
						weight[i] = float32(i)
					}
				}
				before, order := slices.Clone(key), make([]int, n)
				for i := range order {
					order[i] = i
				}
				for _, r := range ranges {
					slices.SortStableFunc(order, func(a, b int) int {
						mask := uint64(1)<<r.Width - 1
						return cmp.Compare(before[a]>>r.Low&mask, before[b]>>r.Low&mask)
					})
				}
				radix.Sort(key, weight, ranges...)
				for i, from := range order {
					if key[i] != before[from] || weighted && weight[i] != float32(from) {
						t.Fatalf("%d keys by %v: place %d holds %#x, want %#x", n, ranges, i, key[i], before[from])
					}
				}
			}
		}
	}
}

func TestMerge(t *testing.T) {
	key, weight := []uint64{1, 1, 2, 5, 5, 5}, []float32{3, 4, 1, 2, 9, 8}
	kept := radix.Merge(key, weight)
	if !slices.Equal(key[:kept], []uint64{1, 2, 5}) || !slices.Equal(weight[:kept], []float32{4, 1, 9}) {
		t.Errorf("%v %v", key[:kept], weight[:kept])
	}
	key = []uint64{7, 7}
	if kept := radix.Merge(key, nil); kept != 1 || radix.Merge(nil, nil) != 0 {
		t.Errorf("%d of two equal keys are kept", kept)
	}
}

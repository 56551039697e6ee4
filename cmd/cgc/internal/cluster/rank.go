package cluster

import (
	"math/bits"
	"slices"
)

// rank finds the position of a number in an ascending list of numbers below n. It needs 3n/16 bytes, or none if the
// list is sparse: an input that claims a large graph but has few nodes must not cost memory for all of it.
type rank struct {
	words   []uint64
	below   []uint32 // for each word, how many numbers are in earlier words
	numbers []int32  // a sparse list, instead of words
}

// sparseRank is the share of numbers below which a list is sparse.
const sparseRank = 1. / 1024

func newRank(numbers []int32, n int) *rank {
	if float64(len(numbers)) < sparseRank*float64(n) {
		return &rank{numbers: numbers}
	}
	r := &rank{words: make([]uint64, n/64+1), below: make([]uint32, n/64+1)}
	for _, v := range numbers {
		r.words[v/64] |= 1 << (v % 64)
	}
	sum := 0
	for i, w := range r.words {
		r.below[i] = uint32(sum)
		sum += bits.OnesCount64(w)
	}
	return r
}

// of returns the position of v, or −1 if v is not in the list.
func (r *rank) of(v int32) int32 {
	if r.words == nil {
		if i, is := slices.BinarySearch(r.numbers, v); is {
			return int32(i)
		}
		return -1
	}
	if v < 0 || int(v/64) >= len(r.words) {
		return -1
	}
	word, bit := r.words[v/64], uint64(1)<<(v%64)
	if word&bit == 0 {
		return -1
	}
	return int32(r.below[v/64]) + int32(bits.OnesCount64(word&(bit-1)))
}

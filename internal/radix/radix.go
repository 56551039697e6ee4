// Package radix sorts 64-bit numbers, and weights that belong to them, by some of their bits.
package radix

import (
	"slices"
	"sync"
)

// digit limits the number of bits per pass, so that the counts of a pass stay in the first-level cache.
const digit = 12

// Bits is a range of bits of a key: Width bits, starting with bit Low.
type Bits struct{ Low, Width int }

// scratch is the memory that a sort needs in addition to its input.
type scratch struct {
	key    []uint64
	weight []float32
}

var idle = sync.Pool{New: func() any { return new(scratch) }}

// Sort sorts keys by the given bits, the least significant range first. It is stable. weight, if not nil, has a weight
// for each key, which moves with it. Sort needs as much additional memory as its input, and makes two passes over the
// input for each 12 bits.
func Sort(key []uint64, weight []float32, ranges ...Bits) {
	if len(key) < 2 {
		return
	}
	s := idle.Get().(*scratch)
	defer idle.Put(s)
	s.key = slices.Grow(s.key[:0], len(key))[:len(key)]
	from, to := key, s.key
	var fromWeight, toWeight []float32
	if weight != nil {
		s.weight = slices.Grow(s.weight[:0], len(weight))[:len(weight)]
		fromWeight, toWeight = weight, s.weight
	}
	for _, r := range ranges {
		low, width := r.Low, r.Width
		for width > 0 {
			passes := (width + digit - 1) / digit
			w := (width + passes - 1) / passes
			distribute(to, from, toWeight, fromWeight, low, w)
			from, to, fromWeight, toWeight = to, from, toWeight, fromWeight
			low, width = low+w, width-w
		}
	}
	if &from[0] != &key[0] {
		copy(key, from)
		copy(weight, fromWeight)
	}
}

// distribute copies from into to, sorted stably by the given bits of its keys.
func distribute(to, from []uint64, toWeight, fromWeight []float32, low, width int) {
	var next [1 << digit]int
	mask := uint64(1)<<width - 1
	for _, e := range from {
		next[e>>low&mask&(1<<digit-1)]++
	}
	total := 0
	for d := range next[:mask+1] {
		next[d], total = total, total+next[d]
	}
	for i, e := range from {
		at := &next[e>>low&mask&(1<<digit-1)]
		to[*at] = e
		if fromWeight != nil {
			toWeight[*at] = fromWeight[i]
		}
		*at++
	}
}

// Merge drops duplicates among sorted keys and keeps the largest weight of each. It leaves the keys at the front and
// returns their number. weight may be nil.
func Merge(key []uint64, weight []float32) (kept int) {
	for i, e := range key {
		if kept > 0 && key[kept-1] == e {
			if weight != nil {
				weight[kept-1] = max(weight[kept-1], weight[i])
			}
			continue
		}
		key[kept] = e
		if weight != nil {
			weight[kept] = weight[i]
		}
		kept++
	}
	return kept
}

package table

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"strconv"
)

// index maps names to nodes without keeping the names. It uses 20 bytes for each name. A name is represented by a hash
// of 96 bits, with random seeds for each table. The probability that any two of n names collide is below n²/2⁹⁷,
// which is 10⁻¹³ for 10⁸ names. Find is safe for concurrent use.
type index struct {
	seeds    [2]maphash.Seed
	slots    []mark
	count    int
	most     int64 // the memory limit in bytes
	numbered bool  // each name i is the number i, and slots is empty
}

// mark is a slot of a table with open addressing.
type mark struct {
	high uint64
	low  uint32
	node uint32 // the node plus 1, or 0 if the slot is free
}

const (
	markBytes = 16
	// full is the maximum load factor, in fifths.
	full = 4
)

// newIndex returns an empty index of at most the given number of bytes.
func newIndex(most int64) *index {
	return &index{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, most: most, numbered: true}
}

// numberIndex returns an index of the names 0 to n−1.
func numberIndex(n int, most int64) *index {
	t := newIndex(most)
	t.count = n
	return t
}

// tableBytes returns the bytes of an index of n names.
func tableBytes(n int64) int64 { return (n*5/full + 1) * markBytes }

// Bytes returns the memory use of t.
func (t *index) Bytes() int64 { return int64(len(t.slots)) * markBytes }

// Numbered reports whether each name is the number of its node, counted from 0.
func (t *index) Numbered() bool { return t.numbered }

// Len returns the number of names.
func (t *index) Len() int { return t.count }

// Add adds the name of the next node. about is the expected number of names. It returns the earlier node with this
// name, or −1. It fails if the index would exceed its memory limit.
func (t *index) Add(name string, about int64) (first int, err error) {
	if t.numbered {
		if node, ok := number(name); ok && node == t.count {
			t.count++
			return -1, nil
		}
		t.numbered = false
		if err := t.grow(max(about, int64(t.count)+1)); err != nil {
			return -1, err
		}
		for i := range t.count {
			t.put(t.mark(strconv.Itoa(i)), i)
		}
	}
	if int64(t.count+1)*5 > int64(len(t.slots))*full {
		if err := t.grow(max(about, int64(t.count)*3/2+16)); err != nil {
			return -1, err
		}
	}
	if first := t.put(t.mark(name), t.count); first >= 0 {
		return first, nil
	}
	t.count++
	return -1, nil
}

// grow makes room for n names.
func (t *index) grow(n int64) error {
	if need := tableBytes(n) + t.Bytes(); need > t.most {
		return fmt.Errorf("the ids of %d nodes take %d MB of memory, must be at most %d MB (none if id i is the "+
			"number i)", n, need/1e6+1, t.most/1e6)
	}
	old := t.slots
	t.slots = make([]mark, tableBytes(n)/markBytes)
	for _, m := range old {
		if m.node > 0 {
			t.put(m, int(m.node-1))
		}
	}
	return nil
}

func (t *index) mark(name string) mark {
	return mark{high: maphash.String(t.seeds[0], name), low: uint32(maphash.String(t.seeds[1], name))}
}

// home returns the slot at which the search for m begins.
func (t *index) home(m mark) int {
	at, _ := bits.Mul64(m.high, uint64(len(t.slots)))
	return int(at)
}

// slot returns the slot of m, which is free if m is not in the table.
func (t *index) slot(m mark) *mark {
	for at := t.home(m); ; {
		if s := &t.slots[at]; s.node == 0 || s.high == m.high && s.low == m.low {
			return s
		}
		if at++; at == len(t.slots) {
			at = 0
		}
	}
}

// put stores a node under m. It returns the node that is already stored there, or −1.
func (t *index) put(m mark, node int) int {
	s := t.slot(m)
	if s.node == 0 {
		*s = mark{m.high, m.low, uint32(node) + 1}
		return -1
	}
	return int(s.node - 1)
}

// Find sets nodes[i] to the node of names[i], or to −1 if there is none. It is fastest for hundreds of names, because
// their slots are then loaded from memory concurrently.
func (t *index) Find(names [][]byte, nodes []int32) {
	const batch = 64
	var marks [batch]mark
	var held [batch]uint32
	if t.numbered || len(t.slots) == 0 {
		for i, name := range names {
			nodes[i] = -1
			if node, ok := number(string(name)); ok && node < t.count {
				nodes[i] = int32(node)
			}
		}
		return
	}
	for len(names) > 0 {
		n := min(batch, len(names))
		for i, name := range names[:n] {
			marks[i] = t.mark(string(name))
		}
		for i := range marks[:n] {
			held[i] = t.slots[t.home(marks[i])].node
		}
		for i := range marks[:n] {
			if nodes[i] = -1; held[i] != 0 {
				nodes[i] = int32(t.slot(marks[i]).node) - 1
			}
		}
		names, nodes = names[n:], nodes[n:]
	}
}

// number parses a number in its usual form, the only form that Numbered accepts.
func number(name string) (int, bool) {
	if len(name) == 0 || len(name) > 10 || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	v := 0
	for _, c := range []byte(name) {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + int(c-'0')
	}
	return v, true
}

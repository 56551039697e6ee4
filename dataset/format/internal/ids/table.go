package ids

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"strconv"
	"strings"
)

// Table gives the node of each name without keeping the names: 20 bytes for each. A name is known by 96 bits of a hash
// whose seed is drawn anew in each process. Two of n names are taken for one with a probability below n²/2⁹⁷, which is
// 10⁻¹³ for 10⁸ names. Finding is safe for concurrent use.
type Table struct {
	seeds    [2]maphash.Seed
	slots    []mark
	count    int
	most     int64 // bytes
	numbered bool  // name i is the number i, and slots is empty
}

// mark is a slot of a table with open addressing.
type mark struct {
	high uint64
	low  uint32
	node uint32 // plus 1; 0 if the slot is free
}

const (
	markBytes = 16
	// full is the largest share of slots that are taken, in fifths.
	full = 4
)

// NewTable returns an empty table that takes at most so many bytes.
func NewTable(most int64) *Table {
	return &Table{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, most: most, numbered: true}
}

// TableBytes returns the bytes of a table of n names.
func TableBytes(n int64) int64 { return (n*5/full + 1) * markBytes }

// Bytes returns the memory that t takes.
func (t *Table) Bytes() int64 { return int64(len(t.slots)) * markBytes }

// Numbered reports whether each name is the number of its node, from 0.
func (t *Table) Numbered() bool { return t.numbered }

// Len returns the number of names.
func (t *Table) Len() int { return t.count }

// Add adds the name of the next node. about is how many names are to be expected in all. It returns the node that has
// the name already, or −1. The error says that there is no memory.
func (t *Table) Add(name []byte, about int64) (first int, err error) {
	if t.numbered {
		if node, ok := number(name); ok && node == t.count {
			t.count++
			return -1, nil
		}
		t.numbered = false
		if err := t.grow(max(about, int64(t.count)+1)); err != nil {
			return -1, err
		}
		var text [20]byte
		for i := range t.count {
			t.put(t.mark(strconv.AppendInt(text[:0], int64(i), 10)), i)
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
func (t *Table) grow(n int64) error {
	if need := TableBytes(n) + t.Bytes(); need > t.most {
		return fmt.Errorf("the ids of %d nodes take %d MB of memory, want at least that, not %d MB (none if id i is the "+
			"number i)", n, need/1e6+1, t.most/1e6)
	}
	old := t.slots
	t.slots = make([]mark, TableBytes(n)/markBytes)
	for _, m := range old {
		if m.node > 0 {
			t.put(m, int(m.node-1))
		}
	}
	return nil
}

func (t *Table) mark(name []byte) mark {
	return mark{high: maphash.Bytes(t.seeds[0], name), low: uint32(maphash.Bytes(t.seeds[1], name))}
}

// home returns the slot at which the search for m begins.
func (t *Table) home(m mark) int {
	at, _ := bits.Mul64(m.high, uint64(len(t.slots)))
	return int(at)
}

// put gives m to a node. It returns the node that has it already, or −1.
func (t *Table) put(m mark, node int) int {
	for at := t.home(m); ; {
		s := &t.slots[at]
		if s.node == 0 {
			*s = mark{m.high, m.low, uint32(node) + 1}
			return -1
		}
		if s.high == m.high && s.low == m.low {
			return int(s.node - 1)
		}
		if at++; at == len(t.slots) {
			at = 0
		}
	}
}

// get returns the node of m, or −1.
func (t *Table) get(m mark) int32 {
	for at := t.home(m); ; {
		s := &t.slots[at]
		switch {
		case s.node == 0:
			return -1
		case s.high == m.high && s.low == m.low:
			return int32(s.node - 1)
		}
		if at++; at == len(t.slots) {
			at = 0
		}
	}
}

// Find sets nodes[i] to the node of names[i], or to −1 if there is none. It is fastest for hundreds of names: memory
// then loads the slots of many at once.
func (t *Table) Find(names [][]byte, nodes []int32) {
	const batch = 64
	var marks [batch]mark
	var held [batch]uint32
	if t.numbered || len(t.slots) == 0 {
		for i, name := range names {
			nodes[i] = -1
			if node, ok := number(name); ok && node < t.count {
				nodes[i] = int32(node)
			}
		}
		return
	}
	for len(names) > 0 {
		n := min(batch, len(names))
		for i, name := range names[:n] {
			marks[i] = t.mark(name)
		}
		for i := range marks[:n] {
			held[i] = t.slots[t.home(marks[i])].node
		}
		for i := range marks[:n] {
			if nodes[i] = -1; held[i] != 0 {
				nodes[i] = t.get(marks[i])
			}
		}
		names, nodes = names[n:], nodes[n:]
	}
}

// number returns the number that is written in its usual form, as Numbered wants it.
func number(name []byte) (int, bool) {
	if len(name) == 0 || len(name) > 10 || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	v := 0
	for _, c := range name {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + int(c-'0')
	}
	return v, true
}

// Plain returns the usual form of a name that is a number: "7" for "007", "+7", "7.0" and "7.". It cuts space from
// around any name.
func Plain(name string) string { return plain(name) }

// Alike reports whether two names differ only in the form of a number, in space around them, or in the case of letters.
func Alike(a, b string) bool { return strings.EqualFold(plain(a), plain(b)) }

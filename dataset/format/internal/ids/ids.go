// Package ids finds nodes by their names.
package ids

import (
	"context"
	"hash/maphash"
	"math/bits"
)

// Index gives the node of each name. Its methods are safe for concurrent use.
type Index struct {
	names []string
	seeds [2]maphash.Seed
	salt  [2]uint64
	slots []slot // a table with open addressing
}

// slot holds a name. A name of at most 16 bytes is compared without another access to memory.
type slot struct {
	key
	node uint32 // plus 1; 0 if the slot is free
}

// key tells names apart. A name of at most 16 bytes is its key: its first 8 bytes, its last 8 bytes and its length. A
// longer one has two hashes and its length.
type key struct {
	a, b   uint64
	length uint32
}

const short = 16 // bytes of a name that is its key

// New returns the index of distinct names, in which names[i] is node i. It keeps names. If a name is there twice, again
// is the first node that repeats the name of an earlier one, and first is that one. Otherwise again is −1. When ctx is
// done, New returns soon, and what it returns has no meaning.
func New(ctx context.Context, names []string) (x *Index, again, first int) {
	x = &Index{names: names, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	for i, seed := range x.seeds {
		x.salt[i] = maphash.String(seed, "salt") | 1
	}
	x.slots = make([]slot, 1<<bits.Len(uint(2*len(names)))) // at most half of them taken
	for i, name := range names {
		if i&0xffff == 0 && ctx.Err() != nil {
			break
		}
		k := x.key(name)
		at, node := x.find(k, name)
		if node >= 0 {
			return x, i, int(node)
		}
		x.slots[at] = slot{k, uint32(i + 1)}
	}
	return x, -1, -1
}

// Name returns the name of a node.
func (x *Index) Name(node int) string { return x.names[node] }

// key returns the key of a name.
func (x *Index) key(name string) key {
	k := key{length: uint32(len(name))}
	switch n := len(name); {
	case n > short:
		k.a, k.b = maphash.String(x.seeds[0], name), maphash.String(x.seeds[1], name)
	case n >= 8:
		k.a, k.b = eight(name), eight(name[n-8:])
	default:
		for i := range n {
			k.a = k.a<<8 | uint64(name[i])
		}
	}
	return k
}

func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// home returns the slot at which the search for a key begins.
func (x *Index) home(k key) int {
	high, low := bits.Mul64(k.a^x.salt[0]^uint64(k.length), k.b^x.salt[1])
	return int((high ^ low) & uint64(len(x.slots)-1))
}

// find returns the node of a name and its slot; or −1 and the slot that it would take.
func (x *Index) find(k key, name string) (at int, node int32) {
	for at = x.home(k); ; at = (at + 1) & (len(x.slots) - 1) {
		switch s := &x.slots[at]; {
		case s.node == 0:
			return at, -1
		case s.key == k && (len(name) <= short || x.names[s.node-1] == name):
			return at, int32(s.node - 1)
		}
	}
}

// Find sets nodes[i] to the node of names[i], or to −1 if there is none. It is fastest for hundreds of names: memory
// then loads the slots of many at once.
func (x *Index) Find(names [][]byte, nodes []int32) {
	const batch = 64
	var keys [batch]key
	var held [batch]uint32
	for len(names) > 0 {
		n := min(batch, len(names))
		for i, name := range names[:n] {
			keys[i] = x.key(string(name))
		}
		for i := range keys[:n] {
			held[i] = x.slots[x.home(keys[i])].node
		}
		for i, name := range names[:n] {
			if nodes[i] = -1; held[i] != 0 {
				_, nodes[i] = x.find(keys[i], string(name))
			}
		}
		names, nodes = names[n:], nodes[n:]
	}
}

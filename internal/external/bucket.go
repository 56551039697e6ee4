package external

import (
	"errors"
	"os"
	"sync"

	"github.com/graph-condensation/cgc/internal/memory"
)

// level is a division of keys into buckets of equal ranges.
type level struct {
	first   uint64 // the smallest key
	shift   int    // bucket k starts at key first + k<<shift
	buckets []bucket
}

// newLevel divides the keys first to first + 2^width − 1 into at most `most` buckets.
func (s *Sorter) newLevel(first uint64, width, most int) *level {
	l := &level{first: first}
	last := min(first+(uint64(1)<<width-1), max(1, uint64(s.nodes)<<s.columns)-1)
	if width == 2*s.columns {
		l.shift = s.columns // buckets of complete rows
	}
	for (last-first)>>l.shift >= uint64(most) {
		l.shift++
	}
	l.buckets = make([]bucket, (last-first)>>l.shift+1)
	for k := range l.buckets {
		l.buckets[k].first, l.buckets[k].shift = first+uint64(k)<<l.shift, l.shift
	}
	return l
}

// of returns the bucket of a key.
func (l *level) of(key uint64) int { return int((key - l.first) >> l.shift) }

// bucket holds the entries with keys in [first, first + 2^shift): full blocks in a file, and the rest in memory. A
// block of n entries is n keys and then, if edges have weights, n weights.
type bucket struct {
	first uint64
	shift int

	mu     sync.Mutex
	key    []uint64
	weight []float32
	file   *os.File // nil before the first block
	blocks int64
	count  int64
}

// append adds entries to a bucket, and writes each full block to its file. It may be called concurrently.
func (s *Sorter) append(b *bucket, key []uint64, weight []float32) error {
	if len(key) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count += int64(len(key))
	if b.key == nil {
		b.key = make([]uint64, 0, s.plan.block)
		if s.weighted {
			b.weight = make([]float32, 0, s.plan.block)
		}
	}
	for len(key) > 0 {
		n := min(len(key), s.plan.block-len(b.key))
		b.key, key = append(b.key, key[:n]...), key[n:]
		if s.weighted {
			b.weight, weight = append(b.weight, weight[:n]...), weight[n:]
		}
		if len(b.key) == s.plan.block {
			if err := s.flush(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the block in memory. Byte order does not matter: only this process reads its files.
func (s *Sorter) flush(b *bucket) (err error) {
	if b.file == nil {
		if b.file, err = s.create("bucket"); err != nil {
			return err
		}
	}
	at := b.blocks * s.blockBytes()
	_, err = b.file.WriteAt(memory.Bytes(b.key), at)
	if err == nil && s.weighted {
		_, err = b.file.WriteAt(memory.Bytes(b.weight), at+8*int64(s.plan.block))
	}
	b.blocks++
	b.key, b.weight = b.key[:0], b.weight[:0]
	return err
}

func (s *Sorter) blockBytes() int64 {
	if s.weighted {
		return 12 * int64(s.plan.block)
	}
	return 8 * int64(s.plan.block)
}

// blocks calls use for all entries of a bucket, block by block, in the order in which they were added. Blocks are valid
// until use returns.
func (s *Sorter) blocks(b *bucket, use func(key []uint64, weight []float32) error) error {
	if b.blocks > 0 {
		key, weight := make([]uint64, s.plan.block), []float32(nil)
		if s.weighted {
			weight = make([]float32, s.plan.block)
		}
		for k := range b.blocks {
			at := k * s.blockBytes()
			if _, err := b.file.ReadAt(memory.Bytes(key), at); err != nil {
				return err
			}
			if s.weighted {
				if _, err := b.file.ReadAt(memory.Bytes(weight), at+8*int64(s.plan.block)); err != nil {
					return err
				}
			}
			if err := use(key, weight); err != nil {
				return err
			}
		}
	}
	return use(b.key, b.weight)
}

// reset empties a bucket and removes its file.
func (b *bucket) reset() {
	if b.file != nil {
		_ = remove(b.file) // the folder is removed at the end
	}
	b.file, b.blocks, b.count, b.key, b.weight = nil, 0, 0, nil, nil
}

func remove(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }

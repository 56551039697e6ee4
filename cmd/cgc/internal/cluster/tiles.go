package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/radix"
	"github.com/graph-condensation/cgc/mat"
)

// sumBytes is the approximate number of bytes of sums in one frame.
const sumBytes = 1 << 20

// tile contains the entries of A from one block of columns to one block of rows. The upper 32 bits of a key are the
// row, divided by the number of blocks. The lower 32 bits are the position of the column in its block.
type tile struct {
	keys    []uint64
	weights []float32
}

// addEntries reads an EntryFrame.
func (b *block) addEntries(p *payload) error {
	l, err := p.lists()
	if err != nil {
		return err
	}
	weighted := l.weights != nil
	if b.weighted == nil {
		b.weighted = &weighted
	} else if *b.weighted != weighted {
		return errors.New("some entries have weights and others have none")
	}
	blocks := int32(b.task.Blocks)
	k := 0
	for i, column := range l.nodes {
		c, err := b.place(column)
		if err != nil {
			return err
		}
		for end := k + int(l.lengths[i]); k < end; k++ {
			row := l.neighbours[k]
			if row < 0 || int(row) >= b.task.Nodes {
				return fmt.Errorf("entry (%d, %d), must be rows 0 to %d", row, column, b.task.Nodes-1)
			}
			t := &b.tiles[row%blocks]
			t.keys = append(t.keys, uint64(row/blocks)<<32|uint64(c))
			if weighted {
				t.weights = append(t.weights, l.weights[k])
			}
		}
	}
	return nil
}

// addSelves adds the diagonal entries of P to the block's own tile.
func (b *block) addSelves() {
	t := &b.tiles[b.task.Block]
	weighted := b.operator.Self != 1 || b.weighted != nil && *b.weighted
	if weighted {
		for q := range b.tiles {
			for other := &b.tiles[q]; len(other.weights) < len(other.keys); {
				other.weights = append(other.weights, 1)
			}
		}
	}
	for i, v := range b.numbers {
		if int(b.hops[i]) >= b.task.Hops-b.task.Step {
			continue
		}
		t.keys = append(t.keys, uint64(v/int32(b.task.Blocks))<<32|uint64(i))
		if weighted {
			t.weights = append(t.weights, b.operator.Self)
		}
	}
}

// send writes the input of the next step: the nodes and the rows of the training nodes to this block, and sums to all
// blocks.
func (b *block) send(ctx context.Context, w io.Writer) error {
	s := &sender{w: w}
	if err := b.sendNodes(s); err != nil {
		return err
	}
	if right := b.operator.Right; right != nil {
		parallel.For(b.h.Rows, 256, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := b.h.Row(i)
				for j := range row {
					row[j] *= right[i]
				}
			}
		})
	}
	b.addSelves()
	tall := bits.Len(uint(b.task.Nodes / b.task.Blocks))
	wide := bits.Len(uint(b.h.Rows))
	parallel.For(len(b.tiles), 1, func(lo, hi int) {
		for _, t := range b.tiles[lo:hi] {
			radix.Sort(t.keys, t.weights, radix.Bits{Low: 0, Width: wide}, radix.Bits{Low: 32, Width: tall})
		}
	})
	for q := range b.tiles {
		if err := b.sendSums(ctx, s, q); err != nil {
			return err
		}
		b.tiles[q] = tile{}
	}
	return nil
}

// sendNodes writes the nodes within K−Step−1 hops, and the rows of the training nodes.
func (b *block) sendNodes(s *sender) error {
	limit := int32(b.task.Hops - b.task.Step - 1)
	width := b.h.Cols
	var chosen []int32
	for i, far := range b.hops {
		if far <= limit {
			chosen = append(chosen, int32(i))
		}
	}
	step := sumBytes/(4*width+20) + 1
	xs := new(mat.Dense)
	for some := range slices.Chunk(chosen, step) {
		if b.beta > 0 {
			b.xs.Gather(xs, some)
		}
		err := s.send(NodeFrame, b.task.Block, uint32(len(some)), permuted(b.numbers, some), permuted(b.hops, some),
			permuted(b.degrees, some), permuted(b.class, some), xs.Data)
		if err != nil {
			return err
		}
	}
	numbers := permuted(b.numbers, b.train)
	for l, h := range b.past {
		for lo := 0; lo < h.Rows; lo += step {
			hi := min(lo+step, h.Rows)
			err := s.send(HopFrame, b.task.Block, uint32(l), uint32(hi-lo), numbers[lo:hi], h.Data[lo*width:hi*width])
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sendSums writes Σ_j A_ij·Right_j·H_j over the nodes j of this block, for each row i of block q that has an entry.
func (b *block) sendSums(ctx context.Context, s *sender, q int) error {
	t, width := b.tiles[q], b.h.Cols
	limit := max(1, sumBytes/(4*width+4))
	sums := new(mat.Dense)
	for first := 0; first < len(t.keys); {
		if err := ctx.Err(); err != nil {
			return err
		}
		a := &mat.CSR{Cols: b.h.Rows, Indptr: []int64{0}}
		var numbers []int32
		end := first
		for ; end < len(t.keys); end++ {
			key := t.keys[end]
			if end > first && key == t.keys[end-1] {
				return errors.New("an entry came twice")
			}
			if end == first || key>>32 != t.keys[end-1]>>32 {
				if len(numbers) == limit {
					break
				}
				numbers = append(numbers, int32(key>>32)*int32(b.task.Blocks)+int32(q))
				a.Indptr = append(a.Indptr, 0)
			}
			a.Indices = append(a.Indices, int32(uint32(key)))
			a.Indptr[len(numbers)] = int64(len(a.Indices))
		}
		if a.Rows = len(numbers); t.weights != nil {
			a.Data = t.weights[first:end]
		}
		mat.MulSparse(sums, a, b.h)
		if err := s.send(SumFrame, q, uint32(a.Rows), numbers, sums.Data); err != nil {
			return err
		}
		first = end
	}
	return nil
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// rows runs the task "rows": one step of the propagation for the nodes of one block. Step l computes H⁽ˡ⁾ of these
// nodes from partial sums of step l−1. Then it sends the partial sums of the next hop, one for each row of each block
// that needs it. Step 0 starts from features, and the last step writes the embeddings of the block's training nodes.
func rows(ctx context.Context, t Task, in io.Reader, frames io.Writer, out string) error {
	b, err := readBlock(ctx, t, in)
	if err != nil {
		return err
	}
	ctx, stop := watched(ctx, in)
	defer stop()
	switch {
	case t.Step < t.Hops:
		err = b.send(ctx, frames)
	case len(b.train) > 0: // a block without training nodes writes no file
		f := b.file(t)
		f.X, f.H = b.past[0], b.past[1:]
		err = f.Write(ctx, out)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// block contains the nodes of a block that step Step needs: those within K−Step hops of the training nodes.
type block struct {
	*part
	task     Task
	hops     []int32 // distance of each node to the training nodes
	operator graph.Operator
	beta     float32
	rank     *rank        // finds nodes by number / Blocks
	h        *mat.Dense   // H⁽ˡ⁾; sums while frames arrive
	past     []*mat.Dense // H⁽⁰⁾ (not standardised) … H⁽ˡ⁾ of the training nodes
	weighted *bool        // whether entries have weights; nil before the first entry
	tiles    []tile       // the entries of A that lead to each block
	xs       *mat.Dense   // standardised X, if the rule uses it in each hop
}

// readBlock first reads nodes and features, then names, rows of training nodes, sums and entries.
func readBlock(ctx context.Context, t Task, in io.Reader) (*block, error) {
	// β does not depend on the nodes.
	none := propagate.Input{Adj: &mat.CSR{Indptr: make([]int64, 1)}}
	_, beta := none.Step(t.Propagation())
	width := t.Hi - t.Lo
	nodes := gathered{width: width, sized: t.NormalizeFeatures && t.Step == 0}
	if t.Step > 0 && beta == 0 {
		nodes.width = 0
	}
	var b *block
	var last Kind
	named := map[int32]string{}
	settled := func() (err error) {
		if b == nil {
			b, err = settle(ctx, &nodes, t, beta)
		}
		return err
	}
	err := frames(in, func(p *payload) error {
		if p.kind == NodeFrame || p.kind == FeatureFrame {
			switch {
			case b != nil:
				return fmt.Errorf("a node comes after a frame of kind %q", byte(last))
			case p.kind == NodeFrame:
				return nodes.add(p)
			}
			return nodes.addFeatures(p)
		}
		last = p.kind
		if err := settled(); err != nil {
			return err
		}
		switch p.kind {
		case NameFrame:
			return addNames(named, p)
		case HopFrame:
			return b.addPast(p)
		case SumFrame:
			return b.addSums(p)
		case EntryFrame:
			return b.addEntries(p)
		}
		return fmt.Errorf("a frame of kind %q, expected nodes, names, rows, sums or entries", byte(p.kind))
	})
	if err == nil {
		err = settled()
	}
	if err != nil {
		return nil, err
	}
	b.name(named)
	b.finish()
	return b, nil
}

// settle sorts the nodes and allocates memory for the later frames.
func settle(ctx context.Context, nodes *gathered, t Task, beta float32) (*block, error) {
	p, hops, err := nodes.sort(t)
	if err != nil {
		return nil, err
	}
	n, width := len(hops), t.Hi-t.Lo
	quotients := make([]int32, n)
	for i, v := range p.numbers {
		if int(v)%t.Blocks != t.Block {
			return nil, fmt.Errorf("node %d is of block %d, expected %d", v, int(v)%t.Blocks, t.Block)
		}
		if int(hops[i]) > t.Hops-t.Step || hops[i] > 0 == (p.class[i] >= 0) {
			return nil, fmt.Errorf("node %d of class %d is %d hops from training nodes, must be at most %d, and 0 "+
				"only for a training node", v, p.class[i], hops[i], t.Hops-t.Step)
		}
		quotients[i] = v / int32(t.Blocks)
	}
	b := &block{part: p, task: t, hops: hops, beta: beta, tiles: make([]tile, t.Blocks)}
	b.rank = newRank(quotients, t.Nodes/t.Blocks+1)
	in := propagate.Input{Adj: &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}, Degrees: p.degrees}
	b.operator, _ = in.Step(t.Propagation())
	rows := float64(n) + float64(len(p.train))*float64(t.Step+1)
	if err := t.fits("hops", 4*float64(width)*rows); err != nil {
		return nil, err
	}
	if t.Step > 0 {
		for range t.Step {
			b.past = append(b.past, mat.NewDense(len(p.train), width))
		}
		b.h = mat.NewDense(n, width)
		if beta > 0 {
			b.xs = new(mat.Dense)
			err = mat.Read(b.xs, p.x, memory.Range(0, n), 0, width)
		}
		p.x = nil
		return b, err
	}
	b.h = new(mat.Dense)
	if err := mat.Read(b.h, p.x, memory.Range(0, n), 0, width); err != nil {
		return nil, err
	}
	b.past = append(b.past, b.trained())
	if t.NormalizeFeatures {
		if err := mat.Read(b.h, p.features(), memory.Range(0, n), 0, width); err != nil {
			return nil, err
		}
	}
	p.x = nil
	if t.Mean != nil {
		scaled, err := (&graph.Graph{X: b.h, Adj: in.Adj}).Scaled(ctx, graph.Scaling{Mean: t.Mean, Std: t.Std})
		if err != nil {
			return nil, err
		}
		b.h = scaled.X.(*mat.Dense)
	}
	if beta > 0 {
		b.xs = b.h.Clone()
	}
	return b, nil
}

// trained returns the rows of h for the training nodes.
func (b *block) trained() *mat.Dense {
	rows := new(mat.Dense)
	b.h.Gather(rows, b.train)
	return rows
}

// place returns the position of a node in the block, or an error if the node is missing.
func (b *block) place(v int32) (int, error) {
	if v >= 0 && int(v)%b.task.Blocks == b.task.Block {
		if i := b.rank.of(v / int32(b.task.Blocks)); i >= 0 {
			return int(i), nil
		}
	}
	return 0, fmt.Errorf("node %d is missing, or is not in block %d", v, b.task.Block)
}

// each reads rows of nodes, and calls use with the number and the position of each node, and its row.
func (b *block) each(p *payload, use func(v int32, at int, row []float32) error) error {
	n, width := p.count(), b.h.Cols
	numbers, values := p.int32s(n), p.float32s(n*width)
	if err := p.end(); err != nil {
		return err
	}
	for i, v := range numbers {
		at, err := b.place(v)
		if err == nil {
			err = use(v, at, values[i*width:(i+1)*width])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addPast reads a HopFrame.
func (b *block) addPast(p *payload) error {
	l := p.count()
	if l >= b.task.Step {
		return fmt.Errorf("rows of hop %d come in step %d, must be earlier ones", l, b.task.Step)
	}
	return b.each(p, func(v int32, at int, row []float32) error {
		i, is := slices.BinarySearch(b.train, int32(at))
		if !is {
			return fmt.Errorf("a row of hop %d is of node %d, must be training nodes", l, v)
		}
		copy(b.past[l].Row(i), row)
		return nil
	})
}

// addSums reads a SumFrame.
func (b *block) addSums(p *payload) error {
	return b.each(p, func(_ int32, at int, row []float32) error {
		sum := b.h.Row(at)
		for j, s := range row {
			sum[j] += s
		}
		return nil
	})
}

// finish computes H⁽ˡ⁾ from the sums: (1−β)·Left·sum + β·X.
func (b *block) finish() {
	if b.task.Step == 0 {
		return
	}
	parallel.For(b.h.Rows, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, scale := b.h.Row(i), 1-b.beta
			if b.operator.Left != nil {
				scale *= b.operator.Left[i]
			}
			for j := range row {
				row[j] *= scale
			}
			if b.beta > 0 {
				for j, x := range b.xs.Row(i) {
					row[j] += b.beta * x
				}
			}
		}
	})
	b.past = append(b.past, b.trained())
}

// fit runs the task "scaling": it sends the mean and the deviation of each column over the training nodes. Its input
// has no other nodes.
func fit(_ context.Context, t Task, in io.Reader, frames io.Writer, _ string) error {
	p, err := readPart(t, in)
	if err != nil {
		return err
	}
	if len(p.train) != len(p.numbers) || len(p.train) == 0 {
		return errors.New("a scaling is over training nodes, at least 1")
	}
	scaling, err := graph.FitScaling(p.features(), p.train)
	if err != nil {
		return err
	}
	s := sender{w: frames}
	return s.send(ScalingFrame, 0, scaling.Mean, scaling.Std)
}

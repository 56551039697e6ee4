package numpy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// edgeBlock is the number of edges in a block.
const edgeBlock = 1 << 17

// Edges reads the array of that name, 2 × edges, and calls add with its blocks, in order. It reads sources and targets
// concurrently. add must not retain a block. Errors from add are returned unchanged.
func Edges(ctx context.Context, z Source, name string, add func(graph.Edges) error) error {
	from, closeFrom, err := z.Reader(name)
	if err != nil {
		return err
	}
	defer closeFrom.Close()
	if err := CheckEdges(from); err != nil {
		return z.Fail(name, err)
	}
	n := from.Shape[1]
	sources, err := NewDecoder[int32](from)
	if err != nil {
		return z.Fail(name, err)
	}
	e := graph.Edges{From: make([]int32, edgeBlock), To: make([]int32, edgeBlock)}
	read, last := pairs(sources), from
	if !from.Fortran {
		to, closeTo, err := z.Reader(name)
		if err != nil {
			return err
		}
		defer closeTo.Close()
		targets, err := NewDecoder[int32](to)
		if err == nil {
			err = targets.Skip(n)
		}
		if err != nil {
			return z.Fail(name, err)
		}
		last = to
		read = func(e graph.Edges) error { // concurrently, because each may have to be decompressed
			var group parallel.Group
			var wrong error
			group.Go(func() { wrong = sources.Read(e.From) })
			err := targets.Read(e.To)
			group.Wait()
			return cmp.Or(wrong, err)
		}
	}
	for done := 0; done < n; done += e.Len() {
		k := min(edgeBlock, n-done)
		e.From, e.To = e.From[:k], e.To[:k]
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := read(e); err != nil {
			return z.Fail(name, err)
		}
		if err := add(e); err != nil {
			return err
		}
	}
	return end(z, name, last)
}

// CheckEdges returns an error unless the array is 2 × edges.
func CheckEdges(a *Array) error {
	if len(a.Shape) != 2 || a.Shape[0] != 2 {
		return fmt.Errorf("shape %v, must be 2 × edges", a.Shape)
	}
	return nil
}

// pairs reads edges whose source and target are adjacent, as in Fortran order.
func pairs(d *Decoder[int32]) func(e graph.Edges) error {
	both := make([]int32, 2*edgeBlock)
	return func(e graph.Edges) error {
		both = both[:2*e.Len()]
		if err := d.Read(both); err != nil {
			return err
		}
		for i := range e.From {
			e.From[i], e.To[i] = both[2*i], both[2*i+1]
		}
		return nil
	}
}

// rowBytes is the size in bytes of a block of rows as float32.
const rowBytes = 1 << 20

// ErrTurned is the error for an array whose rows cannot be read one after the other.
var ErrTurned = errors.New("it is in Fortran order and compressed, so its rows cannot be read one after the other: " +
	"save it in C order (numpy.ascontiguousarray), or uncompressed (numpy.savez)")

// CheckRows returns the number of columns of an array that is n × columns, where a vector counts as one column. It
// returns an error if the array does not have n rows, or if its rows cannot be read one after the other.
func CheckRows(a *Array, n int) (columns int, err error) {
	if len(a.Shape) == 1 {
		a.Shape = append(a.Shape, 1)
	}
	if len(a.Shape) != 2 || a.Shape[0] != n || a.Shape[1] < 1 {
		return 0, fmt.Errorf("shape %v, expected %d rows, one for each node, and features", a.Shape, n)
	}
	if a.Fortran && a.Shape[1] > 1 && a.At == nil {
		return 0, ErrTurned
	}
	return a.Shape[1], nil
}

// Rows reads the array of that name, rows × columns, and calls put with blocks of its rows, as format.Stream.Rows does,
// from several goroutines. Errors from put are returned unchanged.
func Rows(ctx context.Context, z Source, name string, put func(first int, block *mat.Dense) error) error {
	a, closer, err := z.Reader(name)
	if err != nil {
		return err
	}
	defer closer.Close()
	n := a.Shape[0]
	columns, err := CheckRows(a, n)
	if err != nil {
		return z.Fail(name, err)
	}
	d, err := NewDecoder[float32](a)
	if err != nil {
		return z.Fail(name, err)
	}
	height := min(max(1, rowBytes/4/columns), max(1, n))
	read := func(_ int, block *mat.Dense) error { return d.Read(block.Data) }
	turned := a.Fortran && columns > 1
	if turned {
		height = min(16*height, max(1, n)) // to read long runs of each column
		read = byColumns(a)
	}
	type work struct {
		first int
		block *mat.Dense
	}
	var memory sync.Pool
	first := 0
	next := func() (w work, more bool, err error) {
		if first >= n {
			return w, false, nil
		}
		block, _ := memory.Get().(*mat.Dense)
		if block == nil {
			block = mat.NewDense(height, columns)
		}
		block.Reshape(min(height, n-first), columns)
		w = work{first, block}
		if err := read(first, block); err != nil {
			return w, false, z.Fail(name, err)
		}
		first += height
		return w, true, nil
	}
	err = parallel.Each(ctx, next, func(_ int, w work) error {
		defer memory.Put(w.block)
		return put(w.first, w.block)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || turned {
		return err
	}
	return end(z, name, a)
}

// end reads to the end of the member, where its checksum is verified.
func end(z Source, name string, a *Array) error {
	if _, err := io.Copy(io.Discard, a.R); err != nil {
		return z.Fail(name, err)
	}
	return nil
}

// byColumns reads blocks of rows of an array in column-major order.
func byColumns(a *Array) func(first int, block *mat.Dense) error {
	var columns []float32
	return func(first int, block *mat.Dense) error {
		if columns == nil {
			columns = make([]float32, len(block.Data))
		}
		columns = columns[:len(block.Data)]
		size := int64(a.Size)
		for j := range block.Cols {
			at := (int64(j)*int64(a.Shape[0]) + int64(first)) * size
			part := *a
			part.Shape = []int{block.Rows}
			part.R = io.NewSectionReader(a.At, at, int64(block.Rows)*size)
			d, err := NewDecoder[float32](&part)
			if err == nil {
				err = d.Read(columns[j*block.Rows:][:block.Rows])
			}
			if err != nil {
				return err
			}
		}
		transpose(block.Data, columns, block.Rows, block.Cols, 0)
		return nil
	}
}

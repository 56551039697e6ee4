package mat

import (
	"context"
	"fmt"
	"sort"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/product"
)

// Matrix is a matrix that can be read in blocks. *Dense and *CSR implement it, and have faster code paths. A matrix of
// another type may keep its values in a file, or in half precision.
type Matrix interface {
	// Dims returns the numbers of rows and columns.
	Dims() (rows, cols int)
	// ReadBlock sets dst to columns lo to hi−1 of the given rows, in the given order, repeats allowed: len(rows)×(hi−lo).
	// It calls dst.Reshape and fills dst, and does not retain the memory of dst. Indices are in range. It is safe for
	// concurrent use. After an error, the contents of dst are undefined.
	ReadBlock(dst *Dense, rows []int32, lo, hi int) error
}

// Dense is a rows×cols matrix of float32, row-major: element (i,j) is Data[i*Cols+j]. The zero value is 0×0.
type Dense struct {
	Rows, Cols int
	Data       []float32
}

// NewDense returns a rows×cols matrix of zeros.
func NewDense(rows, cols int) *Dense {
	m := new(Dense)
	m.Reshape(rows, cols)
	return m
}

// Dims returns the numbers of rows and columns.
func (m *Dense) Dims() (rows, cols int) { return m.Rows, m.Cols }

// ReadBlock sets dst to columns lo to hi−1 of the given rows.
func (m *Dense) ReadBlock(dst *Dense, rows []int32, lo, hi int) error {
	dst.Reshape(len(rows), hi-lo)
	for r, i := range rows {
		copy(dst.Row(r), m.Row(int(i))[lo:hi])
	}
	return nil
}

// Row returns row i, a slice of m's own memory.
func (m *Dense) Row(i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// Reshape makes m rows×cols. It reuses the memory of m if that is large enough. The contents are then undefined.
func (m *Dense) Reshape(rows, cols int) { (*product.Dense)(m).Reshape(rows, cols) }

// Clone returns a copy that shares no memory with m.
func (m *Dense) Clone() *Dense {
	return &Dense{Rows: m.Rows, Cols: m.Cols, Data: memory.Clone(m.Data)}
}

// Columns returns columns lo to hi−1 of m: m itself if these are all columns, else a new matrix.
func (m *Dense) Columns(lo, hi int) *Dense {
	if lo < 0 || lo > hi || hi > m.Cols {
		panic(fmt.Sprintf("mat: columns %d to %d of %d", lo, hi, m.Cols))
	}
	if hi-lo == m.Cols {
		return m
	}
	c := NewDense(m.Rows, hi-lo)
	for i := range m.Rows {
		copy(c.Row(i), m.Row(i)[lo:hi])
	}
	return c
}

// T returns the transpose as a new matrix.
func (m *Dense) T() *Dense {
	t := NewDense(m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			t.Data[j*m.Rows+i] = v
		}
	}
	return t
}

// rowChunk is the number of rows that one task copies or checks, large enough to outweigh the cost of starting a task.
const rowChunk = 256

// Gather sets dst to the given rows of m, in the given order, repeats allowed: row r of dst is row rows[r] of m.
func (m *Dense) Gather(dst *Dense, rows []int32) {
	dst.Reshape(len(rows), m.Cols)
	rowCopies.For(len(rows), rowChunk, rowCopy{*dst, m, rows}, func(c *rowCopy, lo, hi int) {
		x := c.x.(*Dense)
		for r := lo; r < hi; r++ {
			copy(c.dst.Row(r), x.Row(int(c.rows[r])))
		}
	})
}

// Rows sets dst to the given rows of x, in the given order, repeats allowed: row r of dst is row rows[r] of x. A sparse
// x is converted to dense rows. Errors of x.ReadBlock are returned; *Dense and *CSR have none.
func Rows(dst *Dense, x Matrix, rows []int32) error {
	switch x := x.(type) {
	case *Dense:
		x.Gather(dst, rows)
		return nil
	case *CSR:
		dst.Reshape(len(rows), x.Cols)
		rowCopies.For(len(rows), rowChunk, rowCopy{*dst, x, rows}, func(c *rowCopy, lo, hi int) {
			x := c.x.(*CSR)
			for r := lo; r < hi; r++ {
				x.copyRow(c.dst.Row(r), int(c.rows[r]))
			}
		})
		return nil
	}
	_, cols := x.Dims()
	if rows == nil {
		rows = []int32{} // nil would mean all
	}
	dst.Reshape(len(rows), cols)
	return readChunks(context.Background(), x, rows, rowChunk, 0, cols, dst.set)
}

// rowCopy holds the arguments of Gather or Rows.
type rowCopy struct {
	dst  Dense // a copy of the header
	x    Matrix
	rows []int32
}

var rowCopies parallel.Loop[rowCopy]

// Read calls x.ReadBlock(dst, rows, lo, hi). It is an error if x gives dst another shape.
func Read(dst *Dense, x Matrix, rows []int32, lo, hi int) error {
	if err := x.ReadBlock(dst, rows, lo, hi); err != nil {
		return err
	}
	if dst.Rows != len(rows) || dst.Cols != hi-lo || len(dst.Data) != dst.Rows*dst.Cols {
		return fmt.Errorf("%T delivered %d×%d (%d numbers) for a block of %d×%d",
			x, dst.Rows, dst.Cols, len(dst.Data), len(rows), hi-lo)
	}
	return nil
}

// FirstNotFinite returns the position of the first NaN or infinity of x in row-major order, and whether there is one.
// The error comes from x.ReadBlock or from ctx. *Dense and *CSR return no error of their own.
func FirstNotFinite(ctx context.Context, x Matrix) (row, col int, found bool, err error) {
	n, cols := x.Dims()
	switch x := x.(type) {
	case *Dense:
		if at := firstNotFinite(ctx, x.Data); at >= 0 {
			return at / cols, at % cols, true, nil
		}
		return 0, 0, false, ctx.Err()
	case *CSR:
		if at := firstNotFinite(ctx, x.Data); at >= 0 {
			row := sort.Search(n, func(i int) bool { return x.Indptr[i+1] > int64(at) })
			return row, int(x.Indices[at]), true, nil
		}
		return 0, 0, false, ctx.Err()
	}
	first := make([]int, (n+rowChunk-1)/rowChunk)         // 1 + the position of the first such value in each chunk
	if p, ok := x.(interface{ Unchecked() Matrix }); ok { // reading x would stop at such a value
		x = p.Unchecked()
	}
	err = readChunks(ctx, x, nil, rowChunk, 0, cols, func(lo int, block *Dense) {
		first[lo/rowChunk] = 1 + kernel.FirstNotFinite(block.Data)
	})
	if err != nil {
		return 0, 0, false, err
	}
	for chunk, at := range first {
		if at > 0 {
			return chunk*rowChunk + (at-1)/cols, (at - 1) % cols, true, nil
		}
	}
	return 0, 0, false, nil
}

// firstNotFinite returns the index of the first value of data that is not finite, or −1 if all are finite or ctx is
// done.
func firstNotFinite(ctx context.Context, data []float32) int {
	const chunk = 1 << 16
	first := make([]int, (len(data)+chunk-1)/chunk)
	ended := parallel.ForContext(ctx, len(data), chunk, func(lo, hi int) {
		if first[lo/chunk] = kernel.FirstNotFinite(data[lo:hi]); first[lo/chunk] >= 0 {
			first[lo/chunk] += lo
		}
	})
	if ended != nil {
		return -1
	}
	for _, at := range first {
		if at >= 0 {
			return at
		}
	}
	return -1
}

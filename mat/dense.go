package mat

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// Matrix is a matrix that can be read in blocks. *Dense and *CSR are, and have faster ways of their own. A matrix of another
// type may keep its numbers in a file, or in half precision.
type Matrix interface {
	// Dims returns the numbers of rows and columns.
	Dims() (rows, cols int)
	// ReadBlock sets dst to columns lo to hi−1 of the given rows, in the given order, repeats allowed: len(rows)×(hi−lo).
	// Indices are in range. It is safe for concurrent use. An error means that dst holds nothing of use.
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

// Reshape makes m rows×cols, keeping its memory where that is large enough. The contents are then arbitrary.
func (m *Dense) Reshape(rows, cols int) {
	if n := rows * cols; cap(m.Data) < n {
		m.Data = memory.Make[float32](n)
	} else {
		m.Data = m.Data[:n]
	}
	m.Rows, m.Cols = rows, cols
}

// Clone returns a copy that shares no memory with m.
func (m *Dense) Clone() *Dense {
	return &Dense{Rows: m.Rows, Cols: m.Cols, Data: append([]float32(nil), m.Data...)}
}

// Columns returns columns lo to hi−1 of m: m itself if these are all of it, else a new matrix.
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

// rowChunk is the number of rows that one task copies or checks: large against the cost of starting a task.
const rowChunk = 256

// Rounded returns values, row-major with cols columns, as a matrix of float32.
func Rounded(values []float64, cols int) *Dense {
	m := NewDense(len(values)/cols, cols)
	for i, v := range values {
		m.Data[i] = float32(v)
	}
	return m
}

// Rows sets dst to the given rows of x, in the given order, repeats allowed: row r of dst is row rows[r] of x.
// A sparse x is written out dense.
func Rows(dst *Dense, x Matrix, rows []int32) {
	_, cols := x.Dims()
	dst.Reshape(len(rows), cols)
	rowCopies.For(len(rows), rowChunk, rowCopy{*dst, x, rows}, func(c *rowCopy, lo, hi int) {
		for r := lo; r < hi; r++ {
			switch x := c.x.(type) {
			case *Dense:
				copy(c.dst.Row(r), x.Row(int(c.rows[r])))
			case *CSR:
				x.copyRow(c.dst.Row(r), int(c.rows[r]))
			default:
				panic(fmt.Sprintf("mat: rows of a %T", x))
			}
		}
	})
}

// rowCopy is a call of Rows.
type rowCopy struct {
	dst  Dense // a copy of the header
	x    Matrix
	rows []int32
}

var rowCopies parallel.Loop[rowCopy]

// FirstNotFinite returns the position of the first NaN or infinity of x in row-major order, and whether there is one.
func FirstNotFinite(x Matrix) (row, col int, found bool) {
	data := values(x)
	at := len(data)
	const chunk = 1 << 16
	first := make([]int, (len(data)+chunk-1)/chunk)
	parallel.For(len(data), chunk, func(lo, hi int) {
		first[lo/chunk] = -1
		for i, v := range data[lo:hi] {
			if math.Float32bits(v)&0x7f800000 == 0x7f800000 { // all ones in the exponent: NaN or infinity
				first[lo/chunk] = lo + i
				break
			}
		}
	})
	for _, f := range first {
		if f >= 0 {
			at = f
			break
		}
	}
	if at == len(data) {
		return 0, 0, false
	}
	if s, ok := x.(*CSR); ok {
		return s.rowOf(at), int(s.Indices[at]), true
	}
	_, cols := x.Dims()
	return at / cols, at % cols, true
}

// values returns the stored numbers of x.
func values(x Matrix) []float32 {
	switch x := x.(type) {
	case *Dense:
		return x.Data
	case *CSR:
		return x.Data
	}
	panic(fmt.Sprintf("mat: values of a %T", x))
}

// Package paneled stores dense matrices in panels of columns, in 32 or 16 bits.
package paneled

import (
	"context"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Matrix is a dense matrix that is stored in panels of adjacent columns. Panel p holds columns p·Width to
// (p+1)·Width−1; the last one may be narrower. Each panel is row-major, and all panels have the same Storage:
//
//	element (i, j) is element i·w + j mod Width of panel j/Width, where w is the number of columns of that panel.
//
// To read all rows of some columns, it is enough to read their panels once, in order. A matrix of one panel is
// row-major.
type Matrix struct {
	rows, cols, width int
	storage           mat.Storage
	floats            [][]float32 // mat.F32: the panels
	halves            [][]uint16  // mat.F16, mat.BF16: the panels
}

var _ mat.Paneled = (*Matrix)(nil)

// New returns a matrix of zeros in panels of width columns. A width of 0 or above cols means one panel.
func New(rows, cols, width int, s mat.Storage) (*Matrix, error) {
	p := &Matrix{rows: rows, cols: cols, width: Width(cols, width), storage: s}
	if err := p.checkShape(); err != nil {
		return nil, err
	}
	for k := range p.Count() {
		if s == mat.F32 {
			p.floats = append(p.floats, memory.Make[float32](rows*p.columns(k)))
		} else {
			p.halves = append(p.halves, memory.Make[uint16](rows*p.columns(k)))
		}
	}
	return p, nil
}

// Width returns the panel width of a matrix of cols columns if width is requested: at most cols, and cols for 0.
func Width(cols, width int) int {
	if width <= 0 || width > cols {
		return cols
	}
	return width
}

// OfFloats returns the matrix of the given panels, without copying them. An error is about the shape, or names the
// first panel of a wrong length.
func OfFloats(rows, cols, width int, panels [][]float32) (*Matrix, error) {
	p := &Matrix{rows: rows, cols: cols, width: width, storage: mat.F32, floats: panels}
	return p, p.checkLengths(len(panels), func(k int) int { return len(panels[k]) })
}

// OfHalves is OfFloats for mat.F16 and mat.BF16.
func OfHalves(rows, cols, width int, s mat.Storage, panels [][]uint16) (*Matrix, error) {
	if s == mat.F32 {
		return nil, fmt.Errorf("panels of 16 bits with the storage %s", s)
	}
	p := &Matrix{rows: rows, cols: cols, width: width, storage: s, halves: panels}
	return p, p.checkLengths(len(panels), func(k int) int { return len(panels[k]) })
}

func (p *Matrix) checkShape() error {
	if !slices.Contains(mat.Storages(), p.storage) {
		return fmt.Errorf("storage %q, must be one of %q", string(p.storage), mat.Storages())
	}
	if p.rows < 0 || p.cols < 1 || p.width < 1 || p.width > p.cols {
		return fmt.Errorf("%d×%d in panels of %d columns, must be at least 1 column and panels of 1 to %d",
			p.rows, p.cols, p.width, max(1, p.cols))
	}
	return nil
}

func (p *Matrix) checkLengths(count int, length func(k int) int) error {
	if err := p.checkShape(); err != nil {
		return err
	}
	if count != p.Count() {
		return fmt.Errorf("%d panels for %d columns, expected %d of %d columns", count, p.cols, p.Count(), p.width)
	}
	for k := range count {
		if length(k) != p.rows*p.columns(k) {
			return fmt.Errorf("panel %d holds %d numbers, expected %d×%d", k, length(k), p.rows, p.columns(k))
		}
	}
	return nil
}

// Dims returns the numbers of rows and columns.
func (p *Matrix) Dims() (rows, cols int) { return p.rows, p.cols }

// PanelWidth returns the number of columns of a panel.
func (p *Matrix) PanelWidth() int { return p.width }

// Storage returns the number format of the elements.
func (p *Matrix) Storage() mat.Storage { return p.storage }

// Count returns the number of panels.
func (p *Matrix) Count() int { return (p.cols + p.width - 1) / p.width }

// Floats returns panel k, the matrix's own memory. It is nil unless the storage is mat.F32.
func (p *Matrix) Floats(k int) []float32 {
	if p.floats == nil {
		return nil
	}
	return p.floats[k]
}

// Halves returns panel k, the matrix's own memory. It is nil if the storage is mat.F32.
func (p *Matrix) Halves(k int) []uint16 {
	if p.halves == nil {
		return nil
	}
	return p.halves[k]
}

// columns returns the number of columns of panel k.
func (p *Matrix) columns(k int) int { return min(p.width, p.cols-k*p.width) }

// ReadBlock implements mat.Matrix. Consecutive rows are read together. The error names the first non-finite value of
// the block, in row-major order. Panels therefore need not be read in advance to validate them.
func (p *Matrix) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	p.read(dst, rows, lo, hi)
	at := kernel.FirstNotFinite(dst.Data)
	if at < 0 {
		return nil
	}
	return &mat.CannotKeep{Row: int(rows[at/(hi-lo)]), Col: lo + at%(hi-lo), Value: dst.Data[at], Storage: p.storage}
}

// Unchecked returns p as a matrix whose values may be infinite or NaN.
func (p *Matrix) Unchecked() mat.Matrix { return unchecked{p} }

type unchecked struct{ *Matrix }

// ReadBlock implements mat.Matrix.
func (u unchecked) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	u.read(dst, rows, lo, hi)
	return nil
}

func (p *Matrix) read(dst *mat.Dense, rows []int32, lo, hi int) {
	dst.Reshape(len(rows), hi-lo)
	for k := lo / p.width; k*p.width < hi; k++ {
		columns := p.columns(k)
		from, to := max(lo, k*p.width), min(hi, k*p.width+columns)
		whole := from == lo && to == hi && to-from == columns
		for r := 0; r < len(rows); {
			run := 1
			for whole && r+run < len(rows) && rows[r+run] == rows[r]+int32(run) {
				run++
			}
			at := int(rows[r])*columns + from - k*p.width
			length := (run-1)*columns + to - from
			p.widen(dst.Data[r*dst.Cols+from-lo:][:length], k, at)
			r += run
		}
	}
}

// widen sets dst to the values of panel k from index at on.
func (p *Matrix) widen(dst []float32, k, at int) {
	switch p.storage {
	case mat.F32:
		copy(dst, p.floats[k][at:])
	case mat.F16:
		kernel.WidenFloat16(dst, p.halves[k][at:][:len(dst)])
	default:
		kernel.WidenBFloat16(dst, p.halves[k][at:][:len(dst)])
	}
}

// SetRows sets the rows from first on to the rows of block, rounded to the storage. An error is a *mat.CannotKeep.
// Different rows may be set at the same time.
func (p *Matrix) SetRows(first int, block *mat.Dense) error {
	if block.Cols != p.cols || first < 0 || first+block.Rows > p.rows {
		panic(fmt.Sprintf("paneled: %d×%d set from row %d on in %d×%d", block.Rows, block.Cols, first, p.rows, p.cols))
	}
	for r := range block.Rows {
		row := block.Row(r)
		for k := range p.Count() {
			columns := p.columns(k)
			part, at := row[k*p.width:][:columns], (first+r)*columns
			var wrong int
			if p.storage == mat.F32 {
				wrong = kernel.FirstNotFinite(part)
				copy(p.floats[k][at:], part)
			} else {
				wrong = round(p.storage, p.halves[k][at:][:columns], part)
			}
			if wrong >= 0 {
				return &mat.CannotKeep{Row: first + r, Col: k*p.width + wrong, Value: part[wrong], Storage: p.storage}
			}
		}
	}
	return nil
}

// Copy returns a copy of x in panels of width columns. An error is a *mat.CannotKeep, or comes from New or reading x.
func Copy(x mat.Matrix, width int, s mat.Storage) (*Matrix, error) {
	rows, cols := x.Dims()
	p, err := New(rows, cols, width, s)
	if err != nil {
		return nil, err
	}
	first := 0
	for block, err := range mat.Blocks(x) {
		if err != nil {
			return nil, err
		}
		if err := p.SetRows(first, block); err != nil {
			return nil, err
		}
		first += block.Rows
	}
	return p, nil
}

// InOrder tells the system that x will be read in order, if x is a *mat.Dense or *Matrix that is mapped from a file.
// done withdraws that. A matrix of another type is ignored.
func InOrder(x mat.Matrix) (done func()) { return announce(x, memory.InOrder, memory.InOrder) }

// Sparsely is like InOrder, but says that some rows will be read, in any order.
func Sparsely(x mat.Matrix) (done func()) { return announce(x, memory.Sparsely, memory.Sparsely) }

// Fetch asks the system to read the panels with the columns lo to hi−1 into the page cache, if x is a *Matrix that is
// mapped from a file. It takes about as long as the reading, and ends early if ctx is done.
func Fetch(ctx context.Context, x mat.Matrix, lo, hi int) {
	m, is := x.(*Matrix)
	if !is {
		return
	}
	for k := lo / m.width; max(lo, k*m.width) < hi; k++ {
		memory.Fetch(ctx, m.Floats(k))
		memory.Fetch(ctx, m.Halves(k))
	}
}

func announce(x mat.Matrix, floats func([]float32) func(), halves func([]uint16) func()) (done func()) {
	var ends []func()
	switch x := x.(type) {
	case *mat.Dense:
		ends = append(ends, floats(x.Data))
	case *Matrix:
		for k := range x.Count() {
			ends = append(ends, floats(x.Floats(k)), halves(x.Halves(k)))
		}
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// round sets dst to x in the format s, mat.F16 or mat.BF16, rounded to nearest, ties to even. It returns the index of
// the first value of x that is NaN or exceeds the largest magnitude of s, and −1 if there is none. len(dst) is len(x).
func round(s mat.Storage, dst []uint16, x []float32) (wrong int) {
	if bound := s.Largest(); !kernel.Within(x, bound) {
		for i, v := range x {
			if !(v >= -bound && v <= bound) {
				return i
			}
		}
	}
	if s == mat.F16 {
		kernel.NarrowFloat16(dst, x)
	} else {
		kernel.NarrowBFloat16(dst, x)
	}
	return -1
}

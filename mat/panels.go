package mat

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Panels is a dense matrix that is stored in panels of adjacent columns. Panel p holds columns p·Width to
// (p+1)·Width−1; the last one may be narrower. Each panel is row-major, and all panels have the same Storage:
//
//	element (i, j) is element i·w + j mod Width of panel j/Width, where w is the number of columns of that panel.
//
// To read all rows of some columns, it is enough to read their panels once, in order. A matrix of one panel is
// row-major.
type Panels struct {
	rows, cols, width int
	storage           Storage
	floats            [][]float32 // F32: the panels
	halves            [][]uint16  // F16, BF16: the panels
}

var _ Paneled = (*Panels)(nil)

// Paneled is a Matrix that is read faster in blocks of whole panels.
type Paneled interface {
	Matrix
	// PanelWidth returns the number of columns of a panel, or 0 if all columns are equally fast to read. Columns
	// k·PanelWidth to (k+1)·PanelWidth−1 are stored together.
	PanelWidth() int
}

// PanelWidth returns the panel width of x, or 0 if x has no panels.
func PanelWidth(x Matrix) int {
	if p, ok := x.(Paneled); ok {
		return p.PanelWidth()
	}
	return 0
}

// NewPanels returns a matrix of zeros in panels of width columns. A width of 0 or above cols means one panel.
func NewPanels(rows, cols, width int, s Storage) (*Panels, error) {
	p := &Panels{rows: rows, cols: cols, width: PanelsOf(cols, width), storage: s}
	if err := p.checkShape(); err != nil {
		return nil, err
	}
	for k := range p.Count() {
		if s == F32 {
			p.floats = append(p.floats, memory.Make[float32](rows*p.columns(k)))
		} else {
			p.halves = append(p.halves, memory.Make[uint16](rows*p.columns(k)))
		}
	}
	return p, nil
}

// PanelsOf returns the panel width of a matrix of cols columns if width is requested: at most cols, and cols for 0.
func PanelsOf(cols, width int) int {
	if width <= 0 || width > cols {
		return cols
	}
	return width
}

// FloatPanels returns the matrix of the given panels. It keeps the slices. An error names the first panel of a wrong
// length.
func FloatPanels(rows, cols, width int, panels [][]float32) (*Panels, error) {
	p := &Panels{rows: rows, cols: cols, width: width, storage: F32, floats: panels}
	return p, p.checkLengths(len(panels), func(k int) int { return len(panels[k]) })
}

// HalfPanels is FloatPanels for F16 and BF16.
func HalfPanels(rows, cols, width int, s Storage, panels [][]uint16) (*Panels, error) {
	if s == F32 {
		return nil, fmt.Errorf("mat: panels of 16 bits with the storage %s", s)
	}
	p := &Panels{rows: rows, cols: cols, width: width, storage: s, halves: panels}
	return p, p.checkLengths(len(panels), func(k int) int { return len(panels[k]) })
}

func (p *Panels) checkShape() error {
	if err := p.storage.check(); err != nil {
		return err
	}
	if p.rows < 0 || p.cols < 1 || p.width < 1 || p.width > p.cols {
		return fmt.Errorf("mat: %d×%d in panels of %d columns, must be at least 1 column and panels of 1 to %d",
			p.rows, p.cols, p.width, max(1, p.cols))
	}
	return nil
}

func (p *Panels) checkLengths(count int, length func(k int) int) error {
	if err := p.checkShape(); err != nil {
		return err
	}
	if count != p.Count() {
		return fmt.Errorf("mat: %d panels for %d columns, expected %d of %d columns", count, p.cols, p.Count(), p.width)
	}
	for k := range count {
		if length(k) != p.rows*p.columns(k) {
			return fmt.Errorf("mat: panel %d holds %d numbers, expected %d×%d", k, length(k), p.rows, p.columns(k))
		}
	}
	return nil
}

// Dims returns the numbers of rows and columns.
func (p *Panels) Dims() (rows, cols int) { return p.rows, p.cols }

// PanelWidth returns the number of columns of a panel.
func (p *Panels) PanelWidth() int { return p.width }

// Storage returns the number format of the elements.
func (p *Panels) Storage() Storage { return p.storage }

// Count returns the number of panels.
func (p *Panels) Count() int { return (p.cols + p.width - 1) / p.width }

// Floats returns panel k, the matrix's own memory. It is nil unless the storage is F32.
func (p *Panels) Floats(k int) []float32 {
	if p.floats == nil {
		return nil
	}
	return p.floats[k]
}

// Halves returns panel k, the matrix's own memory. It is nil if the storage is F32.
func (p *Panels) Halves(k int) []uint16 {
	if p.halves == nil {
		return nil
	}
	return p.halves[k]
}

// columns returns the number of columns of panel k.
func (p *Panels) columns(k int) int { return min(p.width, p.cols-k*p.width) }

// ReadBlock implements Matrix. Consecutive rows are read together. An error names the first value of the block, in its
// order, that is not finite. Panels therefore need not be read in advance to validate them.
func (p *Panels) ReadBlock(dst *Dense, rows []int32, lo, hi int) error {
	p.read(dst, rows, lo, hi)
	if kernel.Finite(dst.Data) {
		return nil
	}
	at := firstNotFinite(context.Background(), dst.Data)
	return &CannotKeep{Row: int(rows[at/(hi-lo)]), Col: lo + at%(hi-lo), Value: dst.Data[at], Storage: p.storage}
}

// unchecked is a matrix whose values may be infinite or NaN.
type unchecked struct{ *Panels }

// ReadBlock implements Matrix.
func (u unchecked) ReadBlock(dst *Dense, rows []int32, lo, hi int) error {
	u.read(dst, rows, lo, hi)
	return nil
}

func (p *Panels) read(dst *Dense, rows []int32, lo, hi int) {
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
			p.copy(dst.Data[r*dst.Cols+from-lo:][:length], k, at)
			r += run
		}
	}
}

// copy sets dst to the values of panel k from index at on.
func (p *Panels) copy(dst []float32, k, at int) {
	if p.storage == F32 {
		copy(dst, p.floats[k][at:])
	} else {
		p.storage.widen(dst, p.halves[k][at:][:len(dst)])
	}
}

// SetRows sets the rows from first on to the rows of block, rounded to the storage. An error is a *CannotKeep.
// Different rows may be set at the same time.
func (p *Panels) SetRows(first int, block *Dense) error {
	if block.Cols != p.cols || first < 0 || first+block.Rows > p.rows {
		panic(fmt.Sprintf("mat: %d×%d set from row %d on in %d×%d", block.Rows, block.Cols, first, p.rows, p.cols))
	}
	for r := range block.Rows {
		row := block.Row(r)
		for k := range p.Count() {
			columns := p.columns(k)
			part, at := row[k*p.width:][:columns], (first+r)*columns
			wrong := -1
			if p.storage == F32 {
				if !kernel.Finite(part) {
					wrong = firstNotFinite(context.Background(), part)
				}
				copy(p.floats[k][at:], part)
			} else {
				wrong = p.storage.Round(p.halves[k][at:][:columns], part)
			}
			if wrong >= 0 {
				return &CannotKeep{Row: first + r, Col: k*p.width + wrong, Value: part[wrong], Storage: p.storage}
			}
		}
	}
	return nil
}

// InPanels returns a copy of x in panels of width columns. An error is a *CannotKeep, or comes from reading x.
func InPanels(x Matrix, width int, s Storage) (*Panels, error) {
	rows, cols := x.Dims()
	p, err := NewPanels(rows, cols, width, s)
	if err != nil {
		return nil, err
	}
	first := 0
	for block, err := range Blocks(x) {
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

package kernel

import (
	"context"
	"fmt"
)

// Block is a matrix, or a part of one, in row-major order: row i begins at Data[i·Stride]. Its numbers of rows and
// columns are arguments of the loops.
type Block struct {
	Data   []float32
	Stride int // the leading dimension: at least the number of columns
	// Transposed says that Data holds the transpose, so that column j begins at Data[j·Stride]. Only the factors of Gemm
	// may be transposed.
	Transposed bool
}

// Rows returns the block whose row i begins at data[i·stride].
func Rows(data []float32, stride int) Block { return Block{Data: data, Stride: stride} }

// T returns the transpose of b, for b that is not transposed.
func (b Block) T() Block { return Block{Data: b.Data, Stride: b.Stride, Transposed: true} }

// at returns the block without its first i rows and j columns, for a block that is not transposed.
func (b Block) at(i, j int) Block { return Rows(b.Data[i*b.Stride+j:], b.Stride) }

// strides returns the distances between rows and between columns.
func (b Block) strides() (row, column int) {
	if b.Transposed {
		return 1, b.Stride
	}
	return b.Stride, 1
}

// check panics if the block does not hold rows×columns values.
func (b Block) check(name string, rows, columns int) {
	if b.Transposed {
		rows, columns = columns, rows
	}
	short := rows > 0 && columns > 0 && len(b.Data) < (rows-1)*b.Stride+columns
	if rows < 0 || columns < 0 || b.Stride < columns || short {
		panic(fmt.Sprintf("kernel: %s is %d×%d with leading dimension %d, but %d values",
			name, rows, columns, b.Stride, len(b.Data)))
	}
}

// Gemm sets C = A·B, or C += A·B if accumulate is true. C is m×n, A m×k and B k×n.
//
// The sum over k of each element runs in ascending order, in blocks whose bounds depend only on k, so splitting m or n
// over several calls gives the same bits. Each call packs B again, so m should be at least a few hundred. C must not
// overlap A or B.
func Gemm(c, a, b Block, m, n, k int, accumulate bool) {
	GemmContext(context.Background(), c, a, b, m, n, k, accumulate)
}

// GemmContext is like Gemm, but returns soon after ctx is done. The contents of C are then undefined.
func GemmContext(ctx context.Context, c, a, b Block, m, n, k int, accumulate bool) {
	c.check("C", m, n)
	a.check("A", m, k)
	b.check("B", k, n)
	best.gemm(product{ctx: ctx, c: c, a: a, b: b, m: m, n: n, k: k, accumulate: accumulate, above: m})
}

// GramRows sets rows lo to hi−1 of the upper triangle of G = XᵀX, or adds to them if accumulate is true. X is n×d and G
// is d×d. It may also change values below the diagonal in these rows. The sum over n runs as in Gemm. Splitting the
// rows over several calls gives the same bits in the upper triangle.
func GramRows(g, x Block, n, d, lo, hi int, accumulate bool) {
	g.check("G", d, d)
	x.check("X", n, d)
	if lo < 0 || lo > hi || hi > d {
		panic(fmt.Sprintf("kernel: rows %d to %d of %d", lo, hi, d))
	}
	best.gramRows(g, x, n, d, lo, hi, accumulate)
}

func (im *implementation) gramRows(g, x Block, n, d, lo, hi int, accumulate bool) {
	if lo == hi {
		return
	}
	var rest []float32 // X from column lo; empty if X has no rows
	if n > 0 {
		rest = x.Data[lo:]
	}
	p := product{a: Rows(rest, x.Stride).T(), k: n, accumulate: accumulate}
	// The incomplete panel comes first, where few rows are above the diagonal.
	p.above = (d - lo) % im.columns
	p.c, p.b, p.m, p.n = g.at(lo, lo), Rows(rest, x.Stride), min(hi-lo, p.above), p.above
	im.gemm(p)
	p.c = g.at(lo, min(lo+p.above, d-1))
	p.b.Data = rest[min(p.above, len(rest)):]
	p.m, p.n = hi-lo, d-lo-p.above
	im.gemm(p)
}

// product holds the arguments of a call of Gemm. Tiles whose elements (i, j) all have i > j+above are left out. They
// are below the diagonal of a symmetric matrix: column j of C is its column above+j.
type product struct {
	ctx        context.Context // nil means no cancellation
	c, a, b    Block
	m, n, k    int
	accumulate bool
	above      int
}

// gemm implements Gemm, after the shapes are checked.
//
// The loops follow Goto: columns of B by width, k by depth, rows of A by height. A panel of packed B stays in the L1
// cache, while the strips of a block of A are read from the L2 cache.
func (im *implementation) gemm(g product) {
	c, ldc, a, b := g.c.Data, g.c.Stride, g.a, g.b
	m, n, k, above := g.m, g.n, g.k, g.above
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		if !g.accumulate {
			for i := range m {
				clear(c[i*ldc : i*ldc+n])
			}
		}
		return
	}
	blocks := (k + im.depth - 1) / im.depth
	depth := (k + blocks - 1) / blocks
	s := borrow()
	packedB := s.take(depth * roundUp(min(n, im.width), im.columns))
	pack := im.packA || im.packStrided && a.Transposed && a.Stride%512 == 0 && n > 2*im.columns
	var packedA []float32
	if pack {
		packedA = s.take(depth * roundUp(min(m, im.height), im.rows))
	}
	rs, cs := a.strides()
	for j0 := 0; j0 < n; j0 += im.width {
		j1 := min(j0+im.width, n)
		for p0 := 0; p0 < k; p0 += depth {
			p1 := min(p0+depth, k)
			im.packColumns(packedB, b, p0, p1, j0, j1)
			add := g.accumulate || p0 > 0
			for i0 := 0; i0 < m; i0 += im.height {
				i1 := min(i0+im.height, m)
				if i0 >= j1+above || g.ended() {
					break
				}
				if pack {
					im.packRows(packedA, a, i0, i1, p0, p1)
				}
				for j := j0; j < j1; j += im.columns {
					panel := packedB[(j-j0)*(p1-p0):]
					ahead := 0
					if j == j0 {
						ahead = im.aheadBytes(a, p1-p0)
					}
					for i := i0; i < i1; i += im.rows {
						if i >= j+im.columns+above {
							break
						}
						rows, columns := min(im.rows, i1-i), min(im.columns, j1-j)
						if pack {
							strip := packedA[(i-i0)*(p1-p0):]
							im.tile(c[i*ldc+j:], ldc, strip, 1, im.rows, panel, rows, columns, p1-p0, 0, add)
						} else {
							strip := a.Data[i*rs+p0*cs:]
							im.tile(c[i*ldc+j:], ldc, strip, rs, cs, panel, rows, columns, p1-p0, ahead, add)
						}
					}
				}
			}
		}
	}
	s.giveBack()
}

// ended reports whether the context of the product is done.
func (g *product) ended() bool { return g.ctx != nil && g.ctx.Err() != nil }

// aheadBytes returns how many bytes of the next strip of a to prefetch at each of k steps. If columns of a are stored
// as rows, this is one column. If the rows of a are close together, it is 1/k of the strip.
func (im *implementation) aheadBytes(a Block, k int) int {
	switch {
	case a.Transposed:
		return 4 * a.Stride
	case a.Stride <= k+k/4:
		return 4 * im.rows * a.Stride / k
	}
	return 0
}

// packColumns copies rows p0 to p1−1, columns j0 to j1−1 of b into consecutive panels of im.columns columns, each panel
// row by row. Missing columns of the last panel are zero.
func (im *implementation) packColumns(dst []float32, b Block, p0, p1, j0, j1 int) {
	for j := j0; j < j1; j += im.columns {
		columns := min(im.columns, j1-j)
		panel := dst[(j-j0)*(p1-p0):][:im.columns*(p1-p0)]
		if columns < im.columns {
			clear(panel)
		}
		if b.Transposed {
			im.transpose(panel, im.columns, b.Data[j*b.Stride+p0:], b.Stride, columns, p1-p0)
			continue
		}
		if columns == im.columns && p0 < p1 {
			im.copyPanel(panel, b.Data[p0*b.Stride+j:], b.Stride, p1-p0, columns)
			continue
		}
		for p := p0; p < p1; p++ {
			copy(panel[(p-p0)*im.columns:][:columns], b.Data[p*b.Stride+j:])
		}
	}
}

// packRows copies rows i0 to i1−1, columns p0 to p1−1 of a into consecutive strips of im.rows rows, each strip column
// by column. Missing rows of the last strip are zero.
func (im *implementation) packRows(dst []float32, a Block, i0, i1, p0, p1 int) {
	rs, cs := a.strides()
	for i := i0; i < i1; i += im.rows {
		rows := min(im.rows, i1-i)
		strip := dst[(i-i0)*(p1-p0):][:im.rows*(p1-p0)]
		if rows < im.rows {
			clear(strip)
		}
		if a.Transposed {
			for p := p0; p < p1; p++ {
				copy(strip[(p-p0)*im.rows:][:rows], a.Data[p*cs+i:])
			}
			continue
		}
		for r := range rows {
			at := (i+r)*rs + p0*cs
			for p := r; p < len(strip); p += im.rows {
				strip[p] = a.Data[at]
				at += cs
			}
		}
	}
}

package kernel

import "fmt"

// Gemm sets C = A·B, or C += A·B if accumulate.
//
// C is m×n with leading dimension ldc. A is m×k (lda), stored k×m if transA; B is k×n (ldb), stored n×k if transB.
// The sum over k of each element runs in ascending order, in blocks whose bounds depend on k alone, so splitting m or n over
// several calls changes no bit. Each call packs B anew, so when splitting by rows give it some hundreds of them.
// C must not overlap A or B.
func Gemm(c []float32, ldc int, a []float32, lda int, transA bool, b []float32, ldb int, transB bool, m, n, k int, accumulate bool) {
	checkMatrix("C", len(c), ldc, m, n)
	if transA {
		checkMatrix("A", len(a), lda, k, m)
	} else {
		checkMatrix("A", len(a), lda, m, k)
	}
	if transB {
		checkMatrix("B", len(b), ldb, n, k)
	} else {
		checkMatrix("B", len(b), ldb, k, n)
	}
	best.gemm(c, ldc, operand{a, lda, transA}, operand{b, ldb, transB}, m, n, k, accumulate, m)
}

// Gram sets G = XᵀX, or G += XᵀX if accumulate, where X is n×d (ldx) and G d×d (ldg) and symmetric.
// One triangle is computed and then mirrored; of a G that is accumulated upon, only the upper triangle is read.
// The sum over n runs as in Gemm.
func Gram(g []float32, ldg int, x []float32, ldx, n, d int, accumulate bool) {
	GramRows(g, ldg, x, ldx, n, d, 0, d, accumulate)
	Mirror(g, ldg, d)
}

// GramRows computes the upper triangle's part of rows lo to hi of Gram's result, so that callers can split them; Mirror
// finishes the matrix. Below the diagonal it may leave some of these rows' elements changed.
// Splitting the rows over calls changes no bit of the upper triangle.
func GramRows(g []float32, ldg int, x []float32, ldx, n, d, lo, hi int, accumulate bool) {
	checkMatrix("G", len(g), ldg, d, d)
	checkMatrix("X", len(x), ldx, n, d)
	if lo < 0 || lo > hi || hi > d {
		panic(fmt.Sprintf("kernel: rows %d to %d of %d", lo, hi, d))
	}
	best.gramRows(g, ldg, x, ldx, n, d, lo, hi, accumulate)
}

func (im *implementation) gramRows(g []float32, ldg int, x []float32, ldx, n, d, lo, hi int, accumulate bool) {
	if lo == hi {
		return
	}
	var rest []float32 // X from column lo on; a matrix without rows has no elements to skip
	if n > 0 {
		rest = x[lo:]
	}
	rows := operand{rest, ldx, true}
	// The panel that is not whole goes first, where few rows are above the diagonal.
	narrow := (d - lo) % im.columns
	im.gemm(g[lo*ldg+lo:], ldg, rows, operand{rest, ldx, false}, min(hi-lo, narrow), narrow, n, accumulate, narrow)
	im.gemm(g[lo*ldg+min(lo+narrow, d-1):], ldg, rows, operand{rest[min(narrow, len(rest)):], ldx, false}, hi-lo, d-lo-narrow, n, accumulate, narrow)
}

// Mirror copies the upper triangle of the d×d matrix g (ldg) to the lower.
func Mirror(g []float32, ldg, d int) {
	checkMatrix("G", len(g), ldg, d, d)
	const block = 32
	for i0 := 0; i0 < d; i0 += block {
		for j0 := 0; j0 <= i0; j0 += block {
			for i := i0; i < min(i0+block, d); i++ {
				row := g[i*ldg : i*ldg+i]
				for j := j0; j < min(j0+block, i); j++ {
					row[j] = g[j*ldg+i]
				}
			}
		}
	}
}

func checkMatrix(name string, length, ld, rows, columns int) {
	if rows < 0 || columns < 0 || ld < columns || (rows > 0 && columns > 0 && length < (rows-1)*ld+columns) {
		panic(fmt.Sprintf("kernel: %s is %d×%d with leading dimension %d, but %d values", name, rows, columns, ld, length))
	}
}

// An operand is a factor of a product: rows × columns as the product sees it, stored transposed or not.
type operand struct {
	data       []float32
	ld         int
	transposed bool
}

// strides returns the distances between rows and between columns.
func (o operand) strides() (row, column int) {
	if o.transposed {
		return 1, o.ld
	}
	return o.ld, 1
}

// gemm is Gemm after the check of shapes. Tiles of elements (i,j) with i > j+above alone are left out: of a product whose columns begin that far above the diagonal, what lies
// below it.
//
// The loops are those of Goto: columns of B by width, k by depth, rows of A by height; a panel of packed B stays in the first
// cache while the strips of a block of A, held in the second, pass by.
func (im *implementation) gemm(c []float32, ldc int, a, b operand, m, n, k int, accumulate bool, above int) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		if !accumulate {
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
	pack := im.packA || im.packStrided && a.transposed && a.ld%512 == 0 && n > 2*im.columns
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
			add := accumulate || p0 > 0
			for i0 := 0; i0 < m; i0 += im.height {
				i1 := min(i0+im.height, m)
				if i0 >= j1+above {
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
							im.tile(c[i*ldc+j:], ldc, packedA[(i-i0)*(p1-p0):], 1, im.rows, panel, rows, columns, p1-p0, 0, add)
						} else {
							im.tile(c[i*ldc+j:], ldc, a.data[i*rs+p0*cs:], rs, cs, panel, rows, columns, p1-p0, ahead, add)
						}
					}
				}
			}
		}
	}
	s.giveBack()
}

// aheadBytes returns how many bytes of the next strip of a to ask for at each of k steps: its column if those are the stored rows; else,
// if its rows lie close together, what makes up the whole of it in k steps.
func (im *implementation) aheadBytes(a operand, k int) int {
	switch {
	case a.transposed:
		return 4 * a.ld
	case a.ld <= k+k/4:
		return 4 * im.rows * a.ld / k
	}
	return 0
}

// packColumns copies rows p0 to p1, columns j0 to j1 of b into panels of im.columns columns, one after the other, in each panel row
// after row. Missing columns of the last panel are zero.
func (im *implementation) packColumns(dst []float32, b operand, p0, p1, j0, j1 int) {
	for j := j0; j < j1; j += im.columns {
		columns := min(im.columns, j1-j)
		panel := dst[(j-j0)*(p1-p0):][:im.columns*(p1-p0)]
		if columns < im.columns {
			clear(panel)
		}
		if b.transposed {
			im.transpose(panel, im.columns, b.data[j*b.ld+p0:], b.ld, columns, p1-p0)
			continue
		}
		if columns == im.columns && p0 < p1 {
			im.copyPanel(panel, b.data[p0*b.ld+j:], b.ld, p1-p0, columns)
			continue
		}
		for p := p0; p < p1; p++ {
			copy(panel[(p-p0)*im.columns:][:columns], b.data[p*b.ld+j:])
		}
	}
}

// packRows copies rows i0 to i1, columns p0 to p1 of a into strips of im.rows rows, in each strip column after column.
// Missing rows of the last strip are zero.
func (im *implementation) packRows(dst []float32, a operand, i0, i1, p0, p1 int) {
	rs, cs := a.strides()
	for i := i0; i < i1; i += im.rows {
		rows := min(im.rows, i1-i)
		strip := dst[(i-i0)*(p1-p0):][:im.rows*(p1-p0)]
		if rows < im.rows {
			clear(strip)
		}
		if a.transposed {
			for p := p0; p < p1; p++ {
				copy(strip[(p-p0)*im.rows:][:rows], a.data[p*cs+i:])
			}
			continue
		}
		for r := range rows {
			at := (i+r)*rs + p0*cs
			for p := r; p < len(strip); p += im.rows {
				strip[p] = a.data[at]
				at += cs
			}
		}
	}
}

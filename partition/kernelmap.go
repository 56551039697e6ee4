package partition

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// kernelMap represents S = D^-½KD^-½ of Spectral. With w_i = D_ii^-¼·[√c, u_i],
//
//	K_ij = ([√c, u_i]·[√c, u_j])²  and  S_ij = (w_i·w_j)² = z_i·z_j,
//
// where z_i lists √2·w_ia·w_ib for a < b and w_ia² for a = b. This is the feature map Z of the kernel with its rows
// scaled by D^-½: a constant column from c, the linear columns √(2c)·u, and quadratic columns. A product S·V = Z(ZᵀV)
// computes strips of columns of Z for blocks of rows on demand, small enough for the cache, and multiplies with them.
type kernelMap struct {
	w       *mat.Dense // n×(r+1)
	leader  []float64  // D^½1 / ‖D^½1‖, the eigenvector of S with eigenvalue 1
	strips  []int      // strip s of Z has the columns with first index a in [strips[s], strips[s+1])
	columns []int      // strip s has columns columns[s] to columns[s+1]−1 of Z
}

const (
	stripColumns = 128 // the minimum width of a strip of Z, for an efficient matrix product
	mapRows      = 256 // rows of Z computed at a time; a strip of them has about 200 kB
)

// newKernelMap returns the map for the rows of u, n×r. Each degree is D_ii = ũ_iᵀ(Σ_j ũ_jũ_jᵀ)ũ_i with ũ = [√c, u]; the
// matrix in brackets is (r+1)×(r+1).
func newKernelMap(ctx context.Context, u *mat.Dense) (*kernelMap, error) {
	n, r := u.Dims()
	m := &kernelMap{w: mat.NewDense(n, r+1), leader: make([]float64, n), strips: []int{0}, columns: []int{0}}
	c := math.Sqrt(0.5)
	for i := range n {
		m.w.Row(i)[0] = float32(math.Sqrt(c))
		copy(m.w.Row(i)[1:], u.Row(i))
	}
	gram, err := factor.Gram(ctx, m.w)
	if err != nil {
		return nil, err
	}
	var image mat.Dense
	mat.Mul(&image, m.w, factor.Rounded(gram.Data, gram.N))
	total := 0.0
	for i := range n {
		degree := 0.0
		for j, v := range m.w.Row(i) {
			degree += float64(v) * float64(image.Row(i)[j])
		}
		total += degree
		m.leader[i] = math.Sqrt(degree)
		kernel.Scale(m.w.Row(i), float32(1/math.Sqrt(m.leader[i])), m.w.Row(i))
	}
	for i := range m.leader {
		m.leader[i] /= math.Sqrt(total)
	}
	width := 0
	for a := range r + 1 {
		width += r + 1 - a
		if width-m.columns[len(m.columns)-1] >= stripColumns || a == r {
			m.strips, m.columns = append(m.strips, a+1), append(m.columns, width)
		}
	}
	return m, nil
}

// width returns the number of columns of Z.
func (m *kernelMap) width() int { return m.columns[len(m.columns)-1] }

// fill writes rows lo to hi−1 of strip s of Z to z, one after the other, and returns their length.
func (m *kernelMap) fill(z []float32, s, lo, hi int) (columns int) {
	columns = m.columns[s+1] - m.columns[s]
	at := 0
	for i := lo; i < hi; i++ {
		w := m.w.Row(i)
		for a := m.strips[s]; a < m.strips[s+1]; a++ {
			to := z[at : at+len(w)-a]
			kernel.Scale(to, math.Sqrt2*w[a], w[a:])
			to[0] = w[a] * w[a]
			at += len(to)
		}
	}
	return columns
}

// transposed sets t to ZᵀV, for v n×b.
func (m *kernelMap) transposed(ctx context.Context, t, v *mat.Dense) error {
	n, b := v.Dims()
	t.Reshape(m.width(), b)
	return parallel.ForContext(ctx, len(m.columns)-1, 1, func(s, _ int) {
		first := m.columns[s]
		z := make([]float32, mapRows*(m.columns[s+1]-first))
		for lo := 0; lo < n; lo += mapRows {
			hi := min(lo+mapRows, n)
			columns := m.fill(z, s, lo, hi)
			kernel.Gemm(kernel.Rows(t.Data[first*b:], b), kernel.Rows(z, columns).T(), kernel.Rows(v.Data[lo*b:], b), columns, b,
				hi-lo, lo > 0)
		}
	})
}

// forward sets dst to Z·t, n×b for t of b columns.
func (m *kernelMap) forward(ctx context.Context, dst, t *mat.Dense) error {
	n, b := m.w.Rows, t.Cols
	dst.Reshape(n, b)
	return parallel.ForContext(ctx, n, mapRows, func(lo, hi int) {
		var z []float32
		for s, first := range m.columns[:len(m.columns)-1] {
			if need := (hi - lo) * (m.columns[s+1] - first); len(z) < need {
				z = make([]float32, need)
			}
			columns := m.fill(z, s, lo, hi)
			kernel.Gemm(kernel.Rows(dst.Data[lo*b:], b), kernel.Rows(z, columns), kernel.Rows(t.Data[first*b:], b), hi-lo, b,
				columns, s > 0)
		}
	})
}

// deflate removes the component along the leading eigenvector from each column of v. It must run after every product: S
// preserves that component and shrinks all others by a factor of about n.
func (m *kernelMap) deflate(v *mat.Dense) {
	along := make([]float64, v.Cols)
	for i, q := range m.leader {
		for j, e := range v.Row(i) {
			along[j] += q * float64(e)
		}
	}
	for i, q := range m.leader {
		row := v.Row(i)
		for j, a := range along {
			row[j] = float32(float64(row[j]) - q*a)
		}
	}
}

// leading returns eigenvectors 2 to k+1 of S = ZZᵀ as columns, up to rotations among them, and the number of products
// with S. There are fewer columns if the rank of S is lower.
//
// V starts as the linear columns of Z, which outweigh the quadratic ones, made orthogonal to the first eigenvector q:
//
//	V₀ = (I − qqᵀ)·[√2·w_i0·w_ij],  i = 1 … n, j = 1 … k.
//
// In most large classes, the quadratic columns hardly rotate this space (see sine), and V₀ is the result. Otherwise
// subspace iteration with Rayleigh-Ritz steps refines it (see refine). If u has fewer than k columns, random vectors
// are added to V₀.
func (m *kernelMap) leading(
	ctx context.Context, u *mat.Dense, k int, random *rand.Rand,
) (v *mat.Dense, products int, err error) {
	size := u.Cols
	if size < k {
		size = min(k+factor.Oversampling, m.w.Rows-1, m.width()-1)
	}
	v = mat.NewDense(m.w.Rows, max(size, u.Cols))
	for i := range v.Rows {
		row, w := v.Row(i), m.w.Row(i)
		kernel.Scale(row[:u.Cols], math.Sqrt2*w[0], w[1:])
		for j := u.Cols; j < len(row); j++ {
			row[j] = float32(random.NormFloat64())
		}
	}
	m.deflate(v)
	known := false
	if u.Cols == k {
		sine, err := m.sine(ctx, v)
		if err != nil {
			return nil, 0, err
		}
		known = sine < settledBound
	}
	if v, err = factor.Orthonormal(ctx, v); err != nil || known {
		return v, 0, err
	}
	return m.refine(ctx, v, k)
}

// refine improves orthonormal columns V towards the k leading eigenvectors of S orthogonal to q. Each step is
//
//	VᵀSV = (ZᵀV)ᵀ(ZᵀV) = QΘQᵀ            Rayleigh-Ritz: Θ are the Ritz values, VQ the Ritz vectors
//	V ← orth((I − qqᵀ)·Z(ZᵀV·Q))         one product with S, without forming S
//
// until the residual of the first k Ritz vectors is below settled, or after mostProducts products.
func (m *kernelMap) refine(ctx context.Context, v *mat.Dense, k int) (_ *mat.Dense, products int, err error) {
	var t, turned, image, before mat.Dense
	for v.Cols > 0 {
		if err := m.transposed(ctx, &t, v); err != nil {
			return nil, products, err
		}
		gram, err := factor.Gram(ctx, &t) // VᵀSV = (ZᵀV)ᵀ(ZᵀV)
		if err != nil {
			return nil, products, err
		}
		ritz, turn, err := gram.EigenColumns(ctx)
		if err != nil {
			return nil, products, err
		}
		mat.Mul(&turned, &t, turn)
		if err := m.forward(ctx, &image, &turned); err != nil {
			return nil, products, err
		}
		products++
		m.deflate(&image)
		mat.Mul(&before, v, turn)
		leading := min(k, v.Cols)
		if residual(&image, &before, ritz[:leading]) < settled || products == mostProducts {
			v, err = factor.Orthonormal(ctx, image.Columns(0, leading))
			return v, products, err
		}
		if v, err = factor.Orthonormal(ctx, &image); err != nil {
			return nil, products, err
		}
	}
	return v, products, nil
}

// sine bounds the mean squared sine of the angles between two spaces. One is spanned by v, the linear columns of Z made
// orthogonal to the first eigenvector q. The other is spanned by the next eigenvectors of S. The bound is at most 1.
//
// S is the sum of VVᵀ, the part along q, E_ij = (w_i·w_j)² for w without its first column, and the part of D^-½1 that
// is orthogonal to q. The sines are at most ‖E‖/(λ−‖E‖) in the Frobenius norm (Davis and Kahan 1970), where λ is the
// smallest eigenvalue of VᵀV. Since (w_i·w_j)² ≤ ‖w_i‖²‖w_j‖²,
//
//	‖E‖² = Σ_ij (w_i·w_j)⁴ ≤ Σ_ij ‖w_i‖²‖w_j‖²(w_i·w_j)² = ‖Σ_i ‖w_i‖²·w_iw_iᵀ‖².
func (m *kernelMap) sine(ctx context.Context, v *mat.Dense) (float64, error) {
	least := math.Inf(1)
	linear, err := factor.Gram(ctx, v)
	if err != nil {
		return 0, err
	}
	// Gershgorin's bound for λ is tight here: u is orthonormal and the degrees are nearly equal, so VᵀV is nearly
	// diagonal.
	for i := range linear.N {
		row, off := linear.Row(i), 0.0
		for j, e := range row {
			if j != i {
				off += math.Abs(e)
			}
		}
		least = min(least, row[i]-off)
	}
	weighted := mat.NewDense(v.Rows, v.Cols)
	constant, along := 0.0, 0.0 // for column w_0² of Z: its squared norm, and its product with the leading eigenvector
	for i, q := range m.leader {
		w := m.w.Row(i)
		kernel.Scale(weighted.Row(i), float32(math.Sqrt(float64(kernel.Dot(w[1:], w[1:])))), w[1:])
		c := float64(w[0]) * float64(w[0])
		constant += c * c
		along += q * c
	}
	quadratic, err := factor.Gram(ctx, weighted)
	if err != nil {
		return 0, err
	}
	squares := 0.0
	for _, e := range quadratic.Data {
		squares += e * e
	}
	rest := math.Sqrt(squares) + max(0, constant-along*along)
	if rest >= least {
		return 1, nil
	}
	sine := rest / (least - rest)
	return min(1, sine*sine/float64(v.Cols)), nil
}

// residual returns the mean of ‖S·v − θ·v‖²/‖S·v‖² over the leading columns v of before, with Ritz values θ. image has
// the columns S·v. The result is the mean squared sine of the angle by which S rotates the columns.
func residual(image, before *mat.Dense, ritz []float64) (mean float64) {
	off, norm := make([]float64, len(ritz)), make([]float64, len(ritz))
	for i := range image.Rows {
		to, from := image.Row(i), before.Row(i)
		for j, theta := range ritz {
			e := float64(to[j]) - theta*float64(from[j])
			off[j] += e * e
			norm[j] += float64(to[j]) * float64(to[j])
		}
	}
	for j := range off {
		if norm[j] > 0 {
			mean += off[j] / norm[j] / float64(len(off))
		}
	}
	return mean
}

// leadingDense is leading with the explicit n×n matrix S. It is exact, and meant for small n.
func (m *kernelMap) leadingDense(ctx context.Context, k int) (*mat.Dense, error) {
	s, err := factor.GramRows(ctx, m.w)
	if err != nil {
		return nil, err
	}
	for i, v := range s.Data {
		s.Data[i] = v * v
	}
	values, vectors, err := s.EigenColumns(ctx)
	if err != nil {
		return nil, err
	}
	return vectors.Columns(1, max(1, factor.Rank(values, k+1))), nil
}
